// Limits on what grading a submission may cost. SimulationBudget limits the kernels: one launch,
// all launches of a check, and all launches of a lab. It counts instructions, so that a verdict
// does not depend on the machine; a limit in seconds catches instructions that take long, and is
// longer on a slow machine (base/work.h). TimeLimit bounds how long a user waits: the seconds for
// one lab, including its compilation (`lab32 grade --time-limit`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/work.h"
#include "device/device.h"
#include "report/result.h"

namespace lab32::grading {

class SimulationBudget {
 public:
  // How much sanitizers slow down a launch.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr double kSlower = 40;
#else
  static constexpr double kSlower = 1;
#endif

  // Sets the limits of the next launch: what one launch may cost, or what is left for the check or
  // for the lab, whichever is less.
  void limit_launch(const std::string& check, device::LaunchOptions& options) const;
  bool used_up(const std::string& check) const;
  // Records the cost of a launch of this check.
  void add(const std::string& check, uint64_t instructions, double seconds);
  // The message for a check that has used up a limit: which limit, and how large it is.
  std::string exhausted_limit_text(const std::string& check) const;

 private:
  struct SimulationCost {
    uint64_t instructions = 0;
    double seconds = 0;
  };
  SimulationCost cost_spent_by_check(const std::string& check) const;
  // The instructions and seconds that this check's next launches may use: what remains of its own
  // limit or of the lab's, whichever is less.
  SimulationCost left_for_check(const std::string& check) const;

  SimulationCost all_;
  std::map<std::string, SimulationCost> by_check_;
};

class TimeLimit {
 public:
  // The default limit. A reference solution takes two to five seconds, including its compilation.
  // The default is for a usual machine and grows on a slow one (base/work.h); a limit that the
  // user names does not.
  static double default_seconds();

  // The clock starts now. `compiling`: seconds that the compilation has already taken.
  explicit TimeLimit(double seconds = default_seconds(), double compiling = 0)
      : seconds_(seconds), compiling_(compiling) {}

  // Excludes timing on a GPU, which has limits of its own.
  void leave_out(double seconds) { left_out_ += seconds; }
  // Seconds that are left; below 0 once the limit is reached.
  double seconds_left() const {
    const double worked = watch_.min_of_wall_and_cpu_seconds() - left_out_;
    if (seconds_ != default_seconds()) return seconds_ - compiling_ - worked;
    // The compilation is timed by the wall clock and has limits of its own. On a busy machine it
    // must not leave too little time for the kernels.
    const double spent = std::min(compiling_, kMostOfCompilers) + worked;
    if (spent < slowness() * seconds_) return slowness() * seconds_ - spent;
    return measure_machine_slowness() * seconds_ - spent;
  }
  bool used_up() const { return seconds_left() <= 0; }
  report::CheckFailureReason failure() const;
  // One line that says which check took most of the time; empty if every check of `tests` was run.
  std::string slowest_check_text(const std::vector<report::CheckResult>& tests) const;

 private:
  static constexpr double kMostOfCompilers = 8;

  double seconds_, compiling_, left_out_ = 0;
  WorkTimer watch_;
};

}  // namespace lab32::grading
