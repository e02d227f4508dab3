// What a timing means for a limit: faster, slower, or too close to tell. Pure arithmetic, so that
// it can be tested without a card.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/interval.h"
#include "device/timer.h"

namespace lab32::grading {

struct Comparison {
  enum class Verdict : uint8_t { passed, failed, inconclusive, impossible } verdict;
  device::Interval seconds;  // of the submission, cold
  device::Interval warm;     // the same, warm
  device::Interval ratio;    // how many times as fast as what it runs against
  double floor_seconds = 0;  // what the card's memory needs at its peak; 0: not known
  double credit = 1;         // less only if failed or impossible
  std::string note;          // clocks that moved or were held down; empty: nothing to say
};

// `bytes` must be moved. Impossible: faster than the memory could deliver the part of them that L2
// cannot hold.

// Against the copy of as many bytes, whose bandwidth is 1. Failed: credit is ratio / limit.
Comparison judge(const device::Timing& timing, uint64_t bytes, double limit);

// A step: against the second candidate, the version before. The reference solution's version before
// keeps it within bounds: no faster does it count, since who is ahead of a step must not lose by
// it, and no slower than halfway(limit) times that, since who puts a brake on it must not gain.
// That is the third candidate, or, where the solutions are not there, what the card's record has in
// copies of as many bytes; the copies of the same rounds make it a time. Failed: credit is what the
// ratio has of the way from there to the limit, above 1.
Comparison judge_step(const device::Timing& timing, uint64_t bytes, double limit,
                      double recorded_copies);
inline double halfway(double limit) { return (1 + limit) / 2; }
// Seconds that the reference's version before takes in each round, and those that the submission's
// counts for.
std::vector<double> usual_start(const device::Timing& timing, double recorded_copies);
std::vector<double> start_of_step(const device::Timing& timing, double limit,
                                  double recorded_copies);

}  // namespace lab32::grading
