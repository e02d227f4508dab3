#include "app/grade.h"

#include <fmt/core.h>
#include <unistd.h>

#include "app/output.h"
#include "base/error.h"
#include "base/write_file.h"
#include "grading/engine/compiled.h"
#include "grading/engine/watching.h"
#include "grading/timing/calibrate.h"
#include "report/history.h"
#include "report/render.h"

namespace lab32::commands {
namespace {

// Where a student looks at the result.
bool is_an_attempt(const std::string& format, const std::string& output) {
  return format == "text" && output.empty() && isatty(STDOUT_FILENO) == 1;
}

[[noreturn]] void watch(const grading::GradeOptions& options, bool history) {
  report::Style style;
  style.colour = report::wants_colour(STDOUT_FILENO);
  const auto show = [&](const report::Result& result, const std::string& changes) {
    // First: who has read it may end this.
    if (history) report::keep_in_history(options.dir, result, report::now());
    print("\n" + report::text(result, style) + "\n" + changes);
    print(fmt::format("watching {}; Ctrl-C ends this\n", options.dir.string()));
  };
  grading::watch(options, show, complain);
}

}  // namespace

int grade(const GradeCommand& command, const grading::GradeOptions& options) {
  const auto& [format, output, json, watches, keeps_history] = command;
  const bool history =
      report::wants_history() && (keeps_history || watches || is_an_attempt(format, output));
  if (watches) {
    if (format != "text" || !output.empty() || !json.empty())
      throw Error("--watch prints the text: it goes without --format, -o and --json");
    watch(options, history);
  }
  if (!output.empty()) check_writable(output, "-o");
  if (!json.empty()) check_writable(json, "--json");
  const report::Result result = grading::grade(options);
  if (history) report::keep_in_history(options.dir, result, report::now());
  if (result.complete() && result.max_score <= 0)
    throw Error(fmt::format("no check could be run on {}; try --device sim", result.device));
  report::Style style;
  style.colour = output.empty() && report::wants_colour(STDOUT_FILENO);
  const std::string text = report::render(result, format, style);
  if (output.empty())
    print(text);
  else
    write_file(output, text, "-o");
  if (!json.empty()) write_file(json, report::json(result), "--json");
  for (const report::Lab& lab : result.labs)
    if (lab.status == report::Status::not_graded)
      complain(fmt::format("{} is not graded: {}", lab.name, lab.message));
  if (!result.complete()) return kNotGraded;
  return result.score < result.max_score ? kPointsLost : kFullMarks;
}

int show_ptx(const std::string& lab, const std::string& file, const std::string& device,
             const std::string& output) {
  if (!output.empty()) check_writable(output, "-o");
  const grading::Ptx ptx = grading::ptx_of(lab, file, device);
  if (!ptx.compiles) {
    complain(ptx.text);
    return kPointsLost;
  }
  if (output.empty())
    print(ptx.text);
  else
    write_file(output, ptx.text, "-o");
  return kFullMarks;
}

int calibrate(const std::vector<std::string>& labs, const std::string& rubric,
              const std::string& output) {
  if (!output.empty()) check_writable(output, "-o");
  const std::string text = grading::text_of(grading::calibrate(labs, rubric));
  if (output.empty())
    print(text);
  else
    write_file(output, text, "-o");
  return kFullMarks;
}

}  // namespace lab32::commands
