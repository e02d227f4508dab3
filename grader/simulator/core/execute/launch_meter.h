// What all warps of a launch may issue together, and how long it may take.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/stopwatch.h"

namespace lab32::sim {

class LaunchMeter {
 public:
  // 0: no limit.
  LaunchMeter(uint64_t most_instructions, double most_seconds)
      : most_(most_instructions), seconds_(most_seconds) {}

  uint64_t issued() const { return issued_; }
  // What was issued since then has not happened, and is done again; the time goes on.
  void go_back(uint64_t issued) { issued_ = issued; }
  // Several host threads may add at once.
  enum class Over : uint8_t { nothing, instructions, time };
  Over add(uint64_t instructions) {
    const uint64_t issued = issued_ += instructions;
    if (most_ != 0 && issued > most_) return Over::instructions;
    const bool late = seconds_ > 0 && watch_.passed() > seconds_ && watch_.seconds() > seconds_;
    return late ? Over::time : Over::nothing;
  }
  uint64_t most_instructions() const { return most_; }
  double most_seconds() const { return seconds_; }

 private:
  std::atomic<uint64_t> issued_{0};
  const uint64_t most_;
  const double seconds_;
  const Stopwatch watch_;
};

}  // namespace lab32::sim
