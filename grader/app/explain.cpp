// `lab32 explain`: shows pictures of the check of a lab, of a line of a program, or of a swizzle.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "app/command.h"
#include "base/error.h"
#include "base/files.h"
#include "grading/engine/compiled.h"
#include "grading/engine/registry.h"
#include "grading/engine/runner.h"
#include "pictures/make.h"
#include "pictures/picture.h"
#include "pictures/text.h"
#include "report/render.h"
#include "runtime/profiler/commands.h"

namespace lab32::commands {
namespace {

struct ExplainCommandOptions {
  Words nvcc_words;  // for a program: options of nvcc, and more files
  std::string what, check, format = "text", output, picture, swizzle, dir, rubric, course;
  std::vector<std::string> arguments;
  counters::DetailFilter choice;
  unsigned gpus = 1;  // for a program
  grading::GradeOptions options;
};

// Whether the word names a program's file: it has a dot or a slash, which no lab's name has.
bool has_dot_or_slash(const std::string& word) {
  return word.find_first_of("./") != std::string::npos;
}

// Draws a swizzle by its formula, except where a task asks the student to work out two rows of it.
pictures::PicturedCheck explain_swizzle(const std::string& text) {
  const auto shape = pictures::read_swizzle(text);
  if (const auto& lab = grading::swizzle_lab(); lab && lab->is_question(shape))
    throw Error(
        fmt::format("a task of the lab {0} asks for that table; draw it with your own function: "
                    "{1} explain {0} --swizzle {2}",
                    lab->name, program_name_as_typed(), text));
  std::vector<uint32_t> to;
  for (const uint32_t offset : pictures::offsets_of_drawn_groups(shape))
    to.push_back(pictures::swizzled_offset(shape, offset));
  pictures::PicturedCheck shown;
  shown.launch.mappings = {pictures::mapping_of(shape, to)};
  return shown;
}

// Draws the swizzle that the student's own function computes, independently of the checks.
pictures::PicturedCheck explain_submitted_swizzle(const grading::SwizzleLabHooks& lab,
                                                  const std::string& text,
                                                  const grading::GradeOptions& options) {
  const auto shape = pictures::read_swizzle(text);
  const auto file = grading::files_to_grade(options).at(0).file;
  pictures::PicturedCheck shown;
  shown.file = file.string();
  shown.launch.mappings = {pictures::mapping_of(
      shape, grading::output_of_given_kernel(lab.name, file, options.device, lab.kernel(shape),
                                             pictures::offsets_of_drawn_groups(shape)))};
  return shown;
}

// Keeps only the mapping that the options ask for, and removes the other ones.
void keep_only_mapping(pictures::PicturedCheck& shown, const std::string& text) {
  const std::string name = pictures::read_swizzle(text).name();
  auto& all = shown.launch.mappings;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const pictures::SwizzleMapping& m) { return m.name != name; }),
            all.end());
  if (all.empty()) throw Error(shown.check + " does not ask for " + name);
}

// Keeps only the picture that the options ask for.
pictures::PicturedLaunch launch_with_one_picture(const pictures::PicturedLaunch& all,
                                                 const std::string& picture) {
  pictures::PicturedLaunch one;
  one.kernel = all.kernel;
  one.setting = all.setting;
  one.shape = all.shape;
  std::vector<std::string> there;
  const auto take = [&](const char* name, const auto& from, auto& to, bool filled) {
    if (filled) there.push_back(name);
    if (picture == name) to = from;
  };
  take("access", all.accesses, one.accesses, !all.accesses.empty());
  take("steps", all.steps, one.steps, all.steps.has_value());
  take("shuffles", all.shuffles, one.shuffles, all.shuffles.has_value());
  take("mappings", all.mappings, one.mappings, !all.mappings.empty());
  take("traffic", all.traffic, one.traffic, all.traffic.has_value());
  take("race", all.race, one.race, all.race.has_value());
  take("fault", all.fault, one.fault, all.fault.has_value());
  if (picture == "traffic") one.reference = all.reference;
  if (std::find(there.begin(), there.end(), picture) == there.end())
    throw Error(
        fmt::format("no picture of {} here; there are: {}", picture, fmt::join(there, ", ")));
  return one;
}

// Explains a lab, given by its name, or a program.
pictures::PicturedCheck explanation_of(const ExplainCommandOptions& command) {
  const grading::GradeOptions& options = command.options;
  const std::vector<std::string> labs = grading::known_labs();
  const auto& swizzles = grading::swizzle_lab();
  if (!command.swizzle.empty() && !command.what.empty() &&
      !(swizzles && command.what == swizzles->name))
    throw Error(fmt::format("--swizzle stands alone{}, not with {}",
                            swizzles ? ", or with the lab " + swizzles->name : "", command.what));
  if (std::find(labs.begin(), labs.end(), command.what) != labs.end()) {
    grading::GradeOptions one = options;
    one.labs = {command.what};
    one.launch_detail = command.choice;
    if (command.check.empty() && !command.swizzle.empty())
      return explain_submitted_swizzle(*swizzles, command.swizzle, one);
    auto shown = grading::explain_check(one, command.check);
    if (!command.swizzle.empty()) keep_only_mapping(shown, command.swizzle);
    return shown;
  }
  if (command.what.empty() && !command.swizzle.empty()) return explain_swizzle(command.swizzle);
  if (command.what.empty())
    throw Error("name a lab, a program, or --swizzle B,M,S; see `lab32 explain --help`");
  if (!has_dot_or_slash(command.what))
    throw Error(fmt::format("there is no lab `{}`; the labs are: {}; a program is a file, {}.cu",
                            command.what, fmt::join(labs, ", "), command.what));
  profiler::ExplainOptions program;
  program.gpus = command.gpus;
  program.program = {command.what, command.nvcc_words};
  program.device = options.device;
  program.arguments = command.arguments;
  program.choice = command.choice;
  return linked_program_commands()->explain(program);
}

// Whether a Python is there to draw the lab's own pictures of the check.
bool can_draw_labs_own_pictures(const ExplainCommandOptions& command,
                                const pictures::PicturedCheck& shown) {
  std::error_code error;
  return command.picture.empty() && command.format != "json" && !shown.device.empty() &&
         grading::lab_has_own_pictures(shown.lab) &&
         std::filesystem::exists(python_interpreter(), error);
}

void remove_ideal_accesses(pictures::PicturedLaunch& launch) {
  auto& all = launch.accesses;
  all.erase(std::remove_if(
                all.begin(), all.end(),
                [](const pictures::PicturedLineRequests& access) { return access.waste == 0; }),
            all.end());
}

int run_explain(ExplainCommandOptions& command) {
  command.options.dir = command.dir.empty() ? nearest_labs_folder() : command.dir;
  command.options.rubric = command.rubric;
  command.options.progress = true;
  std::optional<ScratchDirectory> rubrics;
  if (!command.course.empty()) {
    command.options.labs = {command.what};
    use_course_rubrics(command.course, rubrics.emplace().path, command.options);
  }
  if (!command.output.empty()) check_writable(command.output, "-o");
  const bool drawn = command.format != "text" && command.format != "json";
  if (command.format == "png" && command.output.empty())
    throw Error("a PNG cannot be printed: name a file with -o");
  pictures::PicturedCheck shown = explanation_of(command);
  if (!command.picture.empty())
    shown.launch = launch_with_one_picture(shown.launch, command.picture);
  const bool own = can_draw_labs_own_pictures(command, shown);
  if (!own && !shown.missing.empty()) throw Error(shown.missing);
  // A picture of an access that wastes nothing would add little to the lab's own pictures.
  if (own) remove_ideal_accesses(shown.launch);
  if (drawn) {
    std::vector<std::string> words = {"--format", command.format};
    if (!command.output.empty()) {
      words.insert(words.end(), {"-o", command.output});
      print(pictures::heading(shown));  // printed, since the picture has no room for it
    }
    if (!command.picture.empty()) words.insert(words.end(), {"--picture", command.picture});
    exec_python("lab32.pictures", words, pictures::json(shown));
  }
  const bool colour = command.output.empty() && report::wants_colour(STDOUT_FILENO);
  const std::string text =
      command.format == "json" ? pictures::json(shown) : pictures::text(shown, colour);
  if (own && command.format == "text") {
    Words words = {"--format",  "text",
                   "--heading", pictures::heading(shown),
                   "--launch",  pictures::text(shown.launch, colour)};
    if (!command.output.empty()) words.insert(words.end(), {"-o", command.output});
    exec_python("lab32.pictures", words, pictures::json(shown));
  }
  print_or_write(text, command.output, "-o");
  return kFullMarks;
}

// Takes the words that belong to nvcc and to a program out of the command line, as `lab32 run`
// does. The words of a lab stay as they are.
Words split_off_program_words(const CLI::App* app, const Words& words,
                              ExplainCommandOptions& command) {
  bool has_program = false;
  for (size_t i = 0; i < words.size() && !has_program; ++i) {
    const std::string& word = words[i];
    if (word.empty() || word[0] != '-') {
      if (!has_dot_or_slash(word)) return words;
      has_program = true;
      continue;
    }
    const CLI::Option* ours = app->get_option_no_throw(word.substr(0, word.find('=')));
    if (ours && ours->get_items_expected_max() > 0 && word.find('=') == std::string::npos) ++i;
  }
  if (!has_program) return words;
  if (!linked_program_commands()) exec_runtime_binary();
  profiler::ProgramOrSources program;
  const Words own =
      linked_program_commands()->words_left_for_cli11(app, words, program, command.arguments);
  command.nvcc_words = std::move(program.words);
  return own;
}

}  // namespace

Subcommand explain_command(CLI::App& lab32) {
  const auto given = std::make_shared<ExplainCommandOptions>();
  CLI::App* app = lab32.add_subcommand(
      "explain",
      "draw the accesses of a warp's lanes, for a check of a lab or a line of a program");
  app->add_option("LAB|PROGRAM.cu", given->what, "a lab, or a CUDA program");
  app->add_option("CHECK", given->check,
                  "a check of the lab, or how its name begins (the worst one)");
  app->add_option("ARGS", given->arguments, "the program's arguments, after --");
  app->add_option("--line", given->choice.line, "show the accesses of this source line");
  app->add_option("--block", given->choice.block,
                  "show this block (the one with the worst access)");
  app->add_option("--warp", given->choice.warp, "show this warp of the block");
  app->add_option("--request", given->choice.request,
                  "show this request of the warp on its line, from 0");
  app->add_option("--format", given->format, "text, json, svg, png or html (text)")
      ->check(CLI::IsMember({"text", "json", "svg", "png", "html"}));
  app->add_option("--picture", given->picture,
                  "show only this picture: access, steps, shuffles, mappings, traffic, race, fault")
      ->check(
          CLI::IsMember({"access", "steps", "shuffles", "mappings", "traffic", "race", "fault"}));
  app->add_option("--swizzle", given->swizzle,
                  "B,M,S: draw the table of Swizzle<B, M, S>; with the lab swizzle, that of "
                  "your own function");
  app->add_option("-o", given->output, "write to this file instead of standard output");
  app->add_option("--dir", given->dir, "the folder of LAB/LAB.cu (labs, here or above)");
  app->add_option("--rubric", given->rubric, "the folder of LAB.toml (that of this lab32)");
  app->add_option("--course", given->course,
                  "the course's file, which changes points and thresholds (course.toml)");
  app->add_option("--device", given->options.device, "sim or sim:NAME (sim)");
  add_gpus_option(app, given->gpus);
  app->add_option("--seed", given->options.seed, "repeat the random inputs of an earlier run")
      ->check(kWholeNumber);
  Subcommand command;
  command.app = app;
  command.run = [given] { return run_explain(*given); };
  command.take_own_options = [app, given](const Words& words) {
    return split_off_program_words(app, words, *given);
  };
  command.behind = &given->arguments;
  command.clean_end = CleanSignalExit::Interrupt::not_watched;
  return command;
}

}  // namespace lab32::commands
