#include "simulator/core/memory/line_rounds.h"

#include <sys/mman.h>

#include "base/error.h"

namespace lab32::sim {
namespace {

constexpr uint8_t kBeingKept = 255, kLastRound = 254;

}  // namespace

LineRounds::~LineRounds() {
  if (state_ != nullptr) munmap(static_cast<void*>(state_), lines_);
}

void LineRounds::reach(uint64_t lines) {
  if (lines <= lines_) return;
  void* const p = mmap(nullptr, lines, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw Error("out of host memory for the record of written lines");
  if (state_ != nullptr) munmap(static_cast<void*>(state_), lines_);
  state_ = static_cast<std::atomic<uint8_t>*>(p);
  lines_ = lines;
  round_ = 0;
}

void LineRounds::next_round() {
  if (round_ == kLastRound) {
    madvise(static_cast<void*>(state_), lines_, MADV_DONTNEED);
    round_ = 0;
  }
  ++round_;
}

bool LineRounds::claim(uint64_t line) {
  std::atomic<uint8_t>& state = state_[line];
  uint8_t before = state.load(std::memory_order_acquire);
  if (before == round_) return false;
  if (before != kBeingKept &&
      state.compare_exchange_strong(before, kBeingKept, std::memory_order_acquire))
    return true;
  while (state.load(std::memory_order_acquire) != round_) std::this_thread::yield();
  return false;
}

}  // namespace lab32::sim
