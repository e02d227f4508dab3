// A lab's result is the same, whichever labs are graded before it in the same process.
#include <doctest/doctest.h>

#include "base/root.h"
#include "grading/runner.h"
#include "report/render.h"

using namespace lab32;

namespace {

// All words and numbers but the seconds that it took.
std::string last_lab(std::vector<std::string> labs) {
  grading::GradeOptions options;
  options.labs = std::move(labs);
  options.dir = (root() / "labs").string();
  options.device = "sim";
  options.seed = 32;
  report::Result result = grading::grade(options);
  result.labs = {result.labs.back()};
  for (report::Test& test : result.labs[0].tests) test.seconds = 0;
  result.score = result.labs[0].score;
  result.max_score = result.labs[0].max_score;
  return report::render(result, "json");
}

}  // namespace

TEST_CASE("grading: a lab's result does not depend on the labs before it") {
  CHECK(last_lab({"swizzle", "occupancy"}) == last_lab({"occupancy"}));
}
