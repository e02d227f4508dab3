// The seconds that grading a lab may take, with its compilation: `lab32 grade --time-limit`.
// Spending holds what a submission's kernels may take; this is for those who wait.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/work_time.h"
#include "report/result.h"

namespace lab32::grading {

class TimeLimit {
 public:
  // A reference solution takes two to five, with its compilation. These, unlike what somebody asks
  // for, are those of a usual machine: a slow one has more (base/work_time.h).
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
