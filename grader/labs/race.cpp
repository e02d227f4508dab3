#include "labs/race.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace lab32::labs {
namespace {

// More than the steps in which cards move their clocks, and enough to show in a time.
constexpr double kClockMoved = 0.02;

std::string clocks_note(const device::Timing& timing) {
  if (!timing.before || !timing.after) return "";
  const double before = timing.before->sm_mhz, after = timing.after->sm_mhz;
  if (std::abs(after - before) > kClockMoved * before)
    return fmt::format("The card's clock moved from {:.0f} to {:.0f} MHz while it was timed.",
                       before, after);
  if ((timing.before->throttled | timing.after->throttled) != 0)
    return "The card was throttled (power or heat) while it was timed.";
  return "";
}

// The first contender against `other`, round by round; `credit_of` a ratio below the limit.
template <class CreditOf>
Race judge_against(const std::vector<double>& other, const device::Timing& timing, uint64_t bytes,
                   double limit, CreditOf credit_of) {
  const device::Samples& own = timing.contenders.front();
  Race race;
  race.seconds = device::median_interval(own.cold);
  race.warm = device::median_interval(own.warm);
  race.ratio = device::median_interval(device::ratios(other, own.cold));
  race.note = clocks_note(timing);
  if (timing.peak_bandwidth > 0 && bytes > timing.l2_bytes)
    race.floor_seconds = static_cast<double>(bytes - timing.l2_bytes) / timing.peak_bandwidth;
  if (race.seconds.median < race.floor_seconds) {
    race.verdict = Race::Verdict::impossible;
    race.credit = 0;
  } else if (race.ratio.low >= limit) {
    race.verdict = Race::Verdict::passed;
  } else if (race.ratio.high < limit) {
    race.verdict = Race::Verdict::failed;
    race.credit = credit_of(race.ratio.median);
  } else {
    race.verdict = Race::Verdict::inconclusive;
  }
  return race;
}

}  // namespace

Race judge(const device::Timing& timing, uint64_t bytes, double limit) {
  return judge_against(timing.copy.cold, timing, bytes, limit,
                       [&](double ratio) { return ratio / limit; });
}

std::vector<double> start_of_step(const device::Timing& timing, double limit) {
  std::vector<double> start = timing.contenders.at(1).cold;
  if (timing.contenders.size() > 2)
    for (size_t i = 0; i < start.size(); ++i) {
      const double usual = timing.contenders[2].cold[i];
      start[i] = std::clamp(start[i], usual, halfway(limit) * usual);
    }
  return start;
}

Race judge_step(const device::Timing& timing, uint64_t bytes, double limit) {
  return judge_against(start_of_step(timing, limit), timing, bytes, limit, [&](double ratio) {
    return std::max(0.0, (ratio - halfway(limit)) / (limit - halfway(limit)));
  });
}

std::string duration(double seconds) {
  const double us = seconds * 1e6, ms = seconds * 1e3;
  if (us < 1000) return fmt::format("{:.{}f} us", us, us < 100 ? 1 : 0);
  return fmt::format("{:.{}f} ms", ms, ms < 10 ? 2 : ms < 100 ? 1 : 0);
}

}  // namespace lab32::labs
