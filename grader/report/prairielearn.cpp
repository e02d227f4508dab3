// PrairieLearn's results.json of an external grader:
// https://prairielearn.readthedocs.io/en/latest/externalGrading/#grading-results. Pictures are
// added by lab32/autograde.py.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/render.h"

namespace lab32::report {
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
