// What a student reads, to the letter.

#include <doctest/doctest.h>

#include "base/error.h"
#include "golden.h"
#include "labs/grade.h"
#include "labs_to_try.h"
#include "report/render.h"

namespace lab32::tests {
namespace {

report::Result grade(const std::string& lab, const std::string& dir) {
  const InRoot in_root;
  labs::Options options;
  options.labs = {lab};
  options.dir = dir;
  options.device = "sim";
  options.seed = 1;
  return labs::grade(options);
}

}  // namespace

TEST_CASE("golden: the untouched skeletons") {
  for (const std::string& lab : labs_to_try()) {
    const report::Result result = grade(lab, "labs");
    check_golden(lab + "-skeleton.txt", report::text(result));
    // Neither nothing by a crash nor full marks; and no line without a verdict.
    CHECK(result.score > 0);
    CHECK(result.score < result.max_score);
    for (const report::Test& test : result.labs.at(0).tests) {
      CHECK(test.status != report::Status::error);
      // What is timed needs a card, which a golden text has not.
      const bool timed = test.name.find(": time") != std::string::npos;
      CHECK((test.status == report::Status::not_run) == timed);
      CHECK((test.status == report::Status::passed || !test.message.empty()));
    }
  }
}

TEST_CASE("golden: the solutions") {
  for (const std::string& lab : labs_to_try()) {
    const report::Result result = grade(lab, "solutions");
    check_golden(lab + "-solution.txt", report::text(result));
    CHECK(result.score == result.max_score);
  }
}

TEST_CASE("what cannot be graded is one line that says how to mend it") {
  labs::Options options;
  options.device = "sim";
  options.dir = labs::root() / "labs";
  options.labs = {"coalesing"};
  CHECK_THROWS_WITH_AS(labs::grade(options),
                       doctest::Contains("there is no lab `coalesing`; the labs are: "), Error);
  options.labs = {"coalescing"};
  options.dir = "/nowhere";
  CHECK_THROWS_WITH_AS(labs::grade(options), doctest::Contains("/nowhere: no such directory"),
                       Error);
  options.dir = labs::root() / "grader";
  CHECK_THROWS_WITH_AS(labs::grade(options),
                       doctest::Contains("grader/coalescing/coalescing.cu: no such file"), Error);
}

}  // namespace lab32::tests
