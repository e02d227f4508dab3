// The text reports of the skeletons and the solutions, compared letter by letter.

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "grading/engine/registry.h"
#include "grading/engine/runner.h"
#include "report/render.h"
#include "tests/fixtures/each_lab.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/reference_record.h"

namespace lab32::tests {
namespace {

// Keeps the result for the tests in Python (graded.py), which check its pictures.
void save_for_python_tests(const report::GradingResult& result, const std::string& dir,
                           const std::string& lab) {
  const std::string folder = environment_value(variables::kGraded);
  if (folder.empty()) return;
  const std::filesystem::path file = std::filesystem::path(folder) / (dir + "-" + lab + ".json");
  const std::filesystem::path whole = file.string() + "." + std::to_string(getpid());
  std::ofstream(whole) << report::json(result);
  std::filesystem::rename(whole, file);
}

// An extra lab may have no golden texts.
void check_golden(const std::string& lab, const std::string& name,
                  const report::GradingResult& result) {
  const std::filesystem::path file = folder_of(lab) / "golden" / name;
  if (is_core(lab) || std::filesystem::exists(file)) check_golden_file(file, report::text(result));
}

void check_skeleton(const std::string& lab) {
  const report::GradingResult result = grade_with_pictures(lab, "labs");
  save_for_python_tests(result, "labs", lab);
  check_golden(lab, "skeleton.txt", result);
  // A skeleton must not crash and must not have full marks, and every check must say why it failed.
  CHECK(result.score > 0);
  CHECK(result.score < result.max_score);
  for (const report::CheckResult& test : result.labs.at(0).tests) {
    CHECK(test.status != report::Status::error);
    // Only timing checks are not run: golden texts are made without a GPU.
    CHECK((test.status == report::Status::not_run) == test.bonus);
    CHECK(test.not_run.has_value() == test.bonus);
    CHECK(test.failure.has_value() == (test.status == report::Status::failed));
    CHECK((test.status == report::Status::passed || !test.message.empty()));
  }
}

void check_solution(const std::string& lab) {
  const report::GradingResult result = grade_with_pictures(lab, "solutions");
  save_for_python_tests(result, "solutions", lab);
  check_golden(lab, "solution.txt", result);
  CHECK(result.score == result.max_score);
}

// While all questions are open, the report must not contain an answer to copy: its number, followed
// by the unit that the question's name ends with.
void check_no_answers(const std::string& lab) {
  const auto golden = read_file(folder_of(lab) / "golden/skeleton.txt");
  if (!golden && !is_core(lab)) return;
  REQUIRE_MESSAGE(golden, lab, ": run with LAB32_UPDATE_GOLDEN=1 first");
  const std::string text = RegularExpression("\\s+").replace(*golden, " ");
  const grading::Rubric rubric(grading::rubric_folder(), lab);
  size_t asked = 0;
  for (const grading::RubricCheckEntry& row : rubric.rows()) {
    if (!row.asks()) continue;
    for (const grading::RubricAnswerKey& question : row.questions()) {
      ++asked;
      const std::string unit = question.name.substr(question.name.rfind('_') + 1);
      for (const char* between : {" ", " times the ", " times as many "}) {
        const std::string answer =
            fmt::format(" {}{}{}", question.answer.number().value(), between, unit);
        CHECK_MESSAGE(text.find(answer) == std::string::npos, lab, ": ", question.name, ":",
                      answer);
      }
    }
  }
  CHECK((asked > 0 || !is_core(lab)));
}

}  // namespace

TEST_EACH_LAB("grading: the report on a skeleton answers no question", check_no_answers, kAllLabs);

TEST_EACH_LAB("grading: golden: the untouched skeleton", check_skeleton, 1);
TEST_EACH_LAB("grading: golden: the solution", check_solution, 1);
TEST_EACH_LAB("grading: counts of the solution", check_reference, 0);

TEST_CASE("grading: these tests include every lab") {
  std::vector<std::string> labs = grading::known_labs();
  std::sort(labs.begin(), labs.end());
  std::vector<std::string> tested = each_lab();
  std::sort(tested.begin(), tested.end());
  CHECK(labs == tested);
}

TEST_CASE("grading: an error before grading is one line that says how to fix it") {
  grading::GradeOptions options;
  options.device = "sim";
  options.dir = lab32_root() / "labs";
  options.labs = {"coalesing"};
  CHECK_THROWS_WITH_AS(grading::grade(options),
                       doctest::Contains("there is no lab `coalesing`; the labs are: "), Error);
  options.labs = {"coalescing"};
  options.dir = "/nowhere";
  CHECK_THROWS_WITH_AS(grading::grade(options), doctest::Contains("/nowhere: no such directory"),
                       Error);
  options.dir = lab32_root() / "grader";
  CHECK_THROWS_WITH_AS(grading::grade(options),
                       doctest::Contains("grader/coalescing/coalescing.cu: no such file"), Error);
}

}  // namespace lab32::tests
