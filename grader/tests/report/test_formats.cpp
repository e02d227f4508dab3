// The formats of learning platforms and of CI. tests/python/report/test_formats.py parses the
// golden texts as the platforms do.

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/render.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/sample_result.h"

namespace lab32::report {
namespace {

// Characters with a meaning in each format, in places where students can write them.
constexpr const char* kTricky =
    "=1+2 is \"quoted\", 100%, a|b and `code` ```\n"
    "::error::not mine\n]]></failure><script>&amp;\n**bold** [link](x) <b> @all\ttab\x1b[31m";

GradingResult tricky_result() {
  GradingResult result = tests::sample_result();
  CheckResult test;
  test.name = "A1, \"quoted\" | 100% <T>";
  test.status = Status::failed;
  test.score = 0.33;
  test.max_score = 1;
  test.measured = "a|b `c`, <d>";
  test.expected = "x & y";
  test.message = kTricky;
  test.file = "labs/a,b:c%/shuffle.cu";
  test.line = 3;
  test.seconds = 1.25;
  test.failure = CheckFailureReason{CheckFailureReason::Kind::wrong_result};
  CheckResult failed_grader;
  failed_grader.name = "A2";
  failed_grader.status = Status::error;
  failed_grader.max_score = 2;
  failed_grader.message = "the device does not have this instruction";
  LabResult lab;
  lab.name = "shuffle";
  lab.status = Status::failed;
  lab.score = 0.33;
  lab.max_score = 3;
  lab.tests = {test, failed_grader};
  result.labs.push_back(lab);
  result.score += lab.score;
  result.max_score += lab.max_score;
  return result;
}

GradingResult incomplete_result() {
  GradingResult result = tests::sample_result();
  LabResult lost;
  lost.name = "shuffle";
  lost.status = Status::not_graded;
  lost.message = "no scratch directory in /nowhere";
  result.labs.push_back(lost);
  return result;
}

bool holds(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("report: every format equals its golden text") {
  for (const std::string& format : format_names())
    tests::check_golden("report-sample." + format, render(tricky_result(), format));
}

TEST_CASE("report: no format shows 0 points for a lab that is not graded") {
  const GradingResult result = incomplete_result();
  const std::string& reason = result.labs.back().message;
  for (const std::string& format : format_names()) {
    CAPTURE(format);
    CHECK(holds(render(result, format), reason));
  }
  const auto results = nlohmann::json::parse(gradescope(result));
  CHECK_FALSE(results.contains("score"));
  CHECK_FALSE(results.contains("leaderboard"));
  for (const auto& test : results["tests"]) CHECK_FALSE(test.contains("score"));
  CHECK(holds(autolab(result), "\n{\"scores\":{\"coalescing\":5.0,\"reduction\":0.0}}\n"));
  CHECK(holds(csv(result), "\r\nshuffle,,not graded,false,0,0,,,,0,0.000,no scratch"));
  CHECK(holds(junit(result), "<skipped type=\"not graded\" message=\"no scratch"));
  CHECK(holds(github(result), "::warning title=shuffle%3A not graded::no scratch"));
  CHECK(holds(github(result), "::notice title=shuffle::shuffle: not graded\n"));
  const auto learnt = nlohmann::json::parse(prairielearn(result));
  CHECK(learnt["gradable"] == false);
  CHECK_FALSE(learnt.contains("score"));
  CHECK_FALSE(holds(classroom50(result), "score"));
  CHECK(nlohmann::json::parse(submitty(result))["status"] == "fail");
  CHECK_FALSE(holds(codegrade(result), "points"));
  const auto log = nlohmann::json::parse(sarif(result));
  CHECK(log["runs"][0]["invocations"][0]["executionSuccessful"] == false);
}

TEST_CASE("report: no format shows a check that did not run as passed or lost") {
  const GradingResult result = tests::sample_result();
  const auto results = nlohmann::json::parse(gradescope(result));
  CHECK_FALSE(results["tests"][2].contains("score"));
  CHECK_FALSE(results["tests"][2].contains("status"));
  CHECK(results["tests"][2]["extra_data"]["status"] == "not run");
  CHECK(holds(junit(result), "<skipped type=\"no_counters\" message=\"the device `gpu` does not"));
  CHECK(holds(markdown(result), "| not run |"));
  CHECK_FALSE(holds(github(result), "far too long"));
}

TEST_CASE("report: each annotation is one line and points to the student's line") {
  std::istringstream lines(github(tricky_result()));
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    CHECK((line.rfind("::error ", 0) == 0 || line.rfind("::notice ", 0) == 0));
  CHECK(count == 7);
  CHECK(
      holds(github(tricky_result()),
            "\n::error file=labs/a%2Cb%3Ac%25/shuffle.cu,line=3,title=shuffle%3A A1%2C \"quoted\" "
            "| 100%25 <T> (0.33 / 1)::measured: "));
}

TEST_CASE("report: SARIF shows unanswered questions at the first of their lines") {
  GradingResult result = tests::sample_result();
  CheckResult& test = result.labs[0].tests[1];
  REQUIRE(test.status == Status::failed);
  test.file = "coalescing.cu";
  test.line = 0;
  test.message = "Not answered yet: add2_sectors (line 31), add4_sectors (line 32).";
  const auto log = nlohmann::json::parse(sarif(result));
  const auto& place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
  REQUIRE(place.contains("region"));
  CHECK(place["region"]["startLine"] == 31);
}

TEST_CASE("report: the annotation of a file that does not compile points to the first error") {
  GradingResult result = tests::sample_result();
  LabResult broken;
  broken.name = "shuffle";
  broken.status = Status::error;
  broken.tests.emplace_back();
  broken.tests[0].file = "shuffle.cu";
  const auto line_for = [&](const std::string& message) {
    broken.message = message;
    result.labs = {broken};
    const auto log = nlohmann::json::parse(render(result, "sarif"));
    const auto& place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    const int line = place.contains("region") ? place["region"]["startLine"].get<int>() : 0;
    const bool annotated =
        render(result, "github").find(fmt::format("line={},", line)) != std::string::npos;
    CHECK(annotated == (line != 0));
    return line;
  };
  CHECK(
      line_for("shuffle.cu does not compile:\nshuffle.cu(3): warning #1\nshuffle.cu(7): error: x\n"
               "shuffle.cu(9): error: y") == 7);
  CHECK(line_for("shuffle.cu:5:2: error: stray") == 5);
  CHECK(line_for("util.h(4): error: x") == 0);
  CHECK(line_for("it is empty") == 0);
  CHECK(line_for("shuffle.cu: error") == 0);
}

TEST_CASE("report: the error for an unknown format lists the known ones") {
  CHECK_THROWS_WITH_AS(
      render(tests::sample_result(), "xml"),
      "there is no format `xml`; the formats are: text, json, gradescope, autolab, junit, "
      "markdown, github, csv, prairielearn, sarif, classroom50, submitty, codegrade",
      Error);
}

}  // namespace lab32::report
