// The command line: subcommands only. What they do is in the modules below.

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/classroom.h"
#include "app/doctor.h"
#include "app/explain.h"
#include "app/grade.h"
#include "app/guest.h"
#include "app/output.h"
#include "app/tools.h"
#include "base/clean_end.h"
#include "base/error.h"
#include "base/keep_memory.h"
#include "base/write_file.h"
#include "device/device.h"
#include "gpu/timer.h"
#include "grading/engine/registry.h"
#include "grading/engine/runner.h"
#include "grading/engine/student_files.h"
#include "grading/timing/reference_module.h"
#include "grading/timing/sealing.h"
#include "report/render.h"
#include "simulator/timing/profile.h"

namespace {

using lab32::Error;
using lab32::commands::complain;
using lab32::commands::kNotGraded;
using lab32::commands::linked_tools;
using lab32::commands::print;

// Who started us may have closed some of them; the next file that is opened would take the place,
// and what is printed would go into it. Writing to one of these fails, as it would have.
void fill_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) std::abort();
}

// CLI11 would take -1 and 1e3.
const CLI::Validator kWholeNumber(
    [](std::string& text) -> std::string {
      const bool digits =
          !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
      uint64_t value = 0;
      const char* end = text.data() + text.size();
      const auto parsed = std::from_chars(text.data(), end, value);
      if (digits && parsed.ec == std::errc() && parsed.ptr == end) return {};
      return fmt::format("{} is no whole number from 0 to {}", text,
                         std::numeric_limits<uint64_t>::max());
    },
    "");

const CLI::Validator kSeconds(
    [](std::string& text) -> std::string {
      const std::string wrong = kWholeNumber(text);
      if (!wrong.empty() || text.find_first_not_of('0') == std::string::npos)
        return text + " is no whole number of seconds from 1";
      return {};
    },
    "");

constexpr unsigned kMostGpus = 8;  // the runtime's kMostDevices

void add_gpus(CLI::App* command, unsigned& gpus) {
  command
      ->add_option("--gpus", gpus,
                   fmt::format("devices that the program finds, 1 to {} (1)", kMostGpus))
      ->check(CLI::Range(1u, kMostGpus));
}

// What run, profile and check are given alike.
void add_program(CLI::App* command, lab32::profiler::Program& program,
                 std::vector<std::string>& arguments, std::string& device, unsigned& gpus) {
  command
      ->add_option(
          "PROGRAM", program.file,
          "a .cu file, with more of nvcc's files and options behind it; or a program built "
          "by lab32 nvcc, or with -cudart shared")
      ->required();
  command->add_option("ARGS", arguments, "what the program is given; options after --");
  command->add_option("--device", device, "sim or sim:NAME (sim)");
  add_gpus(command, gpus);
}

void add_schedule(CLI::App* command, std::optional<uint64_t>& seed) {
  command
      ->add_option("--schedule", seed,
                   "run blocks and warps in a random order, the same for the same number")
      ->check(kWholeNumber);
}

// Takes from the words of run, profile or check what is nvcc's and the program's; what is left is
// for CLI11, which would not know what an option of nvcc's is.
std::vector<std::string> take_program(CLI::App* command, std::vector<std::string> words,
                                      lab32::profiler::Program& program,
                                      std::vector<std::string>& arguments) {
  const auto is_ours = [&](const std::string& option) -> std::optional<bool> {
    const CLI::Option* known = command->get_option_no_throw(option);
    if (!known) return std::nullopt;
    return known->get_items_expected_max() > 0;
  };
  lab32::profiler::CommandWords split = linked_tools()->split_command(words, is_ours);
  program.words = std::move(split.program.words);
  arguments = std::move(split.arguments);
  if (!split.program.file.empty()) split.ours.push_back(std::move(split.program.file));
  return std::move(split.ours);
}

// `describe` may throw Error.
template <class Describe>
void list_device(const std::string& name, Describe describe) {
  try {
    fmt::print("{:<12} {}\n", name, describe());
  } catch (const Error& e) {
    fmt::print("{:<12} not here: {}\n", name, e.what());
  }
}

// A first `make grade LAB=...` links the suites of that lab alone (all_suites_linked()).
void refuse_what_is_not_linked(const std::string& command) {
  const bool asks_for_all_labs = command == "class" || command == "similarity";
  if (asks_for_all_labs && !lab32::grading::all_suites_linked())
    throw Error("`" + command +
                "` is not in this lab32, which `make grade` has built with what grading needs; "
                "`make build` adds the rest");
}

bool is_for_programs(std::string_view command) {
  return command == "run" || command == "profile" || command == "check" || command == "nvcc";
}

int list_devices() {
  const std::string usual = lab32::device::open_device("sim")->name();
  for (const std::string& id : lab32::model::profile_ids()) {
    const std::string name = "sim:" + id;
    list_device(name, [&] {
      return lab32::device::open_device(name)->describe() + (name == usual ? ", what sim is" : "");
    });
  }
  list_device("gpu", [] { return lab32::device::open_timer("gpu")->describe(); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  lab32::keep_freed_memory();
  CLI::App app{"lab32: CUDA labs, graded with or without a GPU"};
  app.name("lab32");
  app.set_version_flag("--version", "lab32 " LAB32_VERSION);
  app.require_subcommand(1);

  lab32::grading::GradeOptions options;
  lab32::commands::GradeCommand graded;
  std::string dir = "labs", rubric, output;
  uint64_t seed = 0;
  CLI::App* grade_command = app.add_subcommand("grade", "grade labs");
  grade_command->add_option("LAB", options.labs, "which labs (all that there are)");
  grade_command->add_option("--dir", dir, "where LAB/LAB.cu are (labs)");
  grade_command->add_option("--rubric", rubric, "where each lab's LAB.toml is (data/limits)");
  grade_command->add_option("--device", options.device, "auto, sim, sim:NAME or gpu (auto)");
  CLI::Option* seed_option =
      grade_command->add_option("--seed", seed, "repeats the random inputs of an earlier run")
          ->check(kWholeNumber);
  const std::vector<std::string>& formats = lab32::report::format_names();
  grade_command
      ->add_option("--format", graded.format,
                   "how it is printed; grader/report/README.md has each (text)")
      ->check(CLI::IsMember(formats));
  grade_command
      ->add_option("--time-limit", options.time_limit,
                   "seconds for each lab; checks that they do not suffice for are lost (30)")
      ->check(kSeconds);
  grade_command->add_flag("!--no-modelled-times", options.modelled_times,
                          "without a GPU, leave out what timed kernels take by the model: a third "
                          "of the time, and no points");
  grade_command->add_flag("--allow-missing", options.allow_missing,
                          "a LAB whose file is not there loses its points");
  bool pictures = false;
  grade_command->add_flag("--watch", graded.watches,
                          "grade a lab again each time that its file is saved");
  grade_command->add_flag("--history", graded.keeps_history,
                          "keep the result in DIR/.lab32/history, as on a terminal");
  grade_command->add_flag("--pictures", pictures,
                          "what the kernels access goes into the JSON, for `lab32 report`");
  grade_command->add_option("-o", graded.output, "write here instead of to standard output");
  grade_command->add_option("--json", graded.json, "write the same result there as JSON, too");
  lab32::commands::RunCommand run;
  CLI::App* run_command = app.add_subcommand("run", "run a complete CUDA program on the simulator");
  add_program(run_command, run.program, run.arguments, run.device, run.gpus);
  add_schedule(run_command, run.schedule);
  run_command->add_flag("--list-unsupported", run.list_unsupported,
                        "instead of running it, say all in it that the simulator does not have");
  lab32::profiler::ProfileOptions profile;
  CLI::App* profile_command =
      app.add_subcommand("profile", "run a CUDA program and show what each launch moved");
  add_program(profile_command, profile.program, profile.arguments, profile.device, profile.gpus);
  profile_command->add_option("--metrics", profile.metrics,
                              "these of Nsight Compute's metrics, A,B,..., instead of the tables");
  profile_command->add_option("--kernel", profile.kernel,
                              "only kernels in whose name this regular expression is found");
  profile_command->add_option("--csv", profile.csv,
                              "write the metrics there, as ncu --csv --print-units base");
  profile_command->add_flag("--source", profile.source, "the counters beside each source line");
  lab32::profiler::CheckOptions check;
  CLI::App* check_command =
      app.add_subcommand("check", "run a CUDA program and find its races and bad accesses");
  add_program(check_command, check.program, check.arguments, check.device, check.gpus);
  add_schedule(check_command, check.schedule);
  lab32::commands::ExplainCommand explained;
  CLI::App* explain_command = app.add_subcommand(
      "explain", "draw what a warp's lanes access: of a lab's check, or of a program's line");
  explain_command->add_option("LAB|PROGRAM.cu", explained.what, "a lab, or a CUDA program");
  explain_command->add_option("CHECK", explained.check,
                              "a check of the lab, or how its name begins (the worst one)");
  explain_command->add_option("ARGS", explained.arguments, "what a program is given; after --");
  explain_command->add_option("--line", explained.choice.line, "the accesses of that source line");
  explain_command->add_option("--block", explained.choice.block,
                              "that block (the one with the worst access)");
  explain_command->add_option("--warp", explained.choice.warp, "that warp of the block");
  explain_command->add_option("--request", explained.choice.request,
                              "the warp's request of that number on its line, from 0");
  explain_command->add_option("--format", explained.format, "text, json, svg, png or html (text)")
      ->check(CLI::IsMember({"text", "json", "svg", "png", "html"}));
  explain_command
      ->add_option("--picture", explained.picture,
                   "only that one: access, steps, shuffles, mappings, traffic, race, fault")
      ->check(
          CLI::IsMember({"access", "steps", "shuffles", "mappings", "traffic", "race", "fault"}));
  explain_command->add_option("--swizzle", explained.swizzle,
                              "B,M,S: where Swizzle<B, M, S> puts what; with the lab swizzle, by "
                              "your own function");
  explain_command->add_option("-o", explained.output, "write here instead of to standard output");
  explain_command->add_option("--dir", dir, "where LAB/LAB.cu are (labs)");
  explain_command->add_option("--rubric", rubric, "where each lab's LAB.toml is (data/limits)");
  explain_command->add_option("--device", options.device, "sim or sim:NAME (sim)");
  add_gpus(explain_command, explained.gpus);
  CLI::Option* explain_seed =
      explain_command->add_option("--seed", seed, "repeats the random inputs of an earlier run")
          ->check(kWholeNumber);
  app.add_subcommand("report", "one page of a grading, with pictures of what the kernels do");
  app.add_subcommand("nvcc", "nvcc, but what it builds runs on the simulator: its own options");
  app.add_subcommand("class", "grade the submissions of a whole class");
  app.add_subcommand("similarity", "which submissions of a class are worth reading side by side");
  std::string ptx_lab, ptx_file, ptx_device = "sim", ptx_output;
  CLI::App* ptx_command = app.add_subcommand("ptx", "the PTX that a lab's file is graded by");
  ptx_command->add_option("LAB", ptx_lab, "which lab")->required();
  ptx_command->add_option("FILE", ptx_file, "a .cu file, of any name")->required();
  ptx_command->add_option("--device", ptx_device, "sim or sim:NAME (sim)");
  ptx_command->add_option("-o", ptx_output, "write here instead of to standard output");
  std::string students = ".";
  CLI::App* init_command =
      app.add_subcommand("init", "write labs and handouts, where a student is to work on them");
  init_command->add_option("DIR", students, "where (here); what is there stays as it is");
  // For `make dist`; nobody else has a use for it.
  std::string sealed_lab, sealed_module;
  CLI::App* seal_command = app.add_subcommand("seal", "print a lab's answers, hashed")->group("");
  seal_command->add_option("LAB", sealed_lab, "which lab")->required();
  seal_command->add_option("--reference", sealed_module,
                           "write the lab's reference solution there, sealed");
  seal_command->add_option("--rubric", rubric, "where each lab's LAB.toml is (data/limits)");
  std::vector<std::string> calibrated;
  CLI::App* calibrate_command =
      app.add_subcommand("calibrate", "which timing checks this machine's GPU can decide");
  calibrate_command->add_option("LAB", calibrated, "which labs (all that there are)");
  calibrate_command->add_option("--rubric", rubric, "where each lab's LAB.toml is (data/limits)");
  calibrate_command->add_option("-o", output, "write here instead of to standard output");
  CLI::App* doctor_command =
      app.add_subcommand("doctor", "what grading needs: what is here, and what brings the rest");
  app.add_subcommand("devices", "what can run here, and why the rest cannot");

  // What follows `--` is the program's, whatever it looks like.
  char** const mark = std::find(argv, argv + argc, std::string_view("--"));
  const std::vector<std::string> behind(std::min(mark + 1, argv + argc), argv + argc);

  try {
    const std::string first = argc > 1 ? argv[1] : "";
    refuse_what_is_not_linked(first);
    if (is_for_programs(first) && !linked_tools()) lab32::commands::exec_guest();
    // Their options are not ours.
    if (first == "class") lab32::grading::exec_python("lab32.classroom", {argv + 2, argv + argc});
    if (first == "report") lab32::grading::exec_python("lab32.report", {argv + 2, argv + argc});
    if (first == "similarity")
      lab32::grading::exec_python("lab32.similarity", {argv + 2, argv + argc});
    if (first == "nvcc") return linked_tools()->nvcc({argv + 2, argv + argc});
  } catch (const lab32::Error& e) {
    complain(e.what());
    return kNotGraded;
  }
  std::vector<std::string> words(std::min(argv + 1, mark), mark);
  const auto command_is = [&](const CLI::App* command) {
    return !words.empty() && words[0] == command->get_name();
  };
  for (const auto& [command, what, given] :
       {std::make_tuple(run_command, &run.program, &run.arguments),
        std::make_tuple(profile_command, &profile.program, &profile.arguments),
        std::make_tuple(check_command, &check.program, &check.arguments)}) {
    if (!command_is(command)) continue;
    std::vector<std::string> ours =
        take_program(command, {words.begin() + 1, words.end()}, *what, *given);
    ours.insert(ours.begin(), words[0]);
    words = std::move(ours);
    break;
  }
  try {
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(words);
  } catch (const CLI::Success& e) {  // --help
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-')
      complain(fmt::format("there is no command `{}`; see `lab32 --help`", argv[1]));
    else
      complain(fmt::format("{}; see `lab32 --help`", e.what()));
    return kNotGraded;
  }

  for (std::vector<std::string>* words :
       {&run.arguments, &profile.arguments, &check.arguments, &explained.arguments, &options.labs})
    words->insert(words->end(), behind.begin(), behind.end());
  try {
    std::optional<lab32::CleanEnd> clean_end;
    if (grade_command->parsed() || ptx_command->parsed() || calibrate_command->parsed()) {
      clean_end.emplace(lab32::CleanEnd::Interrupt::too);
      std::signal(SIGPIPE, SIG_IGN);  // nobody reads: an output that cannot be written
    }
    if (profile_command->parsed() || check_command->parsed() || explain_command->parsed())
      clean_end.emplace(lab32::CleanEnd::Interrupt::not_watched);
    if (ptx_command->parsed())
      return lab32::commands::show_ptx(ptx_lab, ptx_file, ptx_device, ptx_output);
    if (profile_command->parsed()) return linked_tools()->profile(profile);
    if (check_command->parsed()) return linked_tools()->check(check);
    if (init_command->parsed()) {
      const auto files = lab32::grading::write_student_files(students);
      print(lab32::grading::describe(files, students));
      return 0;
    }
    if (seal_command->parsed()) {
      const std::filesystem::path folder =
          rubric.empty() ? lab32::grading::rubric_folder() : std::filesystem::path(rubric);
      print(lab32::grading::sealed_answers({folder, sealed_lab}));
      if (!sealed_module.empty())
        lab32::write_file(sealed_module, lab32::grading::sealed_reference(sealed_lab),
                          "--reference");
      return 0;
    }
    if (run_command->parsed()) return linked_tools()->run(run);
    if (doctor_command->parsed()) {
      const lab32::device::Findings found = lab32::device::examine();
      print(found.text);
      return found.can_grade ? 0 : kNotGraded;
    }
    if (calibrate_command->parsed()) return lab32::commands::calibrate(calibrated, rubric, output);
    if (!grade_command->parsed() && !explain_command->parsed()) return list_devices();
    options.dir = dir;
    options.rubric = rubric;
    options.progress = true;
    if (*seed_option || *explain_seed) options.seed = seed;
    if (explain_command->parsed()) return lab32::commands::explain(explained, options);
    if (pictures) options.close_up.emplace();
    return lab32::commands::grade(graded, options);
  } catch (const std::exception& e) {
    complain(e.what());
    return kNotGraded;
  } catch (...) {
    complain("an error in the grader itself, of a kind that it does not know");
    return kNotGraded;
  }
}
