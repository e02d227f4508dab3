// Formats of learning platforms: Gradescope's results.json
// (https://gradescope-autograders.readthedocs.io/en/latest/specs/); Autolab's last line of
// standard output, with a score for each problem of the assessment
// (https://docs.autolabproject.com/lab/); and
// PrairieLearn's results.json of an external grader
// (https://prairielearn.readthedocs.io/en/latest/externalGrading/#grading-results), to which
// lab32/autograde.py adds pictures.

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/render.h"

namespace lab32::report {
namespace {

using GradescopeJson = nlohmann::ordered_json;

// Gradescope has no status "not run" or "error": a check that did not run gets no status and no
// points, and an error gets 0 points.
GradescopeJson gradescope_test(const Lab& lab, const Test& test, bool scored) {
  GradescopeJson record = {{"name", fmt::format("{}: {}", lab.name, test.name)},
                           {"name_format", "text"}};
  if (scored && test.status != Status::not_run) {
    record["score"] = test.score;
    record["max_score"] = test.max_score;
    record["status"] = test.status == Status::passed ? "passed" : "failed";
  }
  record["output"] = visible(reason_with_numbers(test));
  record["output_format"] = "text";  // neither HTML nor Markdown nor terminal escapes
  record["visibility"] = test.after_due ? "after_due_date" : "visible";
  record["tags"] = {lab.name};
  record["extra_data"] = {{"status", to_string(test.status)},
                          {"bonus", test.bonus},
                          {"seconds", test.seconds},
                          {"file", visible(test.file)},
                          {"line", test.line}};
  return record;
}

std::string gradescope_summary(const Result& result) {
  std::string summary;
  for (const Lab& lab : result.labs) {
    summary += lab_in_words(lab) + "\n";
    if (!lab.message.empty()) summary += lab.message + "\n";
  }
  return visible(summary + origin_of(result));
}

}  // namespace

std::string gradescope(const Result& result) {
  // Without a score Gradescope reports a failure of the autograder, so no student gets 0 points for
  // a full disk.
  const bool scored = result.complete();
  GradescopeJson tests = GradescopeJson::array(), leaderboard = GradescopeJson::array();
  double seconds = 0;
  for (const Lab& lab : result.labs) {
    if (scored) leaderboard.push_back({{"name", lab.name}, {"value", lab.score}});
    for (const Test& test : lab.tests) {
      tests.push_back(gradescope_test(lab, test, scored));
      seconds += test.seconds;
    }
  }
  GradescopeJson record;
  if (scored) record["score"] = result.score;
  record["execution_time"] = seconds;
  record["output"] = gradescope_summary(result);
  record["output_format"] = "text";
  record["visibility"] = "visible";
  record["stdout_visibility"] = "hidden";
  record["tests"] = tests;
  if (scored) record["leaderboard"] = leaderboard;
  record["extra_data"] = {{"device", result.device},
                          {"timer", result.timer},
                          {"seed", std::to_string(result.seed)},
                          {"max_score", result.max_score}};
  return record.dump(2, ' ', false, GradescopeJson::error_handler_t::replace) + "\n";
}

std::string autolab(const Result& result) {
  nlohmann::ordered_json scores = nlohmann::ordered_json::object();
  // A problem that is not listed keeps its earlier score, if it has one.
  for (const Lab& lab : result.labs)
    if (lab.status != Status::not_graded) scores[lab.name] = lab.score;
  const nlohmann::ordered_json line = {{"scores", scores}};
  return text(result) + "\n" +
         line.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

namespace {

using PrairieLearnJson = nlohmann::ordered_json;

// A check that did not run is worth 0 of 0 points.
PrairieLearnJson prairielearn_test(const Lab& lab, const Test& test) {
  const bool ran = test.status != Status::not_run;
  PrairieLearnJson record = {{"name", visible(lab.name + ": " + test.name)},
                             {"points", ran ? test.score : 0},
                             {"max_points", ran ? test.max_score : 0},
                             {"message", visible(test.message)}};
  if (!test.measured.empty() || !test.expected.empty())
    record["output"] =
        visible("measured: " + test.measured + "\nexpected: " + test.expected + "\n");
  return record;
}

}  // namespace

std::string prairielearn(const Result& result) {
  std::string summary, failures;
  PrairieLearnJson tests = PrairieLearnJson::array();
  for (const Lab& lab : result.labs) {
    summary += lab_in_words(lab) + "\n";
    if (!lab.message.empty()) summary += lab.message + "\n";
    if (lab.status == Status::not_graded)
      failures += lab.name + " is not graded: " + lab.message + "\n";
    for (const Test& test : lab.tests) tests.push_back(prairielearn_test(lab, test));
  }
  PrairieLearnJson record = {{"gradable", result.complete()}};
  // A fault of the machine costs neither points nor an attempt.
  if (result.complete())
    record["score"] =
        result.max_score > 0 ? std::clamp(result.score / result.max_score, 0.0, 1.0) : 0.0;
  else
    record["format_errors"] = {visible(failures)};
  record["message"] = visible(summary);
  record["output"] = visible(origin_of(result)) + "\n";
  record["tests"] = tests;
  return record.dump(2, ' ', false, PrairieLearnJson::error_handler_t::replace) + "\n";
}

}  // namespace lab32::report
