// What a student reads, to the letter. LAB32_UPDATE_GOLDEN=1 writes the files anew; look at the
// difference before it is committed.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "labs/grade.h"
#include "labs_to_try.h"
#include "report/render.h"

namespace lab32::tests {
namespace {

namespace fs = std::filesystem;

// Messages name files as the user gave them: relative to the checkout, in the golden text.
class InRoot {
 public:
  InRoot() : before_(fs::current_path()) { fs::current_path(labs::root()); }
  ~InRoot() { fs::current_path(before_); }

 private:
  fs::path before_;
};

report::Result grade(const std::string& lab, const std::string& dir) {
  const InRoot in_root;
  labs::Options options;
  options.labs = {lab};
  options.dir = dir;
  options.device = "sim";
  options.seed = 1;
  return labs::grade(options);
}

void check_golden(const std::string& name, const std::string& text) {
  const fs::path path = labs::root() / "grader/tests/golden" / name;
  if (std::getenv("LAB32_UPDATE_GOLDEN")) std::ofstream(path) << text;
  std::ifstream file(path);
  std::ostringstream golden;
  golden << file.rdbuf();
  INFO(name, " differs; if it should, run with LAB32_UPDATE_GOLDEN=1");
  CHECK(text == golden.str());
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
      CHECK(test.status != report::Status::not_run);
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
