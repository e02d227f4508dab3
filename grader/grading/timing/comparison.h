// What a timing means for a limit: faster, slower, or too close to tell. Pure arithmetic, so that
// it can be tested without a card.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/timer.h"

namespace lab32::grading {

struct Comparison {
  // not_asked: the reference solution itself does not gain enough by the step.
  enum class Verdict : uint8_t { passed, failed, inconclusive, impossible, not_asked } verdict;
  device::Interval seconds;  // of the submission, cold
  device::Interval warm;     // the same, warm
  device::Interval ratio;    // how many times as fast as what it runs against
  double limit = 0;          // what is asked of that
  double floor_seconds = 0;  // what the card's memory needs at its peak; 0: not known
  double credit = 1;         // less only if failed or impossible
  std::string note;          // clocks that moved or were held down; empty: nothing to say
};

// `bytes` must be moved. Impossible: faster than the memory could deliver the part of them that L2
// cannot hold.

// What a timing against the copy asks for. A second candidate is the reference solution: no more is
// asked than `of_reference` times what that has in the same rounds on the same card.
struct SpeedTerms {
  double fraction = 0, of_reference = 0;
};
// Against the copy of as many bytes, whose bandwidth is 1. Failed: credit is ratio / limit.
Comparison judge(const device::Timing& timing, uint64_t bytes, const SpeedTerms& terms);

// What a step asks for: `share` of what the reference solution gains by it in the same rounds,
// where that is `least` at least.
struct StepTerms {
  double share = 0, least = 0;
};
// The candidates of a step, in this order; with reference_first the first two are left out.
enum StepCandidate : size_t { kNow, kBefore, kReferenceNow, kReferenceBefore };
device::Interval reference_gain(const device::Timing& timing, size_t reference_first);

// A step: against the submission's own version before. The reference solution's version before
// keeps it within bounds: no faster does it count, since who is ahead of a step must not lose by
// it, and no slower than halfway(limit) times that, since who puts a brake on it must not gain.
// Failed: credit is what the ratio has of the way from there to the limit, above 1.
Comparison judge_step(const device::Timing& timing, uint64_t bytes, const StepTerms& terms);
inline double halfway(double limit) { return (1 + limit) / 2; }
// Seconds of each round that the submission's version before counts for.
std::vector<double> start_of_step(const device::Timing& timing, double limit);

}  // namespace lab32::grading
