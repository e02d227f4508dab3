#include "runtime/profiler/build_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/elf.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "runtime/profiler/libraries.h"
#include "runtime/profiler/nvcc_words.h"
#include "toolchain/cache.h"
#include "toolchain/toolchain.h"

namespace lab32::profiler {
namespace {

namespace fs = std::filesystem;

constexpr double kWallSeconds = 300;  // a program with Thrust takes a minute on a slow machine

// The files in a Makefile rule "target : a b \ c", except the toolchain's own headers, which the
// toolchain's version covers.
std::vector<fs::path> read_dependencies(const fs::path& rule) {
  const std::string text = read_file(rule).value_or("");
  std::vector<fs::path> files;
  std::string word;
  const auto end_of_word = [&] {
    const fs::path path = fs::path(word).lexically_normal();
    bool tool = false;
    for (const fs::path& root : toolchain::installed_toolchain().roots)
      tool |= toolchain::is_inside(path, root) && root != toolchain::checkout_directory();
    if (!word.empty() && !tool) files.push_back(path);
    word.clear();
  };
  size_t at = text.find(" :");
  for (at = at == std::string::npos ? text.size() : at + 2; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && at + 1 < text.size()) {
      if (text[++at] != '\n') word += text[at];  // an escaped blank in a name
    } else if (c == ' ' || c == '\n' || c == '\t') {
      end_of_word();
    } else {
      word += c;
    }
  }
  end_of_word();
  return files;
}

// A hash of the names and contents of all files that the program was made of.
std::string hash_of_inputs(const std::vector<fs::path>& files) {
  std::string all;
  for (const fs::path& file : files) {
    const std::string text = read_file(file).value_or("");
    all += file.string() + "\n" + std::to_string(text.size()) + "\n" + text;
  }
  return toolchain::cache_key(all);
}

// Whether the finished program in the directory is up to date. A file beside it has the hash and
// the list of the files that it was made of.
bool has_up_to_date_program(const fs::path& directory) {
  std::ifstream list(directory / "made-of");
  std::string state, line;
  if (!std::getline(list, state) || access((directory / "program").c_str(), X_OK) != 0)
    return false;
  std::vector<fs::path> files;
  while (std::getline(list, line)) files.emplace_back(line);
  return hash_of_inputs(files) == state;
}

void evict_oldest_programs(const fs::path& programs) {
  constexpr size_t kMostPrograms = 200;
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (const auto& entry : fs::directory_iterator(programs, error))
    entries.emplace_back(entry.last_write_time(error), entry.path());
  if (entries.size() <= kMostPrograms) return;
  std::sort(entries.begin(), entries.end());
  for (size_t i = 0; i < entries.size() / 2; ++i) fs::remove_all(entries[i].second, error);
}

// Refuses options that ask nvcc for something other than a whole program.
void refuse_options(const NvccWords& words) {
  static const std::set<std::string, std::less<>> kOthers = {"o",
                                                             "output-file",
                                                             "c",
                                                             "compile",
                                                             "dc",
                                                             "device-c",
                                                             "dw",
                                                             "device-w",
                                                             "dlink",
                                                             "device-link",
                                                             "lib",
                                                             "run",
                                                             "link",
                                                             "fatbin",
                                                             "cubin",
                                                             "ptx",
                                                             "E",
                                                             "preprocess",
                                                             "cuda",
                                                             "dryrun",
                                                             "clean",
                                                             "odir",
                                                             "output-directory",
                                                             "MF",
                                                             "dependency-output",
                                                             "MD",
                                                             "M"};
  for (const auto& option : words.options)
    if (kOthers.count(option_name(option[0])))
      throw Error(fmt::format(
          "{}: this command builds and runs a whole program; use `lab32 nvcc` to build in steps",
          option[0]));
}

// Whether the options already set the host compiler's debug level: -g, -Xcompiler -g3,-Wall.
bool is_host_debug_option(const std::vector<std::string>& option) {
  const std::string_view name = option_name(option[0]);
  if (name != "Xcompiler" && name != "compiler-options") return name == "g" || name == "debug";
  static const RegularExpression level("(^|[ ,=])-g");
  return level.search(option.back()).has_value();
}

class NvccExecutableBuilder {
 public:
  NvccExecutableBuilder(const ProgramOrSources& program, const std::string& arch) : arch_(arch) {
    const toolchain::Toolchain& tools = toolchain::installed_toolchain();
    const fs::path runtime = runtime_directory();
    if (!fs::exists(runtime / kRuntime))
      throw Error((runtime / kRuntime).string() + " is missing: `make build` makes it");
    NvccWords words = split_words(program.words);
    refuse_options(words);
    inputs_ = std::move(words.inputs);
    inputs_.insert(inputs_.begin(), program.file);
    std::vector<std::string> given;
    bool debug = false;
    for (const auto& option : words.options) {
      if (const auto why =
              option[0].rfind("-l", 0) == 0 ? library_refusal_reason(option[0]) : std::nullopt)
        throw Error(*why);
      standard_ |= option_name(option[0]) == "std";
      language_ |= option_name(option[0]) == "x";
      debug |= is_host_debug_option(option);
      given.insert(given.end(), option.begin(), option.end());
    }
    options_ =
        nvcc_words_for_simulator(with_toolkit_library_paths(given, tools.cuda_home), arch, runtime);
    // Messages about unsupported functions name the line of the call (runtime/cudart/errors.cpp).
    // With DWARF 5, addr2line of binutils 2.40 names the wrong file.
    if (!debug) options_.insert(options_.end(), {"-Xcompiler", "-g1,-gdwarf-4"});

    std::error_code error;
    std::string key = tools.identity + fs::current_path(error).string() + "\n";
    // nvcc reads more options from these variables, so they are examined, too.
    for (const EnvironmentVariableName& flags : {variables::kNvccPrepend, variables::kNvccAppend})
      if (is_set(flags)) key += flags.name + ("=" + environment_value(flags)) + "\n";
    for (const std::string& word : options_) key += word + "\n";
    for (const std::string& file : inputs_) key += fs::absolute(file).string() + "\n";
    place_ = toolchain::cache_directory() / "programs" / toolchain::cache_key(key);
  }

  std::string debug_ptx() {
    scratch_ = place_.string() + ".ptx." + std::to_string(getpid());
    std::error_code error;
    fs::create_directories(scratch_, error);
    const fs::path made = scratch_ / "types.ptx";
    std::vector<std::string> words = {"-ptx", "-G", "-o", made.string(), inputs_[0]};
    if (!standard_) words.push_back("-std=c++17");
    // PTX is for one architecture, so the -gencode option at the front is dropped. -G has its own
    // line information.
    options_.erase(options_.begin(), options_.begin() + 2);
    options_.erase(std::remove(options_.begin(), options_.end(), "-lineinfo"), options_.end());
    words.push_back("-arch=" + arch_);
    const ProcessOutcome outcome = run_nvcc(words);
    const std::string text = outcome.ok() ? read_file(made).value_or("") : "";
    fs::remove_all(scratch_, error);
    return text;
  }

  fs::path build_program_if_outdated() {
    if (has_up_to_date_program(place_)) return place_ / "program";
    // Built beside the final path and then renamed, because another process may build the same
    // program.
    scratch_ = place_.string() + "." + std::to_string(getpid());
    std::error_code error;
    fs::create_directories(scratch_, error);
    try {
      compile_and_link();
    } catch (...) {
      fs::remove_all(scratch_, error);
      throw;
    }
    std::ofstream list(scratch_ / "made-of");
    list << hash_of_inputs(files_) << "\n";
    for (const fs::path& file : files_) list << file.string() << "\n";
    list.close();
    fs::remove_all(place_, error);
    fs::rename(scratch_, place_, error);
    evict_oldest_programs(place_.parent_path());
    return (error ? scratch_ : place_) / "program";
  }

 private:
  // Compiles and links. A single file takes one step; several files are compiled one at a time, so
  // that each reports its includes.
  void compile_and_link() {
    std::vector<std::string> objects;
    for (const std::string& input : inputs_) {
      if (!is_source_file(input)) {
        objects.push_back(input);
        files_.push_back(fs::absolute(input));
        continue;
      }
      const bool alone = inputs_.size() == 1;
      const fs::path made = scratch_ / (alone ? "program" : std::to_string(objects.size()) + ".o");
      const fs::path rule = scratch_ / "rule";
      std::vector<std::string> words = {"-MD", "-MF", rule.string(), "-o", made.string(), input};
      const std::string kind = fs::path(input).extension().string();
      if (!standard_ && kind != ".c") words.push_back("-std=c++17");
      // A single file counts as a CUDA program, whatever its suffix.
      if (alone && !language_ && kind != ".cu") words.insert(words.end(), {"-x", "cu"});
      if (!alone) words.push_back("-c");
      run_nvcc_or_fail(words, input + " does not compile");
      const std::vector<fs::path> read = read_dependencies(rule);
      files_.insert(files_.end(), read.begin(), read.end());
      if (alone) return;
      objects.push_back(made.string());
    }
    std::vector<std::string> words = {"-o", (scratch_ / "program").string()};
    words.insert(words.end(), objects.begin(), objects.end());
    run_nvcc_or_fail(words, inputs_[0] + " and the files given with it cannot be linked");
  }

  ProcessOutcome run_nvcc(const std::vector<std::string>& words) {
    const toolchain::Toolchain& tools = toolchain::installed_toolchain();
    ProcessCommand command;
    command.argv = {tools.nvcc.string()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    // Options follow the files, because the linker needs libraries in this order.
    command.argv.insert(command.argv.end(), options_.begin(), options_.end());
    for (const std::string& variable : environment())
      if (variable.rfind("PATH=", 0) != 0) command.environment.push_back(variable);
    command.environment.push_back("PATH=" + tools.path);
    command.limits.wall_seconds = kWallSeconds;
    return run_process(command);
  }

  void run_nvcc_or_fail(const std::vector<std::string>& words, const std::string& otherwise) {
    const ProcessOutcome outcome = run_nvcc(words);
    std::fputs((outcome.out + outcome.err).c_str(), stderr);
    if (outcome.ok()) return;
    for (const auto& why :
         {library_refusal_in_messages(outcome.err), hint_about_old_code(outcome.err)})
      if (why) throw Error(otherwise + ": " + *why);
    throw Error(fmt::format("{} (nvcc: {})", otherwise, describe(outcome)));
  }

  const std::string arch_;
  std::vector<std::string> inputs_, options_;
  bool standard_ = false, language_ = false;  // whether -std and -x are given
  fs::path place_, scratch_;
  std::vector<fs::path> files_;  // files that the program was made of
};

// Checks a program that was built elsewhere.
void check_prebuilt_program(const fs::path& file) {
  const std::string bytes = read_file(file).value_or("");
  const ElfFile elf = read_elf(bytes, file.string());
  std::vector<std::string> libraries = elf.needed;
  for (const std::string& library : libraries)
    if (const auto why = library_refusal_reason(library))
      throw Error(file.string() + " needs " + *why);
  const auto is_runtime = [](const std::string& name) {
    return name.rfind("libcudart.so", 0) == 0;
  };
  const bool dynamic = elf.find(".interp") != nullptr && !libraries.empty();
  const bool itself = std::any_of(libraries.begin(), libraries.end(), is_runtime);
  const bool device_code = elf.find(".nv_fatbin") != nullptr;
  // One of the program's libraries may be linked with the runtime instead.
  if (!itself && !device_code && dynamic)
    for (const LinkedSharedLibrary& library :
         shared_libraries_of_program(file, runtime_directory()))
      libraries.push_back(library.name);
  for (const std::string& library : libraries) {
    if (library == kRuntime || library == kDriver) return;
    if (is_runtime(library))
      throw Error(
          fmt::format("{} was built for {}, but the simulated runtime is {}: build it with "
                      "CUDA 13, or give lab32 its source",
                      file.string(), library, kRuntime));
  }
  if (device_code)
    throw Error(
        fmt::format("{} contains NVIDIA's static CUDA runtime (nvcc's default), which needs a "
                    "GPU's driver: build it with `lab32 nvcc` or `nvcc -cudart shared`, or give "
                    "lab32 its source",
                    file.string()));
  if (can_load_cuda_at_runtime(file)) return;
  throw Error(file.string() + " is not a CUDA program: it has no device code and no CUDA runtime");
}

// As in a shell, a word without a slash that is not a file here is a command, such as `python`.
fs::path program_on_path_or_word(const std::string& word) {
  std::error_code error;
  if (word.find('/') != std::string::npos || is_input_file(word) || fs::exists(word, error))
    return word;
  std::istringstream directories(environment_value(variables::kPath));
  for (std::string directory; std::getline(directories, directory, ':');) {
    const fs::path file = fs::path(directory) / word;
    if (fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0) return file;
  }
  return word;
}

}  // namespace

fs::path runtime_directory() { return toolchain::checkout_directory() / "build/runtime"; }

fs::path build_program(const ProgramOrSources& program, const std::string& arch) {
  const fs::path file = program_on_path_or_word(program.file);
  std::error_code error;
  if (fs::is_directory(file, error)) throw Error(file.string() + " is a directory, not a program");
  if (!fs::is_regular_file(file, error)) throw Error(file.string() + ": there is no such file");
  if (is_source_file(program.file))
    return NvccExecutableBuilder(program, arch).build_program_if_outdated();
  std::ifstream in(file, std::ios::binary);
  char magic[4] = {};
  in.read(magic, sizeof magic);
  if (std::string(magic, 2) == "#!" && access(file.c_str(), X_OK) == 0 && program.words.empty())
    return fs::absolute(file);
  if (!is_elf({magic, sizeof magic}))
    throw Error(file.string() + " is neither a .cu file nor a compiled program");
  if (file.extension() == ".o" || file.extension() == ".a")
    throw Error(file.string() + ": give a source first, then objects and libraries");
  if (!program.words.empty())
    throw Error(fmt::format(
        "{} is already built, so {} has no use here (the program's own arguments go after --)",
        file.string(), program.words[0]));
  check_prebuilt_program(file);
  return fs::absolute(file);
}

std::string debug_ptx(const ProgramOrSources& program, const std::string& arch) {
  return is_source_file(program.file) ? NvccExecutableBuilder(program, arch).debug_ptx() : "";
}

void exec_nvcc(const std::vector<std::string>& words, const std::string& arch) {
  if (words == std::vector<std::string>{"--cmake"}) {
    fmt::print(
        "{}\n",
        (toolchain::checkout_directory() / "grader/runtime/profiler/cmake/lab32.cmake").string());
    std::fflush(stdout);
    std::exit(0);
  }
  for (const std::string& word : words)
    if (const auto why = word.rfind("-l", 0) == 0 ? library_refusal_reason(word) : std::nullopt)
      throw Error(*why);
  const toolchain::Toolchain& tools = toolchain::installed_toolchain();
  // CMake's launchers pass the compiler's name first.
  const bool named = !words.empty() && fs::path(words[0]).filename() == "nvcc";
  std::vector<std::string> all = nvcc_words_for_simulator(
      with_toolkit_library_paths({words.begin() + named, words.end()}, tools.cuda_home), arch,
      runtime_directory());
  all.insert(all.begin(), tools.nvcc.string());
  setenv(variables::kPath.name, (tools.path + ":" + environment_value(variables::kPath)).c_str(),
         1);
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  throw Error(tools.nvcc.string() + " cannot be started: " + std::strerror(errno));
}

}  // namespace lab32::profiler
