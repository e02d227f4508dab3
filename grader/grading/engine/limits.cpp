#include "grading/engine/limits.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "base/work.h"

namespace lab32::grading {

namespace {

// The largest launch of a reference solution issues 18 million warp instructions, and all launches
// of a lab issue 200 million. They take one second and five seconds.
constexpr uint64_t kLaunchInstructions = 200'000'000, kCheckInstructions = 500'000'000,
                   kLabInstructions = 1'000'000'000;

constexpr double kSlower = SimulationBudget::kSlower;
constexpr double kLaunchSeconds = 6 * kSlower, kCheckSeconds = 10 * kSlower,
                 kLabSeconds = 20 * kSlower;
// Local memory of all threads of a block: 64 KiB for each of 1024.
constexpr uint64_t kBlockLocalBytes = 64 << 20;

}  // namespace

SimulationBudget::SimulationCost SimulationBudget::cost_spent_by_check(
    const std::string& check) const {
  const auto spent = by_check_.find(check);
  return spent == by_check_.end() ? SimulationCost{} : spent->second;
}

SimulationBudget::SimulationCost SimulationBudget::left_for_check(const std::string& check) const {
  const auto rest = [](uint64_t most, uint64_t spent) { return most - std::min(most, spent); };
  const SimulationCost spent = cost_spent_by_check(check);
  const auto seconds = [&](double slowness) {
    return std::min(kLabSeconds - all_.seconds / slowness,
                    kCheckSeconds - spent.seconds / slowness);
  };
  const double first = seconds(slowness());
  return {std::min(rest(kLabInstructions, all_.instructions),
                   rest(kCheckInstructions, spent.instructions)),
          first < kLaunchSeconds ? seconds(measure_machine_slowness()) : first};
}

void SimulationBudget::limit_launch(const std::string& check,
                                    device::LaunchOptions& options) const {
  const SimulationCost rest = left_for_check(check);
  options.launch_budget = std::clamp<uint64_t>(rest.instructions, 1, kLaunchInstructions);
  options.block_local_bytes = kBlockLocalBytes;
  options.seconds = std::clamp(rest.seconds, 1e-3, kLaunchSeconds);
}

bool SimulationBudget::used_up(const std::string& check) const {
  const SimulationCost rest = left_for_check(check);
  return rest.instructions == 0 || rest.seconds <= 0;
}

void SimulationBudget::add(const std::string& check, uint64_t instructions, double seconds) {
  for (SimulationCost* spent : {&all_, &by_check_[check]}) {
    spent->instructions += instructions;
    spent->seconds += seconds;
  }
}

std::string SimulationBudget::exhausted_limit_text(const std::string& check) const {
  SimulationCost spent = cost_spent_by_check(check);
  spent.seconds /= slowness();
  const auto words = [](bool instructions, uint64_t number, double seconds) {
    return instructions ? grouped_digits(number) + " instructions"
                        : fmt::format("{:.0f} s of simulation", seconds);
  };
  if (spent.instructions >= kCheckInstructions || spent.seconds >= kCheckSeconds)
    return fmt::format(
        "Not launched: earlier launches of this check have used up its limit of "
        "{}.",
        words(spent.instructions >= kCheckInstructions, kCheckInstructions, kCheckSeconds));
  const bool instructions = all_.instructions >= kLabInstructions;
  const auto most =
      std::max_element(by_check_.begin(), by_check_.end(), [&](const auto& a, const auto& b) {
        return instructions ? a.second.instructions < b.second.instructions
                            : a.second.seconds < b.second.seconds;
      });
  return fmt::format(
      "Not launched: earlier checks have used up the lab's limit of {}, most "
      "of it in \"{}\".",
      words(instructions, kLabInstructions, kLabSeconds),
      most == by_check_.end() ? "" : most->first);
}

using report::CheckFailureReason;
using report::CheckResult;

// Sanitizers slow down the whole grading, as they slow down launches (SimulationBudget::kSlower).
double TimeLimit::default_seconds() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 1200;
#else
  return 30;
#endif
}

CheckFailureReason TimeLimit::failure() const {
  CheckFailureReason failure{CheckFailureReason::Kind::time_limit};
  failure.expected = seconds_;
  return failure;
}

std::string TimeLimit::slowest_check_text(const std::vector<CheckResult>& tests) const {
  const auto not_run = std::count_if(tests.begin(), tests.end(), [](const CheckResult& test) {
    return test.failure && test.failure->kind == CheckFailureReason::Kind::time_limit;
  });
  if (not_run == 0) return "";
  const auto longest = std::max_element(
      tests.begin(), tests.end(),
      [](const CheckResult& a, const CheckResult& b) { return a.seconds < b.seconds; });
  return fmt::format(
      "The lab's time limit of {:g} s (--time-limit) is reached, so {} not "
      "run. \"{}\" took {:.1f} s, compiling {:.1f} s.",
      seconds_, not_run == 1 ? "one check was" : fmt::format("{} checks were", not_run),
      longest->name, longest->seconds, compiling_);
}

}  // namespace lab32::grading
