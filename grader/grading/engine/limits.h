// What grading a submission may take. Spending limits what its kernels may take: a launch, all
// launches of a check, and all launches of a lab. Instructions are counted, so that a verdict does
// not depend on the machine; seconds are the last resort, for instructions that take long each, and
// a slow machine has more of them (base/machine_speed.h). TimeLimit is for those who wait: the
// seconds that grading a lab may take with its compilation (`lab32 grade --time-limit`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/work_time.h"
#include "device/device.h"
#include "report/result.h"

namespace lab32::grading {

class Spending {
 public:
  // Sanitizers make a launch that much slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr double kSlower = 40;
#else
  static constexpr double kSlower = 1;
#endif

  // A launch's own limits, or the rest of the check's, or of the lab's.
  void limit(const std::string& check, device::LaunchOptions& options) const;
  bool used_up(const std::string& check) const;
  // What a launch of this check took.
  void add(const std::string& check, uint64_t instructions, double seconds);
  // Why the check cannot launch any more, once all is used up.
  std::string why(const std::string& check) const;

 private:
  struct Spent {
    uint64_t instructions = 0;
    double seconds = 0;
  };
  Spent of(const std::string& check) const;
  // What there is left for it.
  Spent left(const std::string& check) const;

  Spent all_;
  std::map<std::string, Spent> by_check_;
};

class TimeLimit {
 public:
  // A reference solution takes two to five, with its compilation. These, unlike what somebody asks
  // for, are those of a usual machine: a slow one has more (base/machine_speed.h).
  static double usual();

  // `compiling`: went before. Its clock starts now.
  explicit TimeLimit(double seconds = usual(), double compiling = 0)
      : seconds_(seconds), compiling_(compiling) {}

  // Timing on a GPU takes what it takes, and is limited for itself.
  void leave_out(double seconds) { left_out_ += seconds; }
  // Below 0 where it is used up.
  double left() const {
    const double worked = watch_.seconds() - left_out_;
    if (seconds_ != usual()) return seconds_ - compiling_ - worked;
    // Compilers are timed by the clock, and have limits of their own: on a busy machine they must
    // not leave the kernels too little.
    const double spent = std::min(compiling_, kMostOfCompilers) + worked;
    if (spent < slowness() * seconds_) return slowness() * seconds_ - spent;
    return measure_slowness() * seconds_ - spent;
  }
  bool used_up() const { return left() <= 0; }
  report::Failure failure() const;
  // What has taken the time, in one line; empty where every check of `tests` was run.
  std::string what_took_it(const std::vector<report::Test>& tests) const;

 private:
  static constexpr double kMostOfCompilers = 8;

  double seconds_, compiling_, left_out_ = 0;
  WorkTimer watch_;
};

}  // namespace lab32::grading
