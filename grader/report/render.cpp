#include "report/render.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cmath>

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

const char* to_string(Failure::Kind kind) {
  switch (kind) {
    case Failure::Kind::wrong_result:
      return "wrong_result";
    case Failure::Kind::fault:
      return "fault";
    case Failure::Kind::hazard:
      return "hazard";
    case Failure::Kind::changed_input:
      return "changed_input";
    case Failure::Kind::missing:
      return "missing";
    case Failure::Kind::invalid:
      return "invalid";
    case Failure::Kind::wrong_answer:
      return "wrong_answer";
    case Failure::Kind::prerequisite:
      return "prerequisite";
    case Failure::Kind::wasteful:
      return "wasteful";
    case Failure::Kind::shared_memory:
      return "shared_memory";
    case Failure::Kind::other_version:
      return "other_version";
    case Failure::Kind::uncountable:
      return "uncountable";
    case Failure::Kind::slow:
      return "slow";
    case Failure::Kind::impossible_time:
      return "impossible_time";
    case Failure::Kind::time_limit:
      return "time_limit";
  }
  return "wrong_result";
}

const char* to_string(NotRun::Kind kind) {
  switch (kind) {
    case NotRun::Kind::no_gpu:
      return "no_gpu";
    case NotRun::Kind::no_counters:
      return "no_counters";
    case NotRun::Kind::no_reference:
      return "no_reference";
    case NotRun::Kind::no_such_step:
      return "no_such_step";
    case NotRun::Kind::hidden:
      return "hidden";
  }
  return "no_gpu";
}

namespace {

struct Format {
  const char* name;
  std::string (*render)(const Result&);  // null for the text format, which takes a style
};

constexpr Format kFormats[] = {
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
    for (const Format& format : kFormats) all.emplace_back(format.name);
    return all;
  }();
  return names;
}

std::string render(const Result& result, const std::string& format, const Style& style) {
  for (const Format& known : kFormats)
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

std::string points_text(const Test& test) {
  if (test.status == Status::not_run) return to_string(test.status);
  return format_points(test.score) + " / " + format_points(test.max_score);
}

std::string lab_summary(const Lab& lab) {
  return lab.name + ": " +
         (lab.status == Status::not_graded
              ? to_string(lab.status)
              : format_points(lab.score) + " / " + format_points(lab.max_score));
}

std::string device_and_seed_text(const Result& result) {
  // The text says whether counts are a simulator's or a card's.
  const bool simulated = result.device.compare(0, 3, "sim") == 0;
  return fmt::format("{}{}{}, seed {}", result.device, simulated ? " (simulated counts)" : "",
                     result.timer.empty() ? "" : ", " + result.timer + " (measured times)",
                     result.seed);
}

std::string reason_with_numbers(const Test& test) {
  std::string text;
  if (!test.measured.empty()) text += "measured: " + test.measured + "\n";
  if (!test.expected.empty()) text += "expected: " + test.expected + "\n";
  if (!test.message.empty() && !text.empty()) text += "\n";
  return text + test.message;
}

}  // namespace lab32::report
