// GitHub Actions: annotations on the lines of a pull request, and a job's summary.
// https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
// What must be escaped: https://github.com/actions/toolkit, packages/core/src/command.ts.

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "report/render.h"

namespace lab32::report {
namespace {

std::string percent_escaped(const std::string& text, const char* which) {
  std::string out;
  for (const char c : visible(text))
    if (c != '\0' && std::strchr(which, c))
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  return out;
}

std::string command_data(const std::string& text) { return percent_escaped(text, "%\r\n"); }
std::string command_property(const std::string& text) { return percent_escaped(text, "%\r\n:,"); }

std::string annotation(const char* level, const std::string& title, const std::string& file,
                       int line, const std::string& words) {
  std::string where;
  if (!file.empty()) where += "file=" + command_property(file) + ",";
  if (!file.empty() && line > 0) where += fmt::format("line={},", line);
  return fmt::format("::{} {}title={}::{}\n", level, where, command_property(title),
                     command_data(words));
}

// Escapes every character with a meaning in Markdown or HTML.
std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : visible(text))
    if (c == '\n')
      out += "<br>";
    else if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += (std::strchr("\\`*_[]>|~#@:$", c) ? "\\" : "") + std::string(1, c);
  return out;
}

// A fenced block whose fence is longer than any inside the text.
std::string code_block(const std::string& text) {
  const std::string shown = visible(text);
  size_t longest = 2, run = 0;
  for (const char c : shown) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  const std::string fence(longest + 1, '`');
  return fmt::format("{0}text\n{1}{2}{0}\n", fence, shown,
                     shown.empty() || shown.back() != '\n' ? "\n" : "");
}

const char* status_mark(const CheckResult& test) {
  switch (test.status) {
    case Status::passed:
      return "✅";
    case Status::not_run:
      return "⚪";
    default:
      return "❌";
  }
}

std::string markdown_lab(const LabResult& lab) {
  std::string out = "## " + markdown_cell(lab_summary(lab)) + "\n\n";
  if (!lab.message.empty()) out += code_block(lab.message) + "\n";
  const bool ran = lab.status == Status::passed || lab.status == Status::failed;
  if (!ran || lab.tests.empty()) return out;
  out += "| | check | measured | expected | points |\n| --- | --- | --- | --- | ---: |\n";
  for (const CheckResult& test : lab.tests)
    out +=
        fmt::format("| {} | {} | {} | {} | {} |\n", status_mark(test), markdown_cell(test.name),
                    markdown_cell(test.measured), markdown_cell(test.expected), points_text(test));
  out += "\n";
  for (const CheckResult& test : lab.tests) {
    if (test.message.empty()) continue;
    out += fmt::format("**{}** ({})\n\n{}\n", markdown_cell(test.name), points_text(test),
                       code_block(test.message));
  }
  return out;
}

}  // namespace

std::string markdown(const GradingResult& result) {
  std::string out = fmt::format("# lab32: {} / {}\n\n", format_points(result.score),
                                format_points(result.max_score));
  for (const LabResult& lab : result.labs) out += markdown_lab(lab);
  return out + markdown_cell(device_and_seed_text(result)) + "\n";
}

std::string github(const GradingResult& result) {
  std::string out;
  for (const LabResult& lab : result.labs) {
    if (lab.status == Status::not_graded) {
      out += annotation("warning", lab.name + ": not graded", "", 0, lab.message);
      continue;
    }
    if (lab.status == Status::error) {
      // All its checks failed for one reason, which belongs to the lab.
      const LabErrorPlace place = place_of_error(lab);
      out += annotation("error", lab_summary(lab), place.file, place.line, lab.message);
      continue;
    }
    for (const CheckResult& test : lab.tests)
      if (test.status == Status::failed || test.status == Status::error)
        out +=
            annotation("error", fmt::format("{}: {} ({})", lab.name, test.name, points_text(test)),
                       test.file, test.line, reason_with_numbers(test));
  }
  for (const LabResult& lab : result.labs)
    out += annotation(
        "notice", lab.name, "", 0,
        lab_summary(lab) +
            (lab.status == Status::failed && !lab.message.empty() ? "\n" + lab.message : ""));
  return out;
}

}  // namespace lab32::report
