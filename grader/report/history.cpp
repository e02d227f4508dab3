#include "report/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "report/render.h"

namespace lab32::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kMostAttempts = 200;  // attempts per lab
constexpr uintmax_t kLargestHistory = 64 << 20;

Json attempt_record(const GradingResult& result, const LabResult& lab, const std::string& when) {
  Json checks = Json::object();
  for (const CheckResult& test : lab.tests) {
    if (test.status == Status::not_run) continue;
    Json figures = Json::object();
    for (const auto& [name, value] : test.figures)
      if (std::isfinite(value)) figures[name] = value;
    checks[test.name] = {{"status", to_string(test.status)},
                         {"score", test.score},
                         {"measured", visible(test.measured)},
                         {"figures", figures}};
  }
  return {{"time", when},
          {"lab", lab.name},
          {"device", result.device},
          {"score", lab.score},
          {"max_score", lab.max_score},
          {"checks", checks}};
}

// Whether the text nests deeper than an attempt does. A value that nests much deeper would overflow
// the stack when it is written.
bool nests_too_deeply(const std::string& line) {
  constexpr int kDeepest = 16;
  int depth = 0;
  for (const char c : line) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (depth > kDeepest) return true;
  }
  return false;
}

// The first answer to each question of the lab (kPrediction): those that the last attempt has kept,
// and the answers to other questions in this one.
Json first_predictions(const std::vector<Json>& kept, const LabResult& lab) {
  Json first = Json::object();
  for (const Json& attempt : kept)
    if (attempt["lab"] == lab.name && attempt.contains("predictions") &&
        attempt["predictions"].is_object())
      first = attempt["predictions"];
  for (const CheckResult& test : lab.tests)
    for (const auto& [name, value] : test.figures)
      if (name.rfind(kPrediction, 0) == 0 && std::isfinite(value) && !first.contains(name))
        first[name] = value;
  return first;
}

// A pipe would be waited for, and a device may never end.
bool is_regular_file_of_allowed_size(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && fs::file_size(file, error) <= kLargestHistory;
}

// Invalid lines are ignored, since the student can edit the file.
std::vector<Json> read_graded_attempts(const fs::path& file) {
  std::vector<Json> attempts;
  if (!is_regular_file_of_allowed_size(file)) return attempts;
  std::istringstream in(read_file(file).value_or(""));
  for (std::string line; std::getline(in, line);) {
    if (nests_too_deeply(line)) continue;
    Json attempt = Json::parse(line, nullptr, false);
    if (attempt.is_object() && attempt.contains("lab") && attempt["lab"].is_string() &&
        attempt.contains("checks"))
      attempts.push_back(std::move(attempt));
  }
  return attempts;
}

bool equals_last_attempt(const std::vector<Json>& kept, const Json& attempt) {
  for (auto at = kept.rbegin(); at != kept.rend(); ++at)
    if ((*at)["lab"] == attempt["lab"]) return (*at)["checks"] == attempt["checks"];
  return false;
}

const CheckResult* test_with_same_name(const LabResult& lab, const CheckResult& test) {
  const auto at = std::find_if(lab.tests.begin(), lab.tests.end(),
                               [&](const CheckResult& other) { return other.name == test.name; });
  return at == lab.tests.end() ? nullptr : &*at;
}

std::string measurement_text(const CheckResult& test) {
  return test.measured.empty() ? to_string(test.status) : visible(test.measured);
}

std::string points_change_text(double before, double after) {
  if (after == before) return "";
  return fmt::format(" ({}{})", after > before ? "+" : "-",
                     format_points(std::abs(after - before)));
}

}  // namespace

bool history_enabled() { return environment_value(variables::kHistory) != "off"; }

std::string current_time() {
  const std::time_t seconds = std::time(nullptr);
  std::tm local{};
  localtime_r(&seconds, &local);
  const long minutes = local.tm_gmtoff / 60;
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local);
  return fmt::format("{}{}{:02}:{:02}", text, minutes < 0 ? '-' : '+', std::labs(minutes) / 60,
                     std::labs(minutes) % 60);
}

void append_to_history(const fs::path& directory, const GradingResult& result,
                       const std::string& when) {
  const fs::path file = directory / ".lab32" / "history";
  std::error_code error;
  if (fs::exists(file, error) && !is_regular_file_of_allowed_size(file)) return;
  std::vector<Json> kept = read_graded_attempts(file);
  bool more = false;
  for (const LabResult& lab : result.labs) {
    if (lab.status == Status::not_graded) continue;
    Json attempt = attempt_record(result, lab, when);
    if (equals_last_attempt(kept, attempt)) continue;
    attempt["predictions"] = first_predictions(kept, lab);
    kept.push_back(std::move(attempt));
    more = true;
  }
  if (!more) return;
  std::map<std::string, size_t> count;
  for (const Json& attempt : kept) ++count[attempt["lab"].get<std::string>()];
  std::string text;
  for (const Json& attempt : kept)
    if (count[attempt["lab"].get<std::string>()]-- <= kMostAttempts)
      text += attempt.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  fs::create_directories(file.parent_path(), error);
  try {
    write_file(file.string(), text, "the history");
  } catch (const Error&) {  // a folder that cannot be written does not prevent the grading
  }
}

std::string result_changes_text(const GradingResult& before, const GradingResult& after) {
  std::string text;
  for (const LabResult& lab : after.labs) {
    const auto old = std::find_if(before.labs.begin(), before.labs.end(),
                                  [&](const LabResult& other) { return other.name == lab.name; });
    // A lab that does not compile has a message, and its checks have not been measured.
    if (old == before.labs.end() || lab.status == Status::error) continue;
    std::string lines;
    for (const CheckResult& test : lab.tests) {
      const CheckResult* was = test_with_same_name(*old, test);
      if (!was || (was->measured == test.measured && was->score == test.score &&
                   was->status == test.status))
        continue;
      lines += fmt::format("  {}: {} -> {}{}\n", test.name, measurement_text(*was),
                           measurement_text(test), points_change_text(was->score, test.score));
    }
    if (!lines.empty())
      text += fmt::format("{}: {} -> {} of {} points\n", lab.name, format_points(old->score),
                          format_points(lab.score), format_points(lab.max_score)) +
              lines;
  }
  return text;
}

}  // namespace lab32::report
