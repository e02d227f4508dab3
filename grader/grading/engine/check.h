// One check while it runs. A LAB_CHECK reads its rubric row and its session here, launches kernels
// (launch.h), and reports what it found with measured(), expected(), explain(), credit...() and
// fail_and_throw(). When the body ends, or throws TestOver, run_suite.h turns the verdict into a
// report::CheckResult.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "device/device.h"
#include "grading/engine/session.h"
#include "report/result.h"

namespace lab32::grading {

// Finds kernels that rely on an order of blocks and warps, or on seeing each store at once. A GPU
// guarantees neither, but the simulator runs in one order and its loads return the newest values.
// In a check of results, one launch is therefore repeated in a random order, in which loads return
// older values where the memory model allows them. If its output differs, the whole check runs once
// more with that launch as in the trial, and the result of that run decides: a float sum may differ
// within its tolerance.

// The trial of one check. A check that uses Check::random() makes the same launches when it is
// repeated.
class ScheduleTrial {
 public:
  ScheduleTrial() = default;
  explicit ScheduleTrial(uint64_t seed) : seed_(seed) {}

  // Called before each launch. In the repetition of the check, it sets the options with which the
  // launch whose output differed runs again. `trial`: the check compares results, so one of its
  // launches is tried in another order.
  void prepare_launch_options(const device::LaunchShape& shape, bool can_try_random_order,
                              device::LaunchOptions& options);
  // Whether the launch must be repeated with rerun_in_random_order(), starting from the memory as
  // it was before it.
  bool wants_trial() const { return wants_trial_; }
  void rerun_in_random_order(device::Device& device, device::Kernel& kernel,
                             const device::LaunchShape& shape,
                             const std::vector<device::KernelArgument>& args,
                             device::SavedMemory& before, device::LaunchOptions limits);

  // Whether one of the launches gave another output in the random order.
  bool differs() const { return differing_launch_ != 0; }
  // Starts the repetition of the check: the launch that differed runs in the random order.
  void repeat() { launches_ = 0, repeating_ = true; }
  bool repeating() const { return repeating_; }
  // Added to the message of a check that fails in its repetition.
  std::string explanation() const;
  // In the repetition: the launch that differed has been made. If its result is right, the check
  // can end, since its other launches were right before.
  bool repeated_launch_done() const { return repeating_ && launches_ >= differing_launch_; }

 private:
  using Loads = device::LaunchOptions::Loads;
  uint64_t seed_ = 0;
  // How the launch that differed ran, and the first load that returned an older value.
  uint64_t differing_seed_ = 0;
  Loads differing_loads_ = Loads::newest;
  std::optional<counters::Finding> stale_;
  size_t launches_ = 0, differing_launch_ = 0;
  bool repeating_ = false, wants_trial_ = false, tried_blocks_ = false, tried_warps_ = false;
};

class DeviceArray;
using report::CheckFailureReason;
using report::NotRunReason;

struct CheckVerdict {
  std::string measured, expected, message;
  int line = 0;
  std::map<std::string, double> figures;
  double credit = 1;
  bool has_share = false;  // one of credit...() was called
  double worst_share = 1;  // the smallest share so far; `failure` belongs to it
  // The check with the question that must pass before the count is shown.
  std::string withheld = {};
  bool lost = false;
  std::optional<CheckFailureReason> failure;
  std::optional<NotRunReason> not_run;
  std::string failed_check;  // the first CHECK that failed, in doctest's words
  std::string error;         // the message of an Error, or of any other exception
};

// Thrown to end a check at once. It carries nothing, because the check's verdict is complete by
// then.
struct TestOver {};

struct Check {
  Check(GradingSession& of_lab, const RubricCheckEntry& of_check);
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  GradingSession& session;
  const RubricCheckEntry& row;
  CheckVerdict verdict = {};

  std::vector<DeviceArray*> arrays = {};     // in the order of their allocation
  std::vector<LaunchedArray> launched = {};  // the arrays of the last launch
  // The output of the last launch that printed something, as text for a message.
  std::string printed = {};
  unsigned draws = 0;           // calls of random()
  ScheduleTrial trial;          // decides which launch is repeated in another order
  bool sharing_launch = false;  // while a SharedLaunch is made
  std::string withheld = {};    // the check whose questions this check's details would answer
  // A sentence about the first shift or shuffle by an undefined amount.
  std::string undefined_amount = {};
  // A sentence about a count of which only limits are known.
  std::string uncertain_count = {};
  // Only if the session wants pictures: the last launch, and the launch that wasted most.
  std::shared_ptr<const pictures::PicturedLaunch> last_pictures = {}, pictures = {};
  std::vector<pictures::SwizzleMapping> mappings = {};  // swizzles to draw in the pictures

  device::Device& device() const { return session.setup.device; }
  // Random numbers that depend only on the seed, on the check's name, and on how often the check
  // has called this: each launch gets other inputs, and a check that is repeated gets the same.
  Random random() {
    return Random(seed_of_stream(session.setup.seed, row.check + " " + std::to_string(++draws)));
  }
  // The line on which the submission defines a kernel or a function; 0: it does not define it.
  int line_of(const std::string& name) const { return session.source.line_of_name(name); }
  // Whether the check of that name has passed or has nearly all its points (98 %).
  bool has_passed(const std::string& check) const;
  // The first prerequisite that has not passed; null: all have. A kernel that computes nothing
  // would be fast, so checks of counts and of time need the check of the result.
  const RubricCheckEntry* first_unpassed_prerequisite() const;
  // Loses the check unless all prerequisites have passed. The runner calls this before a check
  // begins. For a bonus, credit_bandwidth_vs_copy and credit_speedup_of_step call it themselves,
  // after they know whether this machine can time the check.
  void require_prerequisites();

  // The texts for the two columns of the score report. Keep them short.
  void measured(std::string text) { verdict.measured = std::move(text); }
  void expected(std::string text) { verdict.expected = std::move(text); }

  // A number for programs that read the result (JSON).
  void figure(const std::string& name, double value) { verdict.figures[name] = value; }

  // Adds an explanation to the message: the fault and the idea that fixes it. If `line` is greater
  // than 0, the message quotes that line of the student's file first.
  void explain(int line, const std::string& message);

  // Gives ideal / reached of the points, but not more than all. Several calls in one check
  // multiply.
  void credit(double ideal, double reached);
  // Like credit(), but several calls do not multiply: the smallest share counts.
  void limit_credit_to_share(double ideal, double reached);
  // Gives `share` of the points, but not more than all. `failure` is the reason if it is below 1.
  void credit_share(double share, const CheckFailureReason& failure);

  // Hides a count that is too large as long as the check `question` has not passed, because the
  // count would answer it. The points would reveal the count, too, so they are rounded to quarters.
  void withhold_count(const std::string& question);

  // Ends the check as lost, when nothing after this point can be checked. Without `message`, the
  // text comes from words.h.
  [[noreturn]] void fail_and_throw(const CheckFailureReason& failure, int line,
                                   const std::string& message);
  [[noreturn]] void fail_and_throw(const CheckFailureReason& failure, int line = 0);

  // Marks the check as lost, but goes on: it has more to report.
  void mark_as_failed(const CheckFailureReason& failure);

  // Loses the check for a wrong result.
  [[noreturn]] void fail_and_throw(int line, const std::string& message);

  // Ends the check as not run, because this machine lacks something that it needs. The check then
  // counts neither for nor against the student.
  [[noreturn]] void not_run(const NotRunReason& reason);
};

}  // namespace lab32::grading
