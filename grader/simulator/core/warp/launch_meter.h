// What all warps of a launch may issue together, how long it may take, and how much of the host's
// memory the stacks of its threads.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/work_time.h"

namespace lab32::sim {

class LaunchMeter {
 public:
  // 0: no limit. Seconds are those of a usual machine (base/work_time.h).
  LaunchMeter(uint64_t most_instructions, double most_seconds, uint64_t most_local_bytes)
      : most_(most_instructions), seconds_(most_seconds), local_(most_local_bytes) {}

  uint64_t issued() const { return issued_; }
  // What was issued since then has not happened, and is done again; the time goes on.
  void go_back(uint64_t issued) { issued_ = issued; }
  // Several host threads may add at once.
  enum class Over : uint8_t { nothing, instructions, time };
  Over add(uint64_t instructions) {
    const uint64_t issued = issued_ += instructions;
    if (most_ != 0 && issued > most_) return Over::instructions;
    return late(slowness()) && late(measure_slowness()) ? Over::time : Over::nothing;
  }
  uint64_t most_instructions() const { return most_; }
  double most_seconds() const { return seconds_; }
  // Local memory of a block's threads together.
  bool allows_local(uint64_t bytes_of_block) const {
    return local_ == 0 || bytes_of_block <= local_;
  }
  // Of blocks that wait for each other.
  bool allows_local_of_all(uint64_t bytes) const {
    return local_ == 0 || bytes <= kBlocksAtOnce * local_;
  }
  uint64_t most_local_bytes() const { return local_; }

 private:
  static constexpr uint64_t kBlocksAtOnce = 8;
  bool late(double slowness) const {
    const double most = seconds_ * slowness;
    return most > 0 && watch_.passed() > most && watch_.seconds() > most;
  }
  const uint64_t most_;
  const double seconds_;
  const uint64_t local_;
  const WorkTimer watch_;
  // In cache lines of its own, also on the stack beside the launch: all host threads add to it.
  alignas(128) std::atomic<uint64_t> issued_{0};
};

}  // namespace lab32::sim
