// The formats of learning platforms. A result that is not complete never says 0 points: a fault of
// the machine costs no student anything.
//
// Gradescope: https://gradescope-autograders.readthedocs.io/en/latest/specs/
// Autolab: https://docs.autolabproject.com/lab/
// PrairieLearn: https://prairielearn.readthedocs.io/en/latest/externalGrading/#grading-results
// Classroom 50: https://github.com/foundation50/classroom50, schemas/result-v1.schema.json
// Submitty: https://submitty.org/instructor/autograding/validation, Python Custom Validation
// CodeGrade: https://codegrade.com/blog/how-to-use-custom-test-blocks
//
// lab32/autograde.py adds pictures for PrairieLearn, and the repository for Classroom 50.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/render.h"

namespace lab32::report {
namespace {

using AutograderJson = nlohmann::ordered_json;

// Gradescope has no status "not run" or "error": a check that did not run gets no status and no
// points, and an error gets 0 points.
AutograderJson gradescope_test(const LabResult& lab, const CheckResult& test, bool scored) {
  AutograderJson record = {{"name", fmt::format("{}: {}", lab.name, test.name)},
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

std::string lab_summaries_text(const GradingResult& result) {
  std::string summary;
  for (const LabResult& lab : result.labs) {
    summary += lab_summary(lab) + "\n";
    if (!lab.message.empty()) summary += lab.message + "\n";
  }
  return summary;
}

std::string ungraded_lab_messages_text(const GradingResult& result) {
  std::string faults;
  for (const LabResult& lab : result.labs)
    if (lab.status == Status::not_graded)
      faults += lab.name + " is not graded: " + lab.message + "\n";
  return visible(faults);
}

// From 0 to 1.
double share_of_points(const GradingResult& result) {
  return result.max_score > 0 ? std::clamp(result.score / result.max_score, 0.0, 1.0) : 0.0;
}

std::string json_text(const AutograderJson& record) {
  return record.dump(2, ' ', false, AutograderJson::error_handler_t::replace) + "\n";
}

// A check that did not run is worth 0 of 0 points.
AutograderJson prairielearn_test(const LabResult& lab, const CheckResult& test) {
  const bool ran = test.status != Status::not_run;
  AutograderJson record = {{"name", visible(lab.name + ": " + test.name)},
                           {"points", ran ? test.score : 0},
                           {"max_points", ran ? test.max_score : 0},
                           {"message", visible(test.message)}};
  if (!test.measured.empty() || !test.expected.empty())
    record["output"] =
        visible("measured: " + test.measured + "\nexpected: " + test.expected + "\n");
  return record;
}

// Whole points for a platform that takes no others. Each check gets the whole points by which it
// raises the sum, so that the sum loses less than one point.
class CumulativePointRounding {
 public:
  int64_t next_whole_points(double points) {
    sum_ = add_points(sum_, points);
    const auto whole = static_cast<int64_t>(std::floor(sum_)), more = whole - given_;
    given_ = whole;
    return more;
  }

 private:
  double sum_ = 0;
  int64_t given_ = 0;
};

}  // namespace

std::string gradescope(const GradingResult& result) {
  // Without a score Gradescope reports a failure of the autograder, so no student gets 0 points for
  // a full disk.
  const bool scored = result.all_labs_graded();
  AutograderJson tests = AutograderJson::array(), leaderboard = AutograderJson::array();
  double seconds = 0;
  for (const LabResult& lab : result.labs) {
    if (scored) leaderboard.push_back({{"name", lab.name}, {"value", lab.score}});
    for (const CheckResult& test : lab.tests) {
      tests.push_back(gradescope_test(lab, test, scored));
      seconds += test.seconds;
    }
  }
  AutograderJson record;
  if (scored) record["score"] = result.score;
  record["execution_time"] = seconds;
  record["output"] = visible(lab_summaries_text(result) + device_and_seed_text(result));
  record["output_format"] = "text";
  record["visibility"] = "visible";
  record["stdout_visibility"] = "hidden";
  record["tests"] = tests;
  if (scored) record["leaderboard"] = leaderboard;
  record["extra_data"] = {{"device", result.device},
                          {"timer", result.timer},
                          {"seed", std::to_string(result.seed)},
                          {"max_score", result.max_score}};
  return json_text(record);
}

std::string prairielearn(const GradingResult& result) {
  AutograderJson tests = AutograderJson::array();
  for (const LabResult& lab : result.labs)
    for (const CheckResult& test : lab.tests) tests.push_back(prairielearn_test(lab, test));
  AutograderJson record = {{"gradable", result.all_labs_graded()}};
  if (result.all_labs_graded())
    record["score"] = share_of_points(result);
  else
    record["format_errors"] = {ungraded_lab_messages_text(result)};
  record["message"] = visible(lab_summaries_text(result));
  record["output"] = visible(device_and_seed_text(result)) + "\n";
  record["tests"] = tests;
  return json_text(record);
}

std::string classroom50(const GradingResult& result) {
  AutograderJson record = {{"schema", "classroom50/result/v1"}};
  if (!result.all_labs_graded()) {
    record["error"] = ungraded_lab_messages_text(result);
    return json_text(record);
  }
  AutograderJson tests = AutograderJson::array();
  CumulativePointRounding scores, most;
  int64_t score = 0, max_score = 0;
  const auto add = [&](const std::string& name, const CheckResult& test) {
    const int64_t limit = most.next_whole_points(test.max_score),
                  points = std::min(scores.next_whole_points(test.score), limit);
    tests.push_back({{"test-name", visible(name)},
                     {"passed", test.status == Status::passed},
                     {"score", points},
                     {"max-score", limit},
                     {"message", visible(reason_with_numbers(test))}});
    score += points;
    max_score += limit;
  };
  for (const LabResult& lab : result.labs) {
    if (lab.tests.empty()) {  // it could not be run
      CheckResult whole;
      whole.status = lab.status;
      whole.score = lab.score;
      whole.max_score = lab.max_score;
      whole.message = lab.message;
      add(lab.name, whole);
    }
    for (const CheckResult& test : lab.tests)
      if (test.status != Status::not_run) add(lab.name + ": " + test.name, test);
  }
  record["score"] = score;
  record["max-score"] = max_score;
  record["tests"] = tests;
  return json_text(record);
}

std::string submitty(const GradingResult& result) {
  if (!result.all_labs_graded())
    return json_text({{"status", "fail"}, {"message", ungraded_lab_messages_text(result)}});
  const double share = share_of_points(result);
  return json_text({{"status", "success"},
                    {"data",
                     {{"score", share},
                      {"message", text(result)},
                      {"status", share < 1 ? "failure" : "success"}}}});
}

std::string codegrade(const GradingResult& result) {
  AutograderJson record = {{"error", ungraded_lab_messages_text(result)}};
  if (result.all_labs_graded())
    record = {{"tag", "points"},
              {"points", fmt::format("{}/{}", std::llround(100 * result.score),
                                     std::max(std::llround(100 * result.max_score), 1LL))}};
  return record.dump(-1, ' ', true, AutograderJson::error_handler_t::replace) + "\n";
}

std::string autolab(const GradingResult& result) {
  AutograderJson scores = AutograderJson::object();
  // A lab is a problem in Autolab's words. One that is not listed keeps its earlier score.
  for (const LabResult& lab : result.labs)
    if (lab.status != Status::not_graded) scores[lab.name] = lab.score;
  const AutograderJson line = {{"scores", scores}};
  return text(result) + "\n" + line.dump(-1, ' ', true, AutograderJson::error_handler_t::replace) +
         "\n";
}

}  // namespace lab32::report
