// `lab32 run`, `profile`, `check` and `nvcc`: their options and functions. A binary that links this
// object has these commands itself.

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "app/command.h"
#include "runtime/profiler/build_program.h"
#include "runtime/profiler/commands.h"
#include "runtime/profiler/libraries.h"
#include "runtime/profiler/nvcc_words.h"
#include "runtime/profiler/start.h"
#include "simulator/timing/profile.h"

namespace lab32::commands {
namespace {

struct RunOptions {
  profiler::ProgramOrSources program;
  Words arguments;
  std::string device = "sim";
  unsigned gpus = 1;
  std::optional<uint64_t> schedule;
  bool list_unsupported = false;  // list unsupported features instead of running the program
};

// Replaces this process by the program, so that input, output and exit status are the program's.
int exec_program(const RunOptions& options) {
  if (options.list_unsupported) return profiler::list_unsupported(options.program, options.device);
  profiler::ProgramToStart start;
  start.device = profiler::profile_name_of_device_option(options.device);
  start.program =
      profiler::build_program(options.program, model::read_device_profile(start.device).arch);
  start.called = options.program.file;
  start.arguments = options.arguments;
  start.gpus = options.gpus;
  start.schedule = options.schedule;
  profiler::replace_process_by_program(start);
}

// Splits the command line of run, profile or check: words that belong to nvcc and to the program
// are stored, because CLI11 would not understand nvcc's options. Returns the words that CLI11
// reads.
Words words_left_for_cli11(const CLI::App* app, const Words& words,
                           profiler::ProgramOrSources& program, Words& arguments) {
  const auto is_ours = [&](const std::string& option) -> std::optional<bool> {
    const CLI::Option* known = app->get_option_no_throw(option);
    if (!known) return std::nullopt;
    return known->get_items_expected_max() > 0;
  };
  profiler::CommandWords split = profiler::split_own_nvcc_and_program_words(words, is_ours);
  program.words = std::move(split.program.words);
  arguments = std::move(split.arguments);
  if (!split.program.file.empty()) split.ours.push_back(std::move(split.program.file));
  return std::move(split.ours);
}

// The options that run, profile and check share.
template <class Options>
std::shared_ptr<Options> add_program_options(Subcommand& command, int (*run)(const Options&)) {
  const auto options = std::make_shared<Options>();
  CLI::App* app = command.app;
  app->add_option("PROGRAM", options->program.file,
                  "a .cu file, followed by more of nvcc's files and options; or a program built "
                  "with `lab32 nvcc` or -cudart shared")
      ->required();
  app->add_option("ARGS", options->arguments, "the program's arguments; options go after --");
  app->add_option("--device", options->device, "sim or sim:NAME (sim)");
  add_gpus_option(app, options->gpus);
  command.take_own_options = [app, options](const Words& words) {
    return words_left_for_cli11(app, words, options->program, options->arguments);
  };
  command.behind = &options->arguments;
  command.run = [run, options] { return run(*options); };
  return options;
}

void add_schedule_option(CLI::App* app, std::optional<uint64_t>& seed) {
  app->add_option("--schedule", seed,
                  "run blocks and warps in a random order; the number is the seed")
      ->check(kWholeNumber);
}

void set_up_run(Subcommand& command) {
  const auto options = add_program_options(command, exec_program);
  add_schedule_option(command.app, options->schedule);
  command.app->add_flag("--list-unsupported", options->list_unsupported,
                        "list the unsupported features that it needs, without running it");
}

void set_up_profile(Subcommand& command) {
  const auto options = add_program_options(command, profiler::profile_program);
  command.app->add_option("--metrics", options->metrics,
                          "print these metrics of Nsight Compute (A,B,...) instead of tables");
  command.app->add_option("--kernel", options->kernel,
                          "show only kernels whose name matches this regular expression");
  command.app->add_option(
      "--csv", options->csv,
      "write the metrics to this file, in the format of ncu --csv --print-units base");
  command.app->add_flag("--source", options->source, "print the counters next to each source line");
  command.clean_end = CleanSignalExit::Interrupt::passed_on;
}

void set_up_check(Subcommand& command) {
  const auto options = add_program_options(command, profiler::check_program);
  options->lab32 = program_name_as_typed();
  add_schedule_option(command.app, options->schedule);
  command.clean_end = CleanSignalExit::Interrupt::passed_on;
}

// Replaces this process by nvcc.
void set_up_nvcc(Subcommand& command) {
  command.run_with_words = [](const Words& words) -> int {
    profiler::exec_nvcc(
        words, model::read_device_profile(profiler::profile_name_of_device_option("sim")).arch);
  };
}

constexpr ProgramCommandFunctions kPrograms = {set_up_run,
                                               set_up_profile,
                                               set_up_check,
                                               set_up_nvcc,
                                               profiler::picture_of_program_run,
                                               words_left_for_cli11};

[[maybe_unused]] const bool kLinked = (linked_program_commands() = &kPrograms) != nullptr;

}  // namespace
}  // namespace lab32::commands
