// What Autolab reads of an autograder: the last line of standard output
// (https://docs.autolabproject.com/lab/), a score for each problem of the assessment.

#include <nlohmann/json.hpp>

#include "report/render.h"

namespace lab32::report {

std::string autolab(const Result& result) {
  nlohmann::ordered_json scores = nlohmann::ordered_json::object();
  // A problem that is not named keeps the score it had: none, or that of an earlier run.
  for (const Lab& lab : result.labs)
    if (lab.status != Status::not_graded) scores[lab.name] = lab.score;
  const nlohmann::ordered_json line = {{"scores", scores}};
  return text(result) + "\n" +
         line.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace lab32::report
