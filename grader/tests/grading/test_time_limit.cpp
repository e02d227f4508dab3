// `lab32 grade --time-limit`: a lab's time ends in partial results, never in a smaller total. The
// limits of launches grow with the slowness of the machine.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "base/environment.h"
#include "base/work.h"
#include "grading/engine/limits.h"
#include "grading/engine/runner.h"
#include "report/render.h"

using namespace lab32;
using report::CheckFailureReason;
using report::Status;

namespace {

report::LabResult grade_within(double seconds) {
  grading::GradeOptions options;
  options.labs = {"swizzle"};
  options.dir = (lab32_root() / "solutions").string();
  options.device = "sim";
  options.seed = 1;
  options.time_limit = seconds;
  return grading::grade(options).labs.at(0);
}

}  // namespace

TEST_CASE("grading: checks that the time limit stops lose their points, and the total stays") {
  const report::LabResult lab = grade_within(1e-9);
  CHECK(lab.status == Status::failed);
  CHECK(lab.score == 0);
  CHECK(lab.max_score == 100);
  CHECK(lab.message.find("The lab's time limit of 1e-09 s (--time-limit) is reached") == 0);
  for (const report::CheckResult& test : lab.tests) {
    CAPTURE(test.name);
    if (test.bonus) {
      CHECK(test.status == Status::not_run);  // there is no GPU: it counts for nothing anyway
      continue;
    }
    CHECK(test.status == Status::failed);
    CHECK(test.score == 0);
    REQUIRE(test.failure);
    const bool in_time = test.failure->kind != CheckFailureReason::Kind::time_limit;
    CHECK(in_time ==
          (test.message.find("This check counts once") == 0));  // after one that was not run
  }
}

TEST_CASE("grading: a lab within its time limit does not mention it") {
  const report::LabResult lab = grade_within(grading::TimeLimit::default_seconds());
  CHECK(lab.score == lab.max_score);
  CHECK(lab.message == "");
}

TEST_CASE("grading: the message about the time limit names the slowest check") {
  const grading::TimeLimit limit(2, 0.5);
  report::CheckResult quick, endless, lost;
  quick.name = "quick";
  quick.seconds = 0.1;
  endless.name = "endless";
  endless.seconds = 1.4;
  lost.failure = limit.failure();
  CHECK(limit.slowest_check_text({quick, endless}) == "");
  CHECK(limit.slowest_check_text({quick, endless, lost}) ==
        "The lab's time limit of 2 s (--time-limit) is reached, so one check was not "
        "run. \"endless\" took 1.4 s, compiling 0.5 s.");
}

TEST_CASE("grading: launches are limited one by one, per check and per lab") {
  grading::SimulationBudget spending;
  device::LaunchOptions options;
  spending.limit_launch("B1", options);
  CHECK(options.launch_budget == 200'000'000);
  CHECK(options.seconds > 0);
  CHECK(options.block_local_bytes > 0);
  spending.add("B1", 499'999'999, 0.5);
  CHECK_FALSE(spending.used_up("B1"));
  spending.limit_launch("B1", options);
  CHECK(options.launch_budget == 1);
  spending.add("B1", 1, 0.5);
  CHECK(spending.used_up("B1"));
  CHECK(spending.exhausted_limit_text("B1") ==
        "Not launched: earlier launches of this check have used up its limit of "
        "500,000,000 instructions.");
  spending.limit_launch("B1", options);  // 0 would be no limit
  CHECK(options.launch_budget == 1);
  CHECK_FALSE(spending.used_up("B2"));
  spending.add("B2", 499'999'999, 0.5);
  spending.add("B3", 1, 0.5);
  CHECK(spending.used_up("B3"));
  CHECK(spending.exhausted_limit_text("B3") ==
        "Not launched: earlier checks have used up the lab's limit of 1,000,000,000 "
        "instructions, most of it in \"B1\".");
  const ScopedFakeMachineSlowness usual(1);
  grading::SimulationBudget slow;
  slow.add("B2", 5, 9 * grading::SimulationBudget::kSlower);
  CHECK_FALSE(slow.used_up("B3"));
  slow.add("B3", 5, 11 * grading::SimulationBudget::kSlower);
  CHECK(slow.used_up("B4"));
  CHECK(slow.exhausted_limit_text("B4").find("most of it in \"B3\"") != std::string::npos);
}

TEST_CASE("grading: a slow machine gets more seconds, but not more instructions") {
  const ScopedFakeMachineSlowness four(4);
  grading::SimulationBudget spending;
  constexpr double kSecond = grading::SimulationBudget::kSlower;
  spending.add("B1", 1'000, 39 * kSecond);
  CHECK_FALSE(spending.used_up("B1"));
  spending.add("B1", 1'000, 2 * kSecond);
  CHECK(spending.used_up("B1"));
  CHECK(spending.exhausted_limit_text("B1") ==
        fmt::format("Not launched: earlier launches of this check have used up its limit of {:g} "
                    "s of simulation.",
                    10 * kSecond));
  spending.add("B2", 1'000, 18 * kSecond);
  CHECK_FALSE(spending.used_up("B2"));
  spending.add("B2", 500'000'000, 0);
  CHECK(spending.used_up("B2"));
  // Slow compilers do not shorten the simulation, but a limit that the user names holds.
  CHECK(grading::TimeLimit(grading::TimeLimit::default_seconds(), 60 * kSecond).seconds_left() >
        4 * 20 * kSecond);
  CHECK(grading::TimeLimit(grading::TimeLimit::default_seconds() + 1, 60 * kSecond).seconds_left() <
        0);
}
