#include "profiler/build_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/elf.h"
#include "base/error.h"
#include "base/pattern.h"
#include "base/process.h"
#include "base/read_file.h"
#include "toolchain/cache.h"
#include "toolchain/toolchain.h"

namespace lab32::profiler {
namespace {

namespace fs = std::filesystem;

constexpr char kRuntime[] = "libcudart.so.13";
constexpr double kWallSeconds = 300;  // Thrust takes a minute on a slow machine

// The PTX is what runs; -lineinfo gives it source lines. The cubin, compiled along with it, says
// how many registers a kernel takes and how its accesses are issued.
const std::vector<std::string> kFlags = {"-x",      "cu",     "-std=c++17", "-lineinfo",
                                         "-cudart", "shared", "-MD",        "--compress-mode=none"};

// What a Makefile rule "target : a b \ c" names, but for the toolchain's own headers, which its
// identity stands for.
std::vector<fs::path> read_dependencies(const fs::path& rule) {
  const std::string text = read_file(rule).value_or("");
  std::vector<fs::path> files;
  std::string word;
  const auto end_of_word = [&] {
    const fs::path path = fs::path(word).lexically_normal();
    bool tool = false;
    for (const fs::path& root : toolchain::installed().roots)
      tool |= toolchain::is_inside(path, root) && root != toolchain::checkout();
    if (!word.empty() && !tool) files.push_back(path);
    word.clear();
  };
  size_t at = text.find(" :");
  for (at = at == std::string::npos ? text.size() : at + 2; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && at + 1 < text.size()) {
      if (text[++at] != '\n') word += text[at];  // a blank in a name
    } else if (c == ' ' || c == '\n' || c == '\t') {
      end_of_word();
    } else {
      word += c;
    }
  }
  end_of_word();
  return files;
}

// Names and contents of all that the program was made of.
std::string state_of(const std::vector<fs::path>& files) {
  std::string all;
  for (const fs::path& file : files) {
    const std::string text = read_file(file).value_or("");
    all += file.string() + "\n" + std::to_string(text.size()) + "\n" + text;
  }
  return toolchain::cache_key(all);
}

// A finished program in its directory, and beside it which files it was made of and their state.
bool is_current(const fs::path& directory) {
  std::ifstream list(directory / "made-of");
  std::string state, line;
  if (!std::getline(list, state) || access((directory / "program").c_str(), X_OK) != 0)
    return false;
  std::vector<fs::path> files;
  while (std::getline(list, line)) files.emplace_back(line);
  return state_of(files) == state;
}

void forget_oldest(const fs::path& programs) {
  constexpr size_t kMostPrograms = 200;
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (const auto& entry : fs::directory_iterator(programs, error))
    entries.emplace_back(entry.last_write_time(error), entry.path());
  if (entries.size() <= kMostPrograms) return;
  std::sort(entries.begin(), entries.end());
  for (size_t i = 0; i < entries.size() / 2; ++i) fs::remove_all(entries[i].second, error);
}

// nvcc hands what is the linker's to a shell as it is, but for quotes, which it takes care of.
std::string in_shell(const std::string& word) {
  return Pattern("[^A-Za-z0-9/._'\"-]").replace(word, "\\$0");
}

}  // namespace

fs::path runtime_directory() { return toolchain::checkout() / "build/cudart"; }

fs::path compile_program(const fs::path& source, const std::string& arch) {
  const toolchain::Toolchain& tools = toolchain::installed();
  const fs::path runtime = runtime_directory();
  if (!fs::exists(runtime / kRuntime))
    throw Error((runtime / kRuntime).string() + " is missing: `make build` makes it");

  std::vector<std::string> argv{tools.nvcc.string()};
  argv.insert(argv.end(), kFlags.begin(), kFlags.end());
  for (const std::string& word : {"-arch=" + arch, "-L" + runtime.string(), std::string("-Xlinker"),
                                  "-rpath=" + in_shell(runtime.string())})
    argv.push_back(word);
  std::string key = tools.identity;
  // nvcc reads more options from these.
  for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"})
    if (const char* flags = std::getenv(name)) key += std::string(name) + "=" + flags + "\n";
  for (const std::string& word : argv) key += word + "\n";
  const fs::path programs = toolchain::cache_directory() / "programs";
  const fs::path place = programs / toolchain::cache_key(key + fs::absolute(source).string());
  if (is_current(place)) return place / "program";

  // Made beside its place and moved there whole: another process may be at it, too.
  const fs::path scratch = place.string() + "." + std::to_string(getpid());
  std::error_code error;
  fs::create_directories(scratch, error);
  for (const fs::path& word :
       {fs::path("-MF"), scratch / "rule", fs::path("-o"), scratch / "program", source})
    argv.push_back(word.string());
  Command command;
  command.argv = argv;
  for (char** variable = environ; *variable; ++variable)
    if (std::string(*variable).rfind("PATH=", 0) != 0) command.environment.emplace_back(*variable);
  command.environment.push_back("PATH=" + tools.path);
  command.limits.wall_seconds = kWallSeconds;
  const Outcome nvcc = run_process(command);
  std::fputs((nvcc.out + nvcc.err).c_str(), stderr);
  if (!nvcc.ok()) {
    fs::remove_all(scratch, error);
    throw Error(fmt::format("{} does not compile (nvcc: {})", source.string(), describe(nvcc)));
  }
  const std::vector<fs::path> files = read_dependencies(scratch / "rule");
  std::ofstream list(scratch / "made-of");
  list << state_of(files) << "\n";
  for (const fs::path& file : files) list << file.string() << "\n";
  list.close();
  fs::remove_all(place, error);
  fs::rename(scratch, place, error);
  forget_oldest(programs);
  return (error ? scratch : place) / "program";
}

fs::path build_program(const fs::path& file, const std::string& arch) {
  std::error_code error;
  if (fs::is_directory(file, error)) throw Error(file.string() + " is a directory, not a program");
  if (!fs::is_regular_file(file, error)) throw Error(file.string() + ": there is no such file");
  std::ifstream in(file, std::ios::binary);
  char magic[4] = {};
  in.read(magic, sizeof magic);
  if (!is_elf({magic, sizeof magic})) {
    if (file.extension() == ".cu" || file.extension() == ".cpp" || file.extension() == ".cc")
      return compile_program(file, arch);
    throw Error(file.string() + " is neither a .cu file nor a compiled program");
  }
  const std::string bytes = read_file(file).value_or("");
  const ElfFile elf = read_elf(bytes, file.string());
  for (const std::string& library : elf.needed) {
    if (library == kRuntime) return fs::absolute(file);
    if (library.rfind("libcudart.so", 0) == 0)
      throw Error(
          fmt::format("{} was built for {}, and the simulated runtime is {}: build it with "
                      "CUDA 13, or give lab32 its source",
                      file.string(), library, kRuntime));
  }
  throw Error(file.string() +
              " is not linked with the shared CUDA runtime: build it with `nvcc -cudart "
              "shared`, or give lab32 its source");
}

}  // namespace lab32::profiler
