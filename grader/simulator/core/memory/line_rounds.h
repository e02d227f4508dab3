// Which lines of device memory were kept in the round under way, by any host thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace lab32::sim {

class LineRounds {
 public:
  LineRounds() = default;
  ~LineRounds();
  LineRounds(const LineRounds&) = delete;
  LineRounds& operator=(const LineRounds&) = delete;

  // For lines below that number.
  void reach(uint64_t lines);
  // None is kept.
  void next_round();

  bool kept(uint64_t line) const { return state_[line].load(std::memory_order_acquire) == round_; }
  // Whoever comes first keeps it, true, and says done(); the others wait: nobody writes to a line
  // before it is kept.
  bool claim(uint64_t line);
  void done(uint64_t line) { state_[line].store(round_, std::memory_order_release); }

  uint64_t bytes() const { return lines_; }

 private:
  // The round in which it was kept last, so that a round begins without a look at them.
  std::atomic<uint8_t>* state_ = nullptr;
  uint64_t lines_ = 0;
  uint8_t round_ = 0;
};

}  // namespace lab32::sim
