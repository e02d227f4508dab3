// SARIF 2.1.0, which code hosts and editors show beside the source:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/. Each lost check is a result, each check a rule.

#include <fmt/core.h>

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/render.h"

namespace lab32::report {
namespace {

using SarifJson = nlohmann::ordered_json;

constexpr const char* kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";

// A URI reference (RFC 3986) of a path.
std::string file_uri(const std::string& path) {
  std::string uri = !path.empty() && path[0] == '/' ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= 'a' && byte <= 'z') || (c != '\0' && std::strchr("-._~/", c));
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

SarifJson sarif_location(const std::string& file, int line) {
  SarifJson place = {{"artifactLocation", {{"uri", file_uri(file)}}}};
  if (line > 0) place["region"] = {{"startLine", line}};
  return {{"physicalLocation", place}};
}

SarifJson sarif_result(const std::string& rule, const std::string& message, const std::string& file,
                       int line) {
  SarifJson record = {
      {"ruleId", rule}, {"level", "error"}, {"message", {{"text", visible(message)}}}};
  if (!file.empty()) record["locations"] = {sarif_location(file, line)};
  return record;
}

// Questions that are not answered are lost at several lines, of which the message lists each:
// "Not answered yet: idle_33 (line 133), ...". A result is shown at the first. 0: there is none.
int line_of_result(const CheckResult& test) {
  const std::string mark = "(line ";
  const size_t at = test.message.find(mark);
  if (test.line > 0 || at == std::string::npos) return test.line;
  return std::atoi(test.message.c_str() + at + mark.size());
}

class SarifRun {
 public:
  void add_lab(const LabResult& lab) {
    if (lab.status == Status::not_graded) {
      notifications_.push_back(
          {{"level", "error"}, {"message", {{"text", visible(lab.name + ": " + lab.message)}}}});
      return;
    }
    // All checks of a lab that did not compile failed for one reason.
    if (lab.status == Status::error) {
      const LabErrorPlace place = place_of_error(lab);
      add_result(
          lab.name, lab.name,
          sarif_result(lab.name, lab_summary(lab) + "\n" + lab.message, place.file, place.line),
          {lab.score, lab.max_score});
      return;
    }
    for (const CheckResult& test : lab.tests) {
      if (test.status != Status::failed && test.status != Status::error) continue;
      const std::string rule = lab.name + "/" + test.name;
      const std::string text = points_text(test) + " points\n" + reason_with_numbers(test);
      add_result(rule, lab.name + ": " + test.name,
                 sarif_result(rule, text, test.file, line_of_result(test)),
                 {test.score, test.max_score});
    }
  }

  SarifJson run_record(const GradingResult& result) const {
    return {{"tool", {{"driver", {{"name", "lab32"}, {"rules", rules_}}}}},
            {"invocations",
             {{{"executionSuccessful", result.all_labs_graded()},
               {"toolExecutionNotifications", notifications_}}}},
            {"results", results_},
            {"columnKind", "unicodeCodePoints"},
            {"properties",
             {{"score", result.score},
              {"max_score", result.max_score},
              {"origin", visible(device_and_seed_text(result))}}}};
  }

 private:
  struct Points {
    double score, max_score;
  };

  void add_result(const std::string& rule, const std::string& words, SarifJson record,
                  Points points) {
    record["ruleIndex"] = rules_.size();
    record["properties"] = {{"score", points.score}, {"max_score", points.max_score}};
    results_.push_back(std::move(record));
    rules_.push_back({{"id", rule}, {"shortDescription", {{"text", visible(words)}}}});
  }

  SarifJson rules_ = SarifJson::array(), results_ = SarifJson::array(),
            notifications_ = SarifJson::array();
};

}  // namespace

std::string sarif(const GradingResult& result) {
  SarifRun run;
  for (const LabResult& lab : result.labs) run.add_lab(lab);
  const SarifJson log = {
      {"$schema", kSchema}, {"version", "2.1.0"}, {"runs", {run.run_record(result)}}};
  return log.dump(2, ' ', false, SarifJson::error_handler_t::replace) + "\n";
}

}  // namespace lab32::report
