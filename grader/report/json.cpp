#include <cmath>
#include <nlohmann/json.hpp>

#include "report/render.h"

namespace lab32::report {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of the schema, so that results diff well

// Whole numbers print as such: readers of a sector count should not meet 1048576.0.
Json number(double value) {
  if (std::isfinite(value) && value == std::floor(value) && std::abs(value) < 9e15)
    return static_cast<int64_t>(value);
  return value;
}

Json test_record(const Test& test) {
  Json figures = Json::object();
  for (const auto& [name, value] : test.figures) figures[name] = number(value);
  return {{"name", test.name},           {"status", to_string(test.status)},
          {"score", number(test.score)}, {"max_score", number(test.max_score)},
          {"measured", test.measured},   {"wanted", test.wanted},
          {"message", test.message},     {"file", test.file},
          {"line", test.line},           {"figures", figures}};
}

Json lab_record(const Lab& lab) {
  Json tests = Json::array();
  for (const Test& test : lab.tests) tests.push_back(test_record(test));
  return {{"lab", lab.name},
          {"status", to_string(lab.status)},
          {"message", lab.message},
          {"score", number(lab.score)},
          {"max_score", number(lab.max_score)},
          {"tests", tests}};
}

}  // namespace

std::string json(const Result& result) {
  Json labs = Json::array();
  for (const Lab& lab : result.labs) labs.push_back(lab_record(lab));
  const Json record = {{"schema", "lab32-result/1"},
                       {"device", result.device},
                       {"stopwatch", result.stopwatch},
                       {"seed", result.seed},
                       {"score", number(result.score)},
                       {"max_score", number(result.max_score)},
                       {"labs", labs}};
  // A student's file may hold any bytes and messages quote it: replace what is not UTF-8.
  return record.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lab32::report
