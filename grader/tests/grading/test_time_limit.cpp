// `lab32 grade --time-limit`: a lab's time ends in partial results, never in a smaller total.
#include <doctest/doctest.h>

#include <string>

#include "base/environment.h"
#include "grading/engine/limits.h"
#include "grading/engine/runner.h"
#include "report/render.h"

using namespace lab32;
using report::Failure;
using report::Status;

namespace {

report::Lab grade_within(double seconds) {
  grading::GradeOptions options;
  options.labs = {"swizzle"};
  options.dir = (root() / "solutions").string();
  options.device = "sim";
  options.seed = 1;
  options.time_limit = seconds;
  return grading::grade(options).labs.at(0);
}

}  // namespace

TEST_CASE("grading: checks that the time limit stops lose their points, and the total stays") {
  const report::Lab lab = grade_within(1e-9);
  CHECK(lab.status == Status::failed);
  CHECK(lab.score == 0);
  CHECK(lab.max_score == 100);
  CHECK(lab.message.find("The lab's time limit of 1e-09 s (--time-limit) is reached") == 0);
  for (const report::Test& test : lab.tests) {
    CAPTURE(test.name);
    if (test.bonus) {
      CHECK(test.status == Status::not_run);  // there is no GPU: it counts for nothing anyway
      continue;
    }
    CHECK(test.status == Status::failed);
    CHECK(test.score == 0);
    REQUIRE(test.failure);
    const bool in_time = test.failure->kind != Failure::Kind::time_limit;
    CHECK(in_time ==
          (test.message.find("This check counts once") == 0));  // after one that was not run
  }
}

TEST_CASE("grading: a lab within its time limit does not mention it") {
  const report::Lab lab = grade_within(grading::TimeLimit::usual());
  CHECK(lab.score == lab.max_score);
  CHECK(lab.message == "");
}

TEST_CASE("grading: the message about the time limit names the slowest check") {
  const grading::TimeLimit limit(2, 0.5);
  report::Test quick, endless, lost;
  quick.name = "quick";
  quick.seconds = 0.1;
  endless.name = "endless";
  endless.seconds = 1.4;
  lost.failure = limit.failure();
  CHECK(limit.what_took_it({quick, endless}) == "");
  CHECK(limit.what_took_it({quick, endless, lost}) ==
        "The lab's time limit of 2 s (--time-limit) is reached, so one check was not "
        "run. \"endless\" took 1.4 s, compiling 0.5 s.");
}
