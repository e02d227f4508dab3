#include "runtime/profiler/start.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/child.h"
#include "base/elf.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "runtime/profiler/build_program.h"
#include "runtime/profiler/libraries.h"
#include "runtime/profiler/nvcc_words.h"
#include "simulator/timing/profile.h"

namespace lab32::profiler {
namespace {

// The program's environment and arguments. They are prepared before fork(), so that the child only
// calls replace_process_by_program().
class ArgumentsAndEnvironment {
 public:
  explicit ArgumentsAndEnvironment(const ProgramToStart& start) {
    words_.push_back(start.called.empty() ? start.program.string() : start.called);
    words_.insert(words_.end(), start.arguments.begin(), start.arguments.end());

    const auto is_ours = [](const std::string& variable) {
      for (const EnvironmentVariableName& ours :
           {variables::kLibraryPath, variables::kTool, variables::kRecord, variables::kDevice,
            variables::kSchedule, variables::kLaunchDetail, variables::kGpus})
        if (variable.rfind(ours.name + std::string("="), 0) == 0) return true;
      return false;
    };
    for (const std::string& variable : environment())
      if (!is_ours(variable)) environment_.push_back(variable);
    // This directory is searched first, so that no real runtime is found before the simulated one.
    const std::string libraries = environment_value(variables::kLibraryPath);
    add_to_child_environment(
        variables::kLibraryPath,
        runtime_directory().string() + (libraries.empty() ? "" : ":" + libraries));
    // NVRTC and PyCUDA put PTX into cubins only if told to by this variable. Python packages would
    // use NVIDIA's nvJitLink to link machine code; without it they ask the driver, which links PTX.
    if (is_linked_with(start.program, "libnvrtc.so"))
      preload_library(runtime_directory() / "libnvrtc_lines.so");
    if (can_load_cuda_at_runtime(start.program)) {
      if (!is_set(variables::kPyCudaFlags))
        add_to_child_environment(variables::kPyCudaFlags, "-lineinfo");
      preload_library(runtime_directory() / "absent/libnvJitLink.so.13");
    }
    add_to_child_environment(variables::kTool, start.tool);
    add_to_child_environment(variables::kDevice, start.device);
    add_to_child_environment(variables::kGpus, std::to_string(start.gpus));
    if (start.schedule)
      add_to_child_environment(variables::kSchedule, std::to_string(*start.schedule));
    if (!start.launch_detail.empty())
      add_to_child_environment(variables::kLaunchDetail, start.launch_detail);
    if (!start.record.empty()) add_to_child_environment(variables::kRecord, start.record.string());

    for (std::string& word : words_) argv_.push_back(word.data());
    for (std::string& variable : environment_) envp_.push_back(variable.data());
    argv_.push_back(nullptr);
    envp_.push_back(nullptr);
  }
  ArgumentsAndEnvironment(const ArgumentsAndEnvironment&) = delete;
  ArgumentsAndEnvironment& operator=(const ArgumentsAndEnvironment&) = delete;

  int exec(const char* program) { return execve(program, argv_.data(), envp_.data()); }

 private:
  void add_to_child_environment(const EnvironmentVariableName& variable, const std::string& value) {
    environment_.push_back(variable.name + ("=" + value));
  }
  void preload_library(const std::filesystem::path& library) {
    for (std::string& variable : environment_) {
      if (variable.rfind("LD_PRELOAD=", 0) != 0) continue;
      variable += ":" + library.string();
      return;
    }
    environment_.push_back("LD_PRELOAD=" + library.string());
  }

  std::vector<std::string> words_, environment_;
  std::vector<char*> argv_, envp_;
};

[[noreturn]] void fail(const ProgramToStart& start, int reason) {
  throw Error(start.program.string() + " cannot be started: " + std::strerror(reason));
}

}  // namespace

std::string profile_name_of_device_option(const std::string& device) {
  if (device == "auto" || device == "sim") return "h200";
  if (device.rfind("sim:", 0) == 0) return device.substr(4);
  throw Error("programs run on the simulator only: --device sim or sim:NAME, not " + device);
}

void replace_process_by_program(const ProgramToStart& start) {
  ArgumentsAndEnvironment image(start);
  image.exec(start.program.c_str());
  fail(start, errno);
}

int run_and_wait(const ProgramToStart& start) {
  ArgumentsAndEnvironment image(start);
  ExecStatusPipe report;
  // Ctrl-C interrupts the program. This process continues and shows the recorded launches.
  struct sigaction ignore {
  }, interrupt{}, quit{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &interrupt);
  sigaction(SIGQUIT, &ignore, &quit);
  const auto restore = [&] {
    sigaction(SIGINT, &interrupt, nullptr);
    sigaction(SIGQUIT, &quit, nullptr);
  };
  int reason = 0, status = 0;
  try {
    // If a batch system kills profile or check, the program must end, too.
    ChildProcess child(start.program.string(), ChildProcess::Group::ours, [&] {
      restore();
      image.exec(start.program.c_str());
      report.send_errno_and_exit(errno);
    });
    reason = report.exec_error();
    status = child.wait_for_raw_status();
  } catch (...) {
    restore();
    throw;
  }
  restore();
  if (reason != 0) fail(start, reason);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string exit_status_text(int status) {
  if (status <= 128 || !sigabbrev_np(status - 128))
    return fmt::format("the program's own exit status: {}", status);
  return fmt::format(
      "the program was killed by SIG{} ({}){}", sigabbrev_np(status - 128),
      sigdescr_np(status - 128),
      status - 128 == SIGSEGV ? "; host code that accesses device memory ends so" : "");
}

RecordedRun run_recorded(const ProgramOrSources& program, const std::string& device,
                         const std::vector<std::string>& arguments, const std::string& tool,
                         const ProgramStartOptions& asked) {
  const ScratchDirectory scratch;
  const std::string record = scratch.path / "record";
  ProgramToStart start;
  start.device = profile_name_of_device_option(device);
  start.program = build_program(program, model::read_device_profile(start.device).arch);
  start.called = program.file;
  start.arguments = arguments;
  start.tool = tool;
  start.record = record;
  start.schedule = asked.schedule;
  start.gpus = asked.gpus;
  start.launch_detail = asked.launch_detail;
  RecordedRun run;
  run.status = run_and_wait(start);
  std::ifstream in(record);
  run.recording = record::read_recording(in, record);
  // The cached program has another file name than the user's source.
  const std::filesystem::path given(program.file);
  if (given.extension() == ".cu")
    for (record::LaunchProfile& launch : run.recording.launches)
      launch.process_name = given.stem().string();
  return run;
}

namespace {

using Tell = void (*)(void* context, const char* name, const char* text);
using List = int (*)(const char* const* files, const char* profile, Tell tell, void* context);

constexpr int kUnsupported = 2;

// Finds the function with which the simulated runtime lists what it refuses.
List load_unsupported_feature_lister() {
  const std::string library = (runtime_directory() / kRuntime).string();
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* list = handle ? dlsym(handle, "lab32_list_unsupported") : nullptr;
  if (!list) throw Error(fmt::format("{} cannot be examined: {}", library, dlerror()));
  return reinterpret_cast<List>(list);
}

// Imports of lab32's own libraries are not counted as the program's.
bool is_in_runtime_directory(const std::string& path) {
  std::error_code error;
  return std::filesystem::equivalent(std::filesystem::path(path).parent_path(), runtime_directory(),
                                     error);
}

// "a.cu:12: " for the first line in the sources that contains the name. Comments are not skipped.
std::string location_of_first_mention(const std::string& name, const ProgramOrSources& program) {
  if (name.empty()) return {};
  std::vector<std::string> sources = program.words;
  sources.insert(sources.begin(), program.file);
  const RegularExpression whole("\\b" + name + "\\b");
  for (const std::string& source : sources) {
    if (!is_source_file(source)) continue;
    int number = 0;
    std::istringstream text(read_file(source).value_or(""));
    for (std::string line; std::getline(text, line);) {
      ++number;
      if (whole.search(line)) return fmt::format("{}:{}: ", source, number);
    }
  }
  return {};
}

}  // namespace

int list_unsupported(const ProgramOrSources& program, const std::string& device) {
  const std::string profile = profile_name_of_device_option(device);
  const std::filesystem::path built =
      build_program(program, model::read_device_profile(profile).arch);
  struct UnsupportedFeatureMessages {
    const ProgramOrSources& program;
    std::vector<std::string> lines;
  } found{program, {}};

  std::vector<std::string> files = {built.string()};
  for (const LinkedSharedLibrary& library :
       shared_libraries_of_program(built, runtime_directory())) {
    if (const auto why = library_refusal_reason(library.name))
      found.lines.push_back(*why);
    else if (!is_in_runtime_directory(library.path) && is_users_library(library.path))
      files.push_back(library.path);
  }
  std::vector<const char*> names;
  for (const std::string& file : files) names.push_back(file.c_str());
  names.push_back(nullptr);
  const auto tell = [](void* context, const char* name, const char* text) {
    auto& all = *static_cast<UnsupportedFeatureMessages*>(context);
    all.lines.push_back(location_of_first_mention(name, all.program) + text);
  };
  const int failed = load_unsupported_feature_lister()(names.data(), profile.c_str(), tell, &found);
  if (failed) throw Error(found.lines.back());
  for (const std::string& line : found.lines) fmt::print("{}\n", visible(line));
  const size_t n = found.lines.size();
  if (n == 0)
    fmt::print("lab32: {} uses supported features only\n", program.file);
  else
    fmt::print("lab32: {} needs {} that {} not supported\n", program.file,
               n == 1 ? "1 thing" : fmt::format("{} things", n), n == 1 ? "is" : "are");
  std::fflush(stdout);
  return n ? kUnsupported : 0;
}

}  // namespace lab32::profiler
