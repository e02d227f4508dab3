#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "pictures/picture.h"
#include "report/render.h"

namespace lab32::report {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of the schema, so that results diff well

// Prints whole numbers as integers: a count of sectors should not read 1048576.0.
Json json_number(double value) {
  if (std::isfinite(value) && value == std::floor(value) && std::abs(value) < 9e15)
    return static_cast<int64_t>(value);
  return value;
}

Json json_number_or_null(const std::optional<double>& value) {
  return value ? json_number(*value) : Json(nullptr);
}

Json access_record(const std::optional<CheckFailureReason::FaultOrHazardAccess>& access) {
  if (!access) return nullptr;
  const CheckFailureReason::FaultOrHazardAccess& a = *access;
  return {{"block", a.block},
          {"thread", a.thread},
          {"object", visible(a.object)},
          {"offset", a.offset ? Json(*a.offset) : Json(nullptr)},
          {"element", a.element ? Json(*a.element) : Json(nullptr)},
          {"bytes", a.bytes},
          {"other_line", a.other_line},
          {"other_block", a.other_block},
          {"other_thread", a.other_thread}};
}

Json failure_record(const std::optional<CheckFailureReason>& failure) {
  if (!failure) return nullptr;
  const CheckFailureReason& f = *failure;
  return {{"kind", to_string(f.kind)},
          {"setting", f.setting},
          {"subject", visible(f.subject)},
          {"detail", visible(f.detail)},
          {"index", f.index ? Json(*f.index) : Json(nullptr)},
          {"measured", json_number_or_null(f.measured)},
          {"expected", json_number_or_null(f.expected)},
          {"access", access_record(f.access)}};
}

Json modelled_time_record(const std::optional<NotRunReason::ModelledTime>& modelled) {
  if (!modelled) return nullptr;
  return {{"n", modelled->n},
          {"seconds", modelled->seconds},
          {"error", modelled->error},
          {"bottleneck", modelled->bottleneck},
          {"seconds_before", json_number_or_null(modelled->seconds_before)},
          {"copy_seconds", json_number_or_null(modelled->copy_seconds)},
          {"fraction", json_number_or_null(modelled->fraction)}};
}

Json pictures_record(const CheckResult& test) {
  if (!test.withheld_until.empty()) return {{"withheld_until", test.withheld_until}};
  return test.pictures ? pictures::to_json(*test.pictures) : Json(nullptr);
}

Json not_run_record(const std::optional<NotRunReason>& reason) {
  if (!reason) return nullptr;
  return {{"kind", to_string(reason->kind)},
          {"device", reason->device},
          {"gain", json_number(reason->gain)},
          {"least_gain", json_number(reason->least_gain)},
          {"modelled", modelled_time_record(reason->modelled)}};
}

Json test_record(const CheckResult& test) {
  Json figures = Json::object();
  for (const auto& [name, value] : test.figures) figures[name] = json_number(value);
  return {{"name", test.name},
          {"status", to_string(test.status)},
          {"bonus", test.bonus},
          {"score", json_number(test.score)},
          {"max_score", json_number(test.max_score)},
          {"measured", visible(test.measured)},
          {"expected", visible(test.expected)},
          {"message", visible(test.message)},
          {"file", visible(test.file)},
          {"line", test.line},
          {"seconds", json_number(test.seconds)},
          {"failure", failure_record(test.failure)},
          {"not_run", not_run_record(test.not_run)},
          {"figures", figures},
          {"pictures", pictures_record(test)}};
}

Json lab_record(const LabResult& lab) {
  Json tests = Json::array();
  for (const CheckResult& test : lab.tests) tests.push_back(test_record(test));
  return {{"lab", lab.name},
          {"status", to_string(lab.status)},
          {"message", visible(lab.message)},
          {"score", json_number(lab.score)},
          {"max_score", json_number(lab.max_score)},
          {"tests", tests}};
}

}  // namespace

std::string json(const GradingResult& result) {
  Json labs = Json::array();
  for (const LabResult& lab : result.labs) labs.push_back(lab_record(lab));
  const Json record = {{"schema", "lab32-result/2"},
                       {"device", result.device},
                       {"timer", result.timer},
                       {"seed", result.seed},
                       {"complete", result.all_labs_graded()},
                       {"score", json_number(result.score)},
                       {"max_score", json_number(result.max_score)},
                       {"labs", labs}};
  // Invalid UTF-8 is replaced: text that has not passed through visible() may contain it.
  return record.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lab32::report
