#include "report/render.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "base/environment.h"
#include "base/error.h"

namespace lab32::report {

const char* to_string(Status status) {
  switch (status) {
    case Status::passed:
      return "passed";
    case Status::failed:
      return "failed";
    case Status::not_run:
      return "not run";
    case Status::error:
      return "error";
    case Status::not_graded:
      return "not graded";
  }
  return "error";
}

const char* to_string(CheckFailureReason::Kind kind) {
  switch (kind) {
    case CheckFailureReason::Kind::wrong_result:
      return "wrong_result";
    case CheckFailureReason::Kind::fault:
      return "fault";
    case CheckFailureReason::Kind::hazard:
      return "hazard";
    case CheckFailureReason::Kind::changed_input:
      return "changed_input";
    case CheckFailureReason::Kind::missing:
      return "missing";
    case CheckFailureReason::Kind::invalid:
      return "invalid";
    case CheckFailureReason::Kind::wrong_answer:
      return "wrong_answer";
    case CheckFailureReason::Kind::prerequisite:
      return "prerequisite";
    case CheckFailureReason::Kind::wasteful:
      return "wasteful";
    case CheckFailureReason::Kind::shared_memory:
      return "shared_memory";
    case CheckFailureReason::Kind::other_version:
      return "other_version";
    case CheckFailureReason::Kind::uncountable:
      return "uncountable";
    case CheckFailureReason::Kind::slow:
      return "slow";
    case CheckFailureReason::Kind::impossible_time:
      return "impossible_time";
    case CheckFailureReason::Kind::time_limit:
      return "time_limit";
  }
  return "wrong_result";
}

const char* to_string(NotRunReason::Kind kind) {
  switch (kind) {
    case NotRunReason::Kind::no_gpu:
      return "no_gpu";
    case NotRunReason::Kind::no_counters:
      return "no_counters";
    case NotRunReason::Kind::no_reference:
      return "no_reference";
    case NotRunReason::Kind::no_such_step:
      return "no_such_step";
    case NotRunReason::Kind::hidden:
      return "hidden";
  }
  return "no_gpu";
}

namespace {

struct ReportFormat {
  const char* name;
  std::string (*render)(const GradingResult&);  // null for the text format, which takes a style
};

constexpr ReportFormat kFormats[] = {
    {"text", nullptr},
    {"json", json},
    {"gradescope", gradescope},
    {"autolab", autolab},
    {"junit", junit},
    {"markdown", markdown},
    {"github", github},
    {"csv", csv},
    {"prairielearn", prairielearn},
    {"sarif", sarif},
    {"classroom50", classroom50},
    {"submitty", submitty},
    {"codegrade", codegrade},
};

}  // namespace

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const ReportFormat& format : kFormats) all.emplace_back(format.name);
    return all;
  }();
  return names;
}

std::string render(const GradingResult& result, const std::string& format,
                   const ReportStyle& style) {
  for (const ReportFormat& known : kFormats)
    if (known.name == format) return known.render ? known.render(result) : text(result, style);
  throw Error(fmt::format("there is no format `{}`; the formats are: {}", format,
                          fmt::join(format_names(), ", ")));
}

std::string format_points(double value) {
  std::string digits = fmt::format("{:.2f}", value);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

bool wants_colour(int file_descriptor) {
  return isatty(file_descriptor) && environment_value(variables::kNoColor).empty() &&
         is_set(variables::kTerminal) && environment_value(variables::kTerminal) != "dumb";
}

std::string points_text(const CheckResult& test) {
  if (test.status == Status::not_run) return to_string(test.status);
  return format_points(test.score) + " / " + format_points(test.max_score);
}

std::string lab_summary(const LabResult& lab) {
  return lab.name + ": " +
         (lab.status == Status::not_graded
              ? to_string(lab.status)
              : format_points(lab.score) + " / " + format_points(lab.max_score));
}

LabErrorPlace place_of_error(const LabResult& lab) {
  LabErrorPlace place{lab.tests.empty() ? "" : lab.tests.front().file};
  if (place.file.empty()) return place;
  // nvcc writes FILE(LINE): error, the host's compiler FILE:LINE:COLUMN: error.
  std::istringstream lines(lab.message);
  for (std::string line; place.line == 0 && std::getline(lines, line);)
    if (line.rfind(place.file, 0) == 0 && line.find(": error") != std::string::npos)
      place.line = std::atoi(line.c_str() + std::min(place.file.size() + 1, line.size()));
  return place;
}

std::string device_and_seed_text(const GradingResult& result) {
  // The text says whether counts are a simulator's or a card's.
  const bool simulated = result.device.compare(0, 3, "sim") == 0;
  return fmt::format("{}{}{}, seed {}", result.device, simulated ? " (simulated counts)" : "",
                     result.timer.empty() ? "" : ", " + result.timer + " (measured times)",
                     result.seed);
}

std::string reason_with_numbers(const CheckResult& test) {
  std::string text;
  if (!test.measured.empty()) text += "measured: " + test.measured + "\n";
  if (!test.expected.empty()) text += "expected: " + test.expected + "\n";
  if (!test.message.empty() && !text.empty()) text += "\n";
  return text + test.message;
}

}  // namespace lab32::report
