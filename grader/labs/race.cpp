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

}  // namespace

Race judge(const device::Timing& timing, uint64_t bytes, double limit) {
  const device::Samples& own = timing.contenders.front();
  Race race;
  race.seconds = device::median_interval(own.cold);
  race.warm = device::median_interval(own.warm);
  race.fraction = device::median_interval(device::ratios(timing.copy.cold, own.cold));
  race.note = clocks_note(timing);
  if (timing.peak_bandwidth > 0 && bytes > timing.l2_bytes)
    race.floor_seconds = static_cast<double>(bytes - timing.l2_bytes) / timing.peak_bandwidth;
  if (race.seconds.median < race.floor_seconds) {
    race.verdict = Race::Verdict::impossible;
    race.credit = 0;
  } else if (race.fraction.low >= limit) {
    race.verdict = Race::Verdict::passed;
  } else if (race.fraction.high < limit) {
    race.verdict = Race::Verdict::failed;
    race.credit = race.fraction.median / limit;
  } else {
    race.verdict = Race::Verdict::inconclusive;
  }
  return race;
}

std::string duration(double seconds) {
  const double us = seconds * 1e6;
  return us < 1000 ? fmt::format("{:.{}f} us", us, us < 100 ? 1 : 0)
                   : fmt::format("{:.{}f} ms", us / 1e3, us < 1e5 ? 2 : 0);
}

}  // namespace lab32::labs
