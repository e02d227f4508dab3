// What a timing means for a limit: faster, slower, or too close to tell. Pure arithmetic, so that
// it can be tested without a card.
#pragma once

#include <cstdint>
#include <string>

#include "device/interval.h"
#include "device/stopwatch.h"

namespace lab32::labs {

struct Race {
  enum class Verdict : uint8_t { passed, failed, inconclusive, impossible } verdict;
  device::Interval seconds;   // of the submission, cold
  device::Interval warm;      // the same, warm
  device::Interval fraction;  // of the copy's bandwidth
  double floor_seconds = 0;   // what the card's memory needs at its peak; 0: not known
  double credit = 1;          // 1 unless failed: fraction / limit; impossible: 0
  std::string note;           // clocks that moved or were held down; empty: nothing to say
};

// `bytes` must be moved; as many are moved by the copy. Impossible: faster than the memory could
// deliver the part of them that L2 cannot hold.
Race judge(const device::Timing& timing, uint64_t bytes, double limit);

// "83.4 us", "1.27 ms".
std::string duration(double seconds);

}  // namespace lab32::labs
