#include "simulator/core/memory/order_guard.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "base/error.h"
#include "simulator/core/execute/instruction.h"
#include "simulator/core/execute/trap.h"
#include "simulator/core/memory/contiguous.h"

namespace lab32::sim {
namespace {

// What is kept for the rollback, piece by piece. A scattered store keeps one line.
constexpr uint64_t kLine = 256;
// A round ends when it has kept 1/64 of the device memory in use; it is given up at 1/32, which
// blocks that write very much can reach before they end. At least this much, since rounds cost.
constexpr uint64_t kShare = 64, kLeast = 4 << 20;

// Device memory that one page of a word map stands for.
constexpr uint64_t kMapPage = 4096, kPageSpan = kMapPage * 8 * 4;

enum : uint8_t { kUntouched, kBeingKept, kIsKept };

void* reserve_record(uint64_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw Error("out of host memory for the record of written words");
  return p;
}

}  // namespace

// A line as it was.
struct OrderGuard::Worker::Kept {
  uint64_t line;
  std::byte data[kLine];
  uint8_t written[kLine / 8];
};

namespace {
constexpr size_t kKeptAtOnce = 64;
}

OrderGuard::OrderGuard(Memory& memory, unsigned workers, Mode mode, bool find_races)
    : memory_(memory), mode_(mode), find_races_(find_races), by_word_(memory.allocations().size()) {
  const uint64_t used = (memory.used() + kPageSpan) / kPageSpan * kPageSpan;
  map_bytes_ = used / 32 + kMapPage;
  limit_ = std::max(kLeast, memory.used() / kShare);
  lines_ = used / kLine + 1;
  line_state_ = static_cast<std::atomic<uint8_t>*>(reserve_record(lines_));
  for (unsigned i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    Worker& w = *workers_.back();
    w.guard_ = this;
    w.written_ = static_cast<uint8_t*>(reserve_record(map_bytes_));
    w.read_ = static_cast<uint8_t*>(reserve_record(map_bytes_));
    w.touched_.resize(map_bytes_ / kMapPage);
    w.operation_.resize(memory.allocations().size());
    w.used_.resize(memory.allocations().size());
    if (find_races) w.touches_ = std::make_unique<TouchMap>(used);
  }
}

OrderGuard::~OrderGuard() {
  for (auto& w : workers_) {
    munmap(w->written_, map_bytes_);
    munmap(w->read_, map_bytes_);
  }
  munmap(static_cast<void*>(line_state_), lines_);
}

// ---------------------------------------------------------------------------------------------
// While blocks run

void OrderGuard::Worker::note(Allocation& a, uint8_t use) {
  uint8_t& used = used_[a.index];
  used |= use;
  if ((used & kByWord) != 0 || (used & (used - 1)) == 0) return;
  used |= kClash;
  guard_->want_words(a);
  throw OrderMatters{};
}

void OrderGuard::Worker::touch(Touch how, const By& by, const uint64_t* address, uint32_t mask,
                               unsigned bytes) {
  if (!touches_) return;
  if (touches_->touch(by.strong ? Touch::strong : how, by.who, address, mask, bytes) && at_once())
    throw OrderMatters{};
}

void OrderGuard::Worker::first_read(Allocation& a, const uint64_t* address, uint32_t mask,
                                    unsigned bytes, const By& by) {
  if ((used_[a.index] & kByWord) == 0) return note(a, kRead);
  if (at_once()) mark(read_, address, mask, bytes);
  touch(Touch::read, by, address, mask, bytes);
}

void OrderGuard::Worker::write(Allocation& a, const uint64_t* address, uint32_t mask,
                               unsigned bytes, const By& by) {
  if ((used_[a.index] & (kWrite | kClash)) != kWrite) note(a, kWrite);
  if (at_once()) mark(written_, address, mask, bytes);
  keep(a, address, mask);
  touch(Touch::write, by, address, mask, bytes);
}

void OrderGuard::Worker::update(Allocation& a, uint8_t operation, const uint64_t* address,
                                uint32_t mask, unsigned bytes, const By& by) {
  if (at_once() && operation == 0) throw OrderMatters{};
  if ((used_[a.index] & (kUpdate | kClash)) != kUpdate) note(a, kUpdate);
  if ((used_[a.index] & kByWord) != 0) {
    if (at_once()) mark(written_, address, mask, bytes);
    touch(Touch::write, by, address, mask, bytes);
  } else {
    // Updates that only concern their own block are told from others word by word.
    if (touches_ && !by.strong) {
      guard_->want_words(a);
      throw OrderMatters{};
    }
    if (operation_[a.index] == 0) operation_[a.index] = operation;
    if (at_once() && operation_[a.index] != operation) throw OrderMatters{};
  }
  keep(a, address, mask);
}

void OrderGuard::Worker::mark(uint8_t* words, const uint64_t* address, uint32_t mask,
                              unsigned bytes) {
  // They are eight bytes of the map.
  if (bytes == 4 && mask == kFullMask && contiguous(address, 4)) {
    const uint64_t first = (address[0] - kGlobalBase) / 4;
    uint64_t span;
    std::memcpy(&span, words + first / 8, sizeof span);
    span |= uint64_t{0xffffffff} << (first % 8);
    std::memcpy(words + first / 8, &span, sizeof span);
    touched_[first / 8 / kMapPage] = 1;
    touched_[(first + 31) / 8 / kMapPage] = 1;
    return;
  }
  const unsigned count = bytes < 4 ? 1 : bytes / 4;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint64_t first = (address[__builtin_ctz(rest)] - kGlobalBase) / 4;
    for (uint64_t w = first; w < first + count; ++w)
      words[w / 8] = static_cast<uint8_t>(words[w / 8] | 1u << (w % 8));
    touched_[first / 8 / kMapPage] = 1;
  }
}

void OrderGuard::Worker::keep(const Allocation& a, const uint64_t* address, uint32_t mask) {
  // Of an allocation that nobody has written, the poison is all that needs to come back.
  if (a.pristine) return;
  uint64_t before = ~uint64_t{0};
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint64_t line = (address[__builtin_ctz(rest)] - kGlobalBase) / kLine;
    if (line == before) continue;
    before = line;  // an access never crosses a multiple of its size, hence no line
    if (guard_->line_state_[line].load(std::memory_order_acquire) != kIsKept) keep_line(line);
  }
}

// Whoever comes first keeps it, and the others wait: nobody writes to a line before it is kept.
void OrderGuard::Worker::keep_line(uint64_t line) {
  if (kept_lines_ == kept_.size() * kKeptAtOnce) kept_.emplace_back(new Kept[kKeptAtOnce]);
  std::atomic<uint8_t>& state = guard_->line_state_[line];
  uint8_t expected = kUntouched;
  if (!state.compare_exchange_strong(expected, kBeingKept, std::memory_order_acquire)) {
    while (state.load(std::memory_order_acquire) != kIsKept) std::this_thread::yield();
    return;
  }
  if (kept_lines_ % kKeptAtOnce == 0)
    guard_->kept_bytes_.fetch_add(kKeptAtOnce * sizeof(Kept), std::memory_order_relaxed);
  Kept& kept = kept_[kept_lines_ / kKeptAtOnce][kept_lines_ % kKeptAtOnce];
  ++kept_lines_;
  const Memory& memory = guard_->memory_;
  kept.line = line;
  std::memcpy(kept.data, memory.host(kGlobalBase + line * kLine), kLine);
  std::memcpy(kept.written, memory.written_bits() + line * kLine / 8, kLine / 8);
  state.store(kIsKept, std::memory_order_release);
  if (!guard_->find_races_ &&
      guard_->kept_bytes_.load(std::memory_order_relaxed) > 2 * guard_->limit_)
    throw OrderMatters{};
}

void OrderGuard::want_words(const Allocation& a) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (by_word_[a.index] != 0) return;
  ++wanted_;
  if (mode_ == Mode::at_once) {
    by_word_[a.index] = 1;
  } else {
    std::fill(by_word_.begin(), by_word_.end(), 1);  // one more try is enough
  }
}

// ---------------------------------------------------------------------------------------------
// Between rounds

bool OrderGuard::validate() {
  bool each_alone = true;
  for (const auto& a : memory_.allocations()) {
    const uint32_t i = a->index;
    uint8_t used = 0, operation = 0;
    for (const auto& w : workers_) {
      used |= w->used_[i];
      if (w->operation_[i] == 0) continue;
      if (operation != 0 && operation != w->operation_[i]) return false;
      operation = w->operation_[i];
    }
    if ((used & Worker::kByWord) != 0 || (used & (used - 1)) == 0) continue;
    want_words(*a);
    each_alone = false;
  }
  return each_alone && words_disjoint();
}

// No word that one wrote was touched by another.
bool OrderGuard::words_disjoint() const {
  for (uint64_t page = 0; page < map_bytes_ / kMapPage; ++page) {
    const auto who = std::count_if(workers_.begin(), workers_.end(),
                                   [&](const auto& w) { return w->touched_[page] != 0; });
    if (who < 2) continue;
    uint64_t written[kMapPage / 8] = {}, read[kMapPage / 8] = {};
    for (const auto& w : workers_) {
      if (w->touched_[page] == 0) continue;
      uint64_t clash = 0;
      for (uint64_t i = 0; i < kMapPage / 8; ++i) {
        uint64_t own_written, own_read;
        std::memcpy(&own_written, w->written_ + page * kMapPage + i * 8, 8);
        std::memcpy(&own_read, w->read_ + page * kMapPage + i * 8, 8);
        clash |= (own_written & (written[i] | read[i])) | (own_read & written[i]);
        written[i] |= own_written;
        read[i] |= own_read;
      }
      if (clash != 0) return false;
    }
  }
  return true;
}

void OrderGuard::commit() {
  for (const auto& a : memory_.allocations())
    for (const auto& w : workers_)
      if ((w->used_[a->index] & (Worker::kWrite | Worker::kUpdate)) != 0) a->pristine = false;
  begin_round();
}

bool OrderGuard::rollback() {
  for (const auto& a : memory_.allocations()) {
    const bool changed = std::any_of(workers_.begin(), workers_.end(), [&](const auto& w) {
      return (w->used_[a->index] & (Worker::kWrite | Worker::kUpdate)) != 0;
    });
    if (changed && a->pristine) memory_.poison(*a);
  }
  for (const auto& w : workers_)
    for (size_t i = 0; i < w->kept_lines_; ++i) {
      const Worker::Kept& kept = w->kept_[i / kKeptAtOnce][i % kKeptAtOnce];
      std::memcpy(memory_.host(kGlobalBase + kept.line * kLine), kept.data, kLine);
      std::memcpy(memory_.written_bits() + kept.line * kLine / 8, kept.written, kLine / 8);
    }
  begin_round();
  return std::exchange(wanted_, 0) != 0;
}

std::unique_ptr<TouchMap> OrderGuard::take_suspects() {
  return has_suspects() ? std::move(workers_.front()->touches_) : nullptr;
}

void OrderGuard::begin_round() {
  by_word_count_ = static_cast<size_t>(std::count(by_word_.begin(), by_word_.end(), 1));
  for (const auto& w : workers_) {
    for (size_t i = 0; i < w->kept_lines_; ++i)
      line_state_[w->kept_[i / kKeptAtOnce][i % kKeptAtOnce].line] = kUntouched;
    w->kept_lines_ = 0;
    if (w->touches_) w->touches_->clear();
    // The pages go back to the system, and come again as zeros.
    madvise(w->written_, map_bytes_, MADV_DONTNEED);
    madvise(w->read_, map_bytes_, MADV_DONTNEED);
    std::fill(w->touched_.begin(), w->touched_.end(), 0);
    std::fill(w->operation_.begin(), w->operation_.end(), 0);
    for (size_t i = 0; i < by_word_.size(); ++i)
      w->used_[i] = by_word_[i] != 0 ? Worker::kByWord : uint8_t{0};
  }
  kept_bytes_ = 0;
}

}  // namespace lab32::sim
