// Decides what a timing means for a limit: the submission is fast enough, too slow, or too close to
// tell. compare_with_copy() compares it with a copy of as many bytes, and compare_with_previous()
// with the submission's previous version. These functions only compute, so tests need no GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/timer.h"

namespace lab32::grading {

struct SpeedVerdict {
  // not_asked: the step does not make the reference solution faster by enough on this card.
  enum class Outcome : uint8_t { passed, failed, inconclusive, impossible, not_asked } outcome;
  device::MedianInterval seconds;  // time of the submission with cold caches
  device::MedianInterval warm;     // time of the submission with warm caches
  device::MedianInterval ratio;    // speed relative to the baseline
  double limit = 0;                // the ratio that is needed
  double floor_seconds = 0;        // the time to move the bytes at peak bandwidth; 0: unknown
  double credit = 1;               // below 1 only if failed or impossible
  std::string note;                // about clocks that changed or were throttled, or empty
};

// `bytes`: what the kernel has to move at least. A time is impossible if it is shorter than the
// memory needs for the part of these bytes that does not fit into L2.

// The limit of a comparison with a copy. If a second candidate is the reference solution, the limit
// is at most `of_reference` times its ratio in the same rounds on the same card.
struct RequiredShareOfCopyBandwidth {
  double fraction = 0, of_reference = 0;
};
// Compares with a copy of as many bytes, whose bandwidth is 1. If failed, credit is ratio / limit.
SpeedVerdict compare_with_copy(const device::MeasuredGpuTimes& timing, uint64_t bytes,
                               const RequiredShareOfCopyBandwidth& terms);

// The limit of a step: `share` of the reference solution's gain in the same rounds. The step is
// asked for only if that gain is at least `least`.
struct RequiredShareOfGain {
  double share = 0, least = 0;
};
// The candidates of a step, in this order. With reference_first the first two are left out.
enum StepCandidate : size_t { kNow, kBefore, kReferenceNow, kReferenceBefore };
device::MedianInterval reference_gain_over_previous(const device::MeasuredGpuTimes& timing,
                                                    size_t reference_first);

// Compares a version with the submission's own previous version, whose time is clamped. It counts
// as no faster than the reference solution's previous version, so that an early optimisation is not
// penalised, and as no slower than halfway(limit) times that, so that slowing it down gains
// nothing. If failed, credit is the part of the way from halfway(limit) to the limit that the ratio
// has reached.
SpeedVerdict compare_with_previous(const device::MeasuredGpuTimes& timing, uint64_t bytes,
                                   const RequiredShareOfGain& terms);
inline double halfway(double limit) { return (1 + limit) / 2; }
// The clamped seconds of the submission's previous version, for each round.
std::vector<double> clamped_student_previous_seconds(const device::MeasuredGpuTimes& timing,
                                                     double limit);

}  // namespace lab32::grading
