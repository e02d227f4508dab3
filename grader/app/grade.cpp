// `lab32 grade`: prints and writes results, adds them to the history, and grades again at each save
// (--watch).

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "app/command.h"
#include "asking/question.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "grading/engine/compiled.h"
#include "grading/engine/runner.h"
#include "report/history.h"
#include "report/render.h"

namespace lab32::commands {
namespace {

struct GradeCommandOptions {
  grading::GradeOptions options;
  std::string dir, rubric, course, labs, id;
  std::string format = "text", output, json;  // -o, --json
  bool watches = false, keeps_history = false, pictures = false, all = false;
};

const CLI::Validator kSeconds(
    [](std::string& text) -> std::string {
      const std::string wrong = kWholeNumber(text);
      if (!wrong.empty() || text.find_first_not_of('0') == std::string::npos)
        return text + ": the limit is a whole number of seconds, 1 or more";
      return {};
    },
    "");

// Whether the result is printed for a student on a terminal. Only such results belong to the
// history of attempts.
bool is_text_result_on_terminal(const std::string& format, const std::string& output) {
  return format == "text" && output.empty() && isatty(STDOUT_FILENO) == 1;
}

// On a terminal the text is brief: a student reads the first reasons, and asks for the others.
report::ReportStyle report_brevity_and_colour(const GradeCommandOptions& given) {
  report::ReportStyle style;
  style.command = program_name_as_typed();
  style.colour = given.output.empty() && report::wants_colour(STDOUT_FILENO);
  style.brief = !given.all && given.output.empty() && isatty(STDOUT_FILENO) == 1;
  return style;
}

[[noreturn]] void run_watch(const GradeCommandOptions& given, bool history) {
  const grading::GradeOptions& options = given.options;
  const report::ReportStyle style = report_brevity_and_colour(given);
  const auto show = [&](const report::GradingResult& result, const std::string& changes) {
    // The history is written before the text is printed: a reader that closes the output early ends
    // this process.
    if (history) report::append_to_history(options.dir, result, report::current_time());
    // The changes are left out if the file does not compile: then the compiler's messages are all
    // that a student needs to read.
    const bool compiles = std::none_of(
        result.labs.begin(), result.labs.end(),
        [](const report::LabResult& lab) { return lab.status == report::Status::error; });
    print("\n" + report::text(result, style) + (compiles ? "\n" + changes : ""));
    print(fmt::format("watching {}; Ctrl-C ends this\n", options.dir.string()));
  };
  grading::grade_on_every_save(options, show, print_error);
}

int run_grade(GradeCommandOptions& given) {
  grading::GradeOptions& options = given.options;
  std::optional<ScopedEnvironmentVariable> elsewhere;
  if (!given.labs.empty()) elsewhere.emplace(variables::kLabs, require_labs_folder(given.labs));
  options.dir = !given.dir.empty()    ? given.dir
                : !given.labs.empty() ? given.labs + "/labs"
                                      : nearest_labs_folder();
  options.rubric = given.rubric;
  options.progress = true;
  options.runs_hidden = given.format == "gradescope";  // Gradescope hides them itself
  options.judge_questions = [&](const grading::Rubric& rubric, const std::filesystem::path& file) {
    return asking::grade_answers(rubric, file, given.id);
  };
  resolve_file_arguments(options);
  std::optional<ScratchDirectory> rubrics;
  if (!given.course.empty()) use_course_rubrics(given.course, rubrics.emplace().path, options);
  find_misplaced_files(options);
  if (given.pictures) options.launch_detail.emplace();
  const auto& [format, output, json] = std::tie(given.format, given.output, given.json);
  std::error_code error;
  const bool history =
      report::history_enabled() && std::filesystem::is_directory(options.dir, error) &&
      (given.keeps_history || given.watches || is_text_result_on_terminal(format, output));
  if (given.watches) {
    if (format != "text" || !output.empty() || !json.empty())
      throw Error("--watch prints text: it cannot be combined with --format, -o and --json");
    run_watch(given, history);
  }
  if (!output.empty()) check_writable(output, "-o");
  if (!json.empty()) check_writable(json, "--json");
  const report::GradingResult result = grading::grade(options);
  if (history) report::append_to_history(options.dir, result, report::current_time());
  if (result.all_labs_graded() && result.max_score <= 0)
    throw Error(fmt::format("no check could be run on {}; try --device sim", result.device));
  const std::string text = report::render(result, format, report_brevity_and_colour(given));
  print_or_write(text, output, "-o");
  if (!json.empty()) write_file(json, report::json(result), "--json");
  for (const report::LabResult& lab : result.labs)
    if (lab.status == report::Status::not_graded)
      print_error(fmt::format("{} is not graded: {}", lab.name, lab.message));
  if (!result.all_labs_graded()) return kNotGraded;
  return result.score < result.max_score ? kPointsLost : kFullMarks;
}

}  // namespace

Subcommand grade_command(CLI::App& lab32) {
  const auto given = std::make_shared<GradeCommandOptions>();
  grading::GradeOptions& options = given->options;
  CLI::App* app = lab32.add_subcommand("grade", "grade labs");
  app->add_option("LAB", options.labs, "the labs, or their files (all)");
  app->add_option("--dir", given->dir,
                  "the folder of LAB/LAB.cu, or of what a student handed in (labs, here or above)");
  app->add_option("--rubric", given->rubric, "the folder of LAB.toml (that of this lab32)");
  app->add_option("--course", given->course,
                  "the course's file, which changes points and thresholds (course.toml)");
  app->add_option("--labs", given->labs,
                  "a folder of labs of your own, laid out as this lab32; without LAB, all of them");
  app->add_option("--device", options.device, "auto, sim, sim:NAME or gpu (auto)");
  app->add_option("--seed", options.seed, "repeat the random inputs of an earlier run")
      ->check(kWholeNumber);
  app->add_option(
      "--id", given->id,
      "the student's id, for which the answers to lab32 ask must be (that in answers.toml)");
  app->add_option("--format", given->format,
                  fmt::format("{} (text)", fmt::join(report::format_names(), ", ")))
      ->check(CLI::IsMember(report::format_names()));
  app->add_option("--time-limit", options.time_limit,
                  "seconds for each lab; checks that take longer lose their points (30)")
      ->check(kSeconds);
  app->add_flag("!--no-modelled-times", options.modelled_times,
                "without a GPU, omit the modelled times of timed kernels, which take a third "
                "of the time and give no points");
  app->add_flag("--allow-missing", options.allow_missing,
                "a LAB whose file is missing loses its points");
  app->add_flag("--all", given->all,
                "on a terminal, say why each point is lost; elsewhere this is always said");
  app->add_flag("--watch", given->watches, "grade a lab again whenever its file is saved");
  app->add_flag("--history", given->keeps_history,
                "add the result to DIR/.lab32/history, as on a terminal");
  app->add_flag("--pictures", given->pictures,
                "include the kernels' accesses in the JSON, for `lab32 report`");
  app->add_option("-o", given->output, "write to this file instead of standard output");
  app->add_option("--json", given->json, "write the same result to this file as JSON, too");
  Subcommand command;
  command.app = app;
  command.run = [given] { return run_grade(*given); };
  command.behind = &options.labs;
  command.clean_end = CleanSignalExit::Interrupt::too;
  return command;
}

// ---- lab32 ptx ----

namespace {

struct PtxCommandOptions {
  std::string lab, file, device = "sim", output;
};

int show_ptx(const PtxCommandOptions& options) {
  if (!options.output.empty()) check_writable(options.output, "-o");
  const grading::PtxOrMessages ptx =
      grading::compile_to_ptx(options.lab, options.file, options.device);
  if (!ptx.compiles) {
    print_error(ptx.text);
    return kPointsLost;
  }
  print_or_write(ptx.text, options.output, "-o");
  return kFullMarks;
}

}  // namespace

Subcommand ptx_command(CLI::App& lab32) {
  const auto options = std::make_shared<PtxCommandOptions>();
  Subcommand command;
  command.app = lab32.add_subcommand("ptx", "print the PTX by which a lab's file is graded");
  command.app->add_option("LAB", options->lab, "the lab")->required();
  command.app->add_option("FILE", options->file, "a .cu file of any name")->required();
  command.app->add_option("--device", options->device, "sim or sim:NAME (sim)");
  command.app->add_option("-o", options->output, "write to this file instead of standard output");
  command.run = [options] { return show_ptx(*options); };
  command.clean_end = CleanSignalExit::Interrupt::too;
  return command;
}

}  // namespace lab32::commands
