#include "grading/timing/speed_verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace lab32::grading {
namespace {

// The relative change of the clock from which on a note reports it: larger than the steps in which
// a card changes its clock, and large enough to change a time.
constexpr double kClockMoved = 0.02;

std::string clocks_note(const device::MeasuredGpuTimes& timing) {
  if (!timing.before || !timing.after) return "";
  const double before = timing.before->sm_mhz, after = timing.after->sm_mhz;
  if (std::abs(after - before) > kClockMoved * before)
    return fmt::format("The card's clock changed from {:.0f} to {:.0f} MHz during the timing.",
                       before, after);
  if ((timing.before->throttled | timing.after->throttled) != 0)
    return "The card was throttled (power or temperature) during the timing.";
  return "";
}

// Compares the first candidate with `other`, round by round. `credit_of`: the credit for a ratio
// below the limit.
template <class CreditOf>
SpeedVerdict compare_samples(const std::vector<double>& other,
                             const device::MeasuredGpuTimes& timing, uint64_t bytes, double limit,
                             CreditOf credit_of) {
  const device::ColdAndWarmSamples& own = timing.candidates.front();
  SpeedVerdict verdict;
  verdict.seconds = device::median_interval(own.cold);
  verdict.warm = device::median_interval(own.warm);
  verdict.ratio = device::median_interval(device::ratios(other, own.cold));
  verdict.limit = limit;
  verdict.note = clocks_note(timing);
  if (timing.peak_bandwidth > 0 && bytes > timing.l2_bytes)
    verdict.floor_seconds = static_cast<double>(bytes - timing.l2_bytes) / timing.peak_bandwidth;
  if (verdict.seconds.median < verdict.floor_seconds) {
    verdict.outcome = SpeedVerdict::Outcome::impossible;
    verdict.credit = 0;
  } else if (verdict.ratio.low >= limit) {
    verdict.outcome = SpeedVerdict::Outcome::passed;
  } else if (verdict.ratio.high < limit) {
    verdict.outcome = SpeedVerdict::Outcome::failed;
    verdict.credit = credit_of(verdict.ratio.median);
  } else {
    verdict.outcome = SpeedVerdict::Outcome::inconclusive;
  }
  return verdict;
}

}  // namespace

SpeedVerdict compare_with_copy(const device::MeasuredGpuTimes& timing, uint64_t bytes,
                               const RequiredShareOfCopyBandwidth& terms) {
  double limit = terms.fraction;
  if (timing.candidates.size() > 1) {
    const auto of_copy = device::ratios(timing.copy.cold, timing.candidates[1].cold);
    limit = std::min(limit, terms.of_reference * device::median_interval(of_copy).median);
  }
  return compare_samples(timing.copy.cold, timing, bytes, limit,
                         [&](double ratio) { return ratio / limit; });
}

device::MedianInterval reference_gain_over_previous(const device::MeasuredGpuTimes& timing,
                                                    size_t reference_first) {
  return device::median_interval(device::ratios(timing.candidates.at(reference_first + 1).cold,
                                                timing.candidates.at(reference_first).cold));
}

std::vector<double> clamped_student_previous_seconds(const device::MeasuredGpuTimes& timing,
                                                     double limit) {
  std::vector<double> start = timing.candidates.at(kBefore).cold;
  const std::vector<double>& usual = timing.candidates.at(kReferenceBefore).cold;
  for (size_t i = 0; i < start.size(); ++i)
    start[i] = std::clamp(start[i], usual.at(i), halfway(limit) * usual.at(i));
  return start;
}

SpeedVerdict compare_with_previous(const device::MeasuredGpuTimes& timing, uint64_t bytes,
                                   const RequiredShareOfGain& terms) {
  const double gain = reference_gain_over_previous(timing, kReferenceNow).median - 1;
  const double limit = 1 + terms.share * std::max(gain, 0.0);
  SpeedVerdict verdict = compare_samples(
      clamped_student_previous_seconds(timing, limit), timing, bytes, limit, [&](double ratio) {
        return std::max(0.0, (ratio - halfway(limit)) / (limit - halfway(limit)));
      });
  if (gain < terms.least && verdict.outcome != SpeedVerdict::Outcome::impossible)
    verdict.outcome = SpeedVerdict::Outcome::not_asked;
  return verdict;
}

}  // namespace lab32::grading
