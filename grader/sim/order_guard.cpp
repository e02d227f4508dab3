#include "sim/order_guard.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "sim/program.h"
#include "sim/trap.h"

namespace lab32::sim {

OrderGuard::OrderGuard(Memory& memory, unsigned workers)
    : memory_(memory), saved_flag_(memory.allocations().size()) {
  word_bytes_ = memory.used() / 32 + 64;
  for (unsigned i = 0; i < workers; ++i) {
    auto w = std::make_unique<Worker>();
    w->guard_ = this;
    w->used_.resize(memory.allocations().size());
    w->operation_.resize(memory.allocations().size());
    void* p = mmap(nullptr, word_bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw Error("out of host memory for the record of written words");
    w->words_ = static_cast<uint8_t*>(p);
    workers_.push_back(std::move(w));
  }
}

OrderGuard::~OrderGuard() {
  for (auto& w : workers_) munmap(w->words_, word_bytes_);
}

void OrderGuard::Worker::note(Allocation& a, uint8_t use) {
  uint8_t& used = used_[a.index];
  used |= use;
  if ((used & (used - 1)) != 0) {
    used |= kClash;
    throw OrderMatters{};
  }
  if (use != kRead) guard_->snapshot(a);
}

void OrderGuard::Worker::write(Allocation& a, const uint64_t* address, uint32_t mask,
                               unsigned bytes) {
  if ((used_[a.index] & (kWrite | kClash)) != kWrite) note(a, kWrite);
  const unsigned words = bytes < 4 ? 1 : bytes / 4;
  // Contiguous word stores of a full warp, the common case, are eight bytes of the map.
  if (bytes == 4 && mask == kFullMask) {
    bool contiguous = true;
    for (int l = 1; l < kWarpSize; ++l) contiguous &= address[l] == address[0] + 4u * l;
    if (contiguous) {
      const uint64_t first = (address[0] - kGlobalBase) / 4;
      uint64_t span;
      std::memcpy(&span, words_ + first / 8, sizeof span);
      span |= uint64_t{0xffffffff} << (first % 8);
      std::memcpy(words_ + first / 8, &span, sizeof span);
      return;
    }
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint64_t offset = address[__builtin_ctz(rest)] - kGlobalBase;
    const uint64_t first = offset / 4;
    for (uint64_t w = first; w < first + words; ++w)
      words_[w / 8] = static_cast<uint8_t>(words_[w / 8] | 1u << (w % 8));
  }
}

void OrderGuard::Worker::update(Allocation& a, uint8_t operation) {
  if ((used_[a.index] & (kUpdate | kClash)) != kUpdate) note(a, kUpdate);
  if (operation_[a.index] == 0) operation_[a.index] = operation;
  if (operation_[a.index] != operation) throw OrderMatters{};
}

void OrderGuard::snapshot(Allocation& a) {
  if (saved_flag_[a.index].load(std::memory_order_acquire)) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (saved_flag_[a.index].load(std::memory_order_relaxed)) return;
  Saved saved;
  saved.pristine = a.pristine;
  saved.initialised = a.initialised;
  if (!a.pristine) {
    const std::byte* data = memory_.host(a.begin);
    saved.data.assign(data, data + (a.end - a.begin));
    const uint8_t* bits = memory_.written_bits() + (a.begin - kGlobalBase) / 8;
    saved.bits.assign(bits, bits + (a.end - a.begin + 7) / 8);
  }
  saved_.emplace(a.index, std::move(saved));
  saved_flag_[a.index].store(1, std::memory_order_release);
}

bool OrderGuard::settled() const {
  for (const auto& allocation : memory_.allocations()) {
    const uint32_t i = allocation->index;
    uint8_t used = 0, operation = 0;
    for (const auto& w : workers_) {
      used |= w->used_[i];
      if (w->operation_[i] != 0) {
        if (operation != 0 && operation != w->operation_[i]) return false;
        operation = w->operation_[i];
      }
    }
    if ((used & (used - 1)) != 0) return false;
  }
  for (const auto& allocation : memory_.allocations()) {
    if (!saved_flag_[allocation->index].load()) continue;
    const uint64_t first = (allocation->begin - kGlobalBase) / 32;
    const uint64_t last = (allocation->end - kGlobalBase + 31) / 32;
    for (uint64_t at = first; at < last; ++at) {
      uint8_t seen = 0;
      for (const auto& w : workers_) {
        if (seen & w->words_[at]) return false;
        seen |= w->words_[at];
      }
    }
  }
  return true;
}

void OrderGuard::accept() {
  for (auto& [index, saved] : saved_) memory_.allocations()[index]->pristine = false;
}

void OrderGuard::undo() {
  for (auto& [index, saved] : saved_) {
    Allocation& a = *memory_.allocations()[index];
    if (saved.pristine) {
      memory_.poison(a);
    } else {
      std::memcpy(memory_.host(a.begin), saved.data.data(), saved.data.size());
      std::memcpy(memory_.written_bits() + (a.begin - kGlobalBase) / 8, saved.bits.data(),
                  saved.bits.size());
    }
    a.pristine = saved.pristine;
    a.initialised = saved.initialised;
  }
}

}  // namespace lab32::sim
