// The command line: subcommands only. What they do is in the modules below.

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clean_end.h"
#include "base/error.h"
#include "base/keep_memory.h"
#include "base/text.h"
#include "base/write_file.h"
#include "device/device.h"
#include "device/doctor.h"
#include "device/timer.h"
#include "grading/calibrate.h"
#include "grading/classroom.h"
#include "grading/compiled.h"
#include "grading/explain.h"
#include "grading/reference_module.h"
#include "grading/registry.h"
#include "grading/runner.h"
#include "grading/sealing.h"
#include "grading/student_files.h"
#include "grading/watching.h"
#include "pictures/mapping.h"
#include "pictures/shown.h"
#include "profiler/build_program.h"
#include "profiler/check.h"
#include "profiler/command_words.h"
#include "profiler/explain.h"
#include "profiler/list_unsupported.h"
#include "profiler/profile.h"
#include "profiler/start.h"
#include "report/history.h"
#include "report/render.h"
#include "simulator/model/profile.h"

namespace {

using lab32::Error;

constexpr int kFullMarks = 0, kPointsLost = 1, kNotGraded = 2;

void complain(const std::string& message) {
  // Not fmt's, which throws where nobody listens.
  std::fprintf(stderr, "lab32: %s\n", lab32::visible(message).c_str());
}

// Who started us may have closed some of them; the next file that is opened would take the place,
// and what is printed would go into it. Writing to one of these fails, as it would have.
void fill_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) std::abort();
}

void print(const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw lab32::MachineError(fmt::format(
        "standard output cannot be written: {}; name a file with -o", std::strerror(errno)));
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

// Where a student looks at the result.
bool is_an_attempt(const std::string& format, const std::string& output) {
  return format == "text" && output.empty() && isatty(STDOUT_FILENO) == 1;
}

[[noreturn]] void watch(const lab32::grading::GradeOptions& options, bool history) {
  lab32::report::Style style;
  style.colour = lab32::report::wants_colour(STDOUT_FILENO);
  const auto show = [&](const lab32::report::Result& result, const std::string& changes) {
    print("\n" + lab32::report::text(result, style) + "\n" + changes);
    print(fmt::format("watching {}; Ctrl-C ends this\n", options.dir.string()));
    if (history) lab32::report::keep_in_history(options.dir, result, lab32::report::now());
  };
  lab32::grading::watch(options, show, complain);
}

int grade(const lab32::grading::GradeOptions& options, const std::string& format,
          const std::string& output, const std::string& json, bool history) {
  if (!output.empty()) lab32::check_writable(output, "-o");
  if (!json.empty()) lab32::check_writable(json, "--json");
  const lab32::report::Result result = lab32::grading::grade(options);
  if (history) lab32::report::keep_in_history(options.dir, result, lab32::report::now());
  if (result.complete() && result.max_score <= 0)
    throw Error(fmt::format("no check could be run on {}; try --device sim", result.device));
  lab32::report::Style style;
  style.colour = output.empty() && lab32::report::wants_colour(STDOUT_FILENO);
  const std::string text = lab32::report::render(result, format, style);
  if (output.empty())
    print(text);
  else
    lab32::write_file(output, text, "-o");
  if (!json.empty()) lab32::write_file(json, lab32::report::json(result), "--json");
  for (const lab32::report::Lab& lab : result.labs)
    if (lab.status == lab32::report::Status::not_graded)
      complain(fmt::format("{} is not graded: {}", lab.name, lab.message));
  if (!result.complete()) return kNotGraded;
  return result.score < result.max_score ? kPointsLost : kFullMarks;
}

int show_ptx(const std::string& lab, const std::string& file, const std::string& device,
             const std::string& output) {
  if (!output.empty()) lab32::check_writable(output, "-o");
  const lab32::grading::Ptx ptx = lab32::grading::ptx_of(lab, file, device);
  if (!ptx.compiles) {
    complain(ptx.text);
    return kPointsLost;
  }
  if (output.empty())
    print(ptx.text);
  else
    lab32::write_file(output, ptx.text, "-o");
  return kFullMarks;
}

int calibrate(const std::vector<std::string>& labs, const std::string& rubric,
              const std::string& output) {
  if (!output.empty()) lab32::check_writable(output, "-o");
  const std::string text = lab32::grading::text_of(lab32::grading::calibrate(labs, rubric));
  if (output.empty())
    print(text);
  else
    lab32::write_file(output, text, "-o");
  return 0;
}

// The program takes this process's place: input, output and exit status are its own.
[[noreturn]] void run_program(const lab32::profiler::Program& program, const std::string& device,
                              const std::vector<std::string>& arguments,
                              std::optional<uint64_t> schedule) {
  lab32::profiler::Start start;
  start.device = lab32::profiler::profile_of(device);
  start.program =
      lab32::profiler::build_program(program, lab32::model::read_profile(start.device).arch);
  start.called = program.file;
  start.arguments = arguments;
  start.schedule = schedule;
  lab32::profiler::exec(start);
}

// What run, profile and check are given alike.
void add_program(CLI::App* command, lab32::profiler::Program& program,
                 std::vector<std::string>& arguments, std::string& device) {
  command
      ->add_option(
          "PROGRAM", program.file,
          "a .cu file, with more of nvcc's files and options behind it; or a program built "
          "by lab32 nvcc, or with -cudart shared")
      ->required();
  command->add_option("ARGS", arguments, "what the program is given; options after --");
  command->add_option("--device", device, "sim or sim:NAME (sim)");
}

void add_schedule(CLI::App* command, std::optional<uint64_t>& seed) {
  command
      ->add_option("--schedule", seed,
                   "run blocks and warps in a random order, the same for the same number")
      ->check(kWholeNumber);
}

struct ExplainCommand {
  std::string what, check, format = "text", output, picture, swizzle;
  std::vector<std::string> arguments;
  lab32::counters::CloseUpChoice choice;
};

// By the formula; but not where a task asks to find two rows in it.
lab32::pictures::Shown look_at_swizzle(const std::string& text) {
  const auto shape = lab32::pictures::read_swizzle(text);
  if (shape.bits == 2 && (shape.shift == 3 || shape.shift == -3))
    throw Error(
        "a task of the lab swizzle asks for that table: let your own function draw it, lab32 "
        "explain swizzle --swizzle " +
        text);
  std::vector<uint32_t> to;
  for (const uint32_t offset : lab32::pictures::offsets_of(shape))
    to.push_back(lab32::pictures::swizzled(shape, offset));
  lab32::pictures::Shown shown;
  shown.launch.mappings = {lab32::pictures::mapping_of(shape, to)};
  return shown;
}

// Of a check's mappings the one that is asked for.
void choose_mapping(lab32::pictures::Shown& shown, const std::string& text) {
  const std::string name = lab32::pictures::read_swizzle(text).name();
  auto& all = shown.launch.mappings;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const lab32::pictures::Mapping& m) { return m.name != name; }),
            all.end());
  if (all.empty()) throw Error(shown.check + " does not ask for " + name);
}

// A lab's name, or a program.
lab32::pictures::Shown look(const ExplainCommand& command,
                            const lab32::grading::GradeOptions& options) {
  const std::vector<std::string> labs = lab32::grading::known_labs();
  if (std::find(labs.begin(), labs.end(), command.what) != labs.end()) {
    lab32::grading::GradeOptions one = options;
    one.labs = {command.what};
    one.close_up = command.choice;
    if (command.swizzle.empty()) return lab32::grading::explain(one, command.check);
    auto shown = lab32::grading::explain(one, command.check.empty() ? "A2" : command.check);
    choose_mapping(shown, command.swizzle);
    return shown;
  }
  if (command.what.empty() && !command.swizzle.empty()) return look_at_swizzle(command.swizzle);
  if (command.what.empty())
    throw Error("a lab, a program or --swizzle is needed; see `lab32 explain --help`");
  lab32::profiler::ExplainOptions program;
  program.program = command.what;
  program.device = options.device;
  program.arguments = command.arguments;
  if (!command.check.empty()) program.arguments.insert(program.arguments.begin(), command.check);
  program.choice = command.choice;
  return lab32::profiler::explain(program);
}

int explain(const ExplainCommand& command, const lab32::grading::GradeOptions& options) {
  if (!command.output.empty()) lab32::check_writable(command.output, "-o");
  const bool drawn = command.format != "text" && command.format != "json";
  if (command.format == "png" && command.output.empty())
    throw Error("a PNG is no text: name a file with -o");
  const lab32::pictures::Shown shown = look(command, options);
  if (drawn) {
    std::vector<std::string> words = {"--format", command.format};
    if (!command.output.empty()) words.insert(words.end(), {"-o", command.output});
    if (!command.picture.empty()) words.insert(words.end(), {"--picture", command.picture});
    lab32::grading::exec_python("lab32.pictures", words, lab32::pictures::json(shown));
  }
  const bool colour = command.output.empty() && lab32::report::wants_colour(STDOUT_FILENO);
  const std::string text = command.format == "json" ? lab32::pictures::json(shown)
                                                    : lab32::pictures::text(shown, colour);
  if (command.output.empty())
    print(text);
  else
    lab32::write_file(command.output, text, "-o");
  return kFullMarks;
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
  lab32::profiler::CommandWords split = lab32::profiler::split_command(words, is_ours);
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
  std::string dir = "labs", rubric, format = "text", output, json;
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
      ->add_option("--format", format, "how it is printed; grader/report/README.md has each (text)")
      ->check(CLI::IsMember(formats));
  grade_command
      ->add_option("--time-limit", options.time_limit,
                   "seconds for each lab; checks that they do not suffice for are lost (30)")
      ->check(kSeconds);
  grade_command->add_flag("--allow-missing", options.allow_missing,
                          "a LAB whose file is not there loses its points");
  bool pictures = false, watches = false, keeps_history = false;
  grade_command->add_flag("--watch", watches, "grade a lab again each time that its file is saved");
  grade_command->add_flag("--history", keeps_history,
                          "keep the result in DIR/.lab32/history, as on a terminal");
  grade_command->add_flag("--pictures", pictures,
                          "what the kernels access goes into the JSON, for `lab32 report`");
  grade_command->add_option("-o", output, "write here instead of to standard output");
  grade_command->add_option("--json", json, "write the same result there as JSON, too");
  lab32::profiler::Program program;
  std::string program_device = "sim";
  std::vector<std::string> program_arguments;
  CLI::App* run_command = app.add_subcommand("run", "run a complete CUDA program on the simulator");
  add_program(run_command, program, program_arguments, program_device);
  std::optional<uint64_t> schedule;
  add_schedule(run_command, schedule);
  bool list_unsupported = false;
  run_command->add_flag("--list-unsupported", list_unsupported,
                        "instead of running it, say all in it that the simulator does not have");
  lab32::profiler::ProfileOptions profile;
  CLI::App* profile_command =
      app.add_subcommand("profile", "run a CUDA program and show what each launch moved");
  add_program(profile_command, profile.program, profile.arguments, profile.device);
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
  add_program(check_command, check.program, check.arguments, check.device);
  add_schedule(check_command, check.schedule);
  ExplainCommand explained;
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
                   "of an SVG or PNG: access, steps, shuffles, mappings, traffic, race, fault")
      ->check(
          CLI::IsMember({"access", "steps", "shuffles", "mappings", "traffic", "race", "fault"}));
  explain_command->add_option("--swizzle", explained.swizzle,
                              "B,M,S: where Swizzle<B, M, S> puts what; with the lab swizzle, by "
                              "your own function");
  explain_command->add_option("-o", explained.output, "write here instead of to standard output");
  explain_command->add_option("--dir", dir, "where LAB/LAB.cu are (labs)");
  explain_command->add_option("--rubric", rubric, "where each lab's LAB.toml is (data/limits)");
  explain_command->add_option("--device", options.device, "sim or sim:NAME (sim)");
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
    // Their options are not ours.
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (first == "class") lab32::grading::exec_python("lab32.classroom", {argv + 2, argv + argc});
    if (first == "report") lab32::grading::exec_python("lab32.report", {argv + 2, argv + argc});
    if (first == "similarity")
      lab32::grading::exec_python("lab32.similarity", {argv + 2, argv + argc});
    if (first == "nvcc")
      lab32::profiler::exec_nvcc(
          {argv + 2, argv + argc},
          lab32::model::read_profile(lab32::profiler::profile_of("sim")).arch);
  } catch (const lab32::Error& e) {
    complain(e.what());
    return kNotGraded;
  }
  std::vector<std::string> words(std::min(argv + 1, mark), mark);
  const auto command_is = [&](const CLI::App* command) {
    return !words.empty() && words[0] == command->get_name();
  };
  for (const auto& [command, what, given] :
       {std::make_tuple(run_command, &program, &program_arguments),
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

  for (std::vector<std::string>* words : {&program_arguments, &profile.arguments, &check.arguments,
                                          &explained.arguments, &options.labs})
    words->insert(words->end(), behind.begin(), behind.end());
  try {
    std::optional<lab32::CleanEnd> clean_end;
    if (grade_command->parsed() || ptx_command->parsed() || calibrate_command->parsed()) {
      clean_end.emplace(lab32::CleanEnd::Interrupt::too);
      std::signal(SIGPIPE, SIG_IGN);  // nobody reads: an output that cannot be written
    }
    if (profile_command->parsed() || check_command->parsed() || explain_command->parsed())
      clean_end.emplace(lab32::CleanEnd::Interrupt::not_watched);
    if (ptx_command->parsed()) return show_ptx(ptx_lab, ptx_file, ptx_device, ptx_output);
    if (profile_command->parsed()) return lab32::profiler::profile(profile);
    if (check_command->parsed()) return lab32::profiler::check(check);
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
    if (list_unsupported) return lab32::profiler::list_unsupported(program, program_device);
    if (run_command->parsed()) run_program(program, program_device, program_arguments, schedule);
    if (doctor_command->parsed()) {
      const lab32::device::Findings found = lab32::device::examine();
      print(found.text);
      return found.can_grade ? 0 : kNotGraded;
    }
    if (calibrate_command->parsed()) return calibrate(calibrated, rubric, output);
    if (!grade_command->parsed() && !explain_command->parsed()) return list_devices();
    options.dir = dir;
    options.rubric = rubric;
    options.progress = true;
    if (*seed_option || *explain_seed) options.seed = seed;
    if (explain_command->parsed()) return explain(explained, options);
    if (pictures) options.close_up.emplace();
    const bool history = lab32::report::wants_history() &&
                         (keeps_history || watches || is_an_attempt(format, output));
    if (watches) {
      if (format != "text" || !output.empty() || !json.empty())
        throw Error("--watch prints the text: it goes without --format, -o and --json");
      watch(options, history);
    }
    return grade(options, format, output, json, history);
  } catch (const std::exception& e) {
    complain(e.what());
    return kNotGraded;
  } catch (...) {
    complain("an error in the grader itself, of a kind that it does not know");
    return kNotGraded;
  }
}
