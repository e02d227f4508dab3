// The result of a lab does not depend on the labs that the same process has graded before it, and
// the result of a check does not depend on whether unrelated checks run.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/environment.h"
#include "grading/engine/runner.h"
#include "report/render.h"
#include "tests/fixtures/slow.h"

using namespace lab32;

namespace {

grading::GradeOptions options_of(std::vector<std::string> labs) {
  grading::GradeOptions options;
  options.labs = std::move(labs);
  options.dir = (lab32_root() / "labs").string();
  options.device = "sim";
  options.seed = 32;
  return options;
}

// The result as JSON, without its times.
std::string last_lab(std::vector<std::string> labs) {
  const grading::GradeOptions options = options_of(std::move(labs));
  report::GradingResult result = grading::grade(options);
  result.labs = {result.labs.back()};
  for (report::CheckResult& test : result.labs[0].tests) test.seconds = 0;
  result.score = result.labs[0].score;
  result.max_score = result.labs[0].max_score;
  return report::render(result, "json");
}

}  // namespace

TEST_CASE("grading: a lab's result does not depend on the labs before it" * kSlow) {
  CHECK(last_lab({"swizzle", "occupancy"}) == last_lab({"occupancy"}));
}

TEST_CASE("grading: named checks run with their prerequisites only, and have the same results" *
          kSlow) {
  grading::GradeOptions options = options_of({"transpose"});
  const report::LabResult whole = grading::grade(options).labs.at(0);
  options.checks = {"B2 padded: wavefronts"};
  const report::LabResult part = grading::grade(options).labs.at(0);
  std::vector<std::string> names;
  for (const report::CheckResult& test : part.tests) {
    names.push_back(test.name);
    const auto same =
        std::find_if(whole.tests.begin(), whole.tests.end(),
                     [&](const report::CheckResult& t) { return t.name == test.name; });
    REQUIRE(same != whole.tests.end());
    CHECK(same->status == test.status);
    CHECK(same->message == test.message);
    CHECK(same->score == test.score);
  }
  // Both questions, and the prerequisites of the check.
  CHECK(names == std::vector<std::string>{"A1 what naive touches", "A2 a column of a tile",
                                          "B2 padded: result", "B2 padded: sectors",
                                          "B2 padded: wavefronts"});
}
