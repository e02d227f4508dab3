#include "runtime/cudart/errors.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/core.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "runtime/record/recording.h"
#include "toolchain/toolchain.h"

namespace lab32::cudart {

void print_message(const std::string& text) {
  std::fflush(stdout);  // Keeps the order of output if stdout and stderr are the same file.
  std::fprintf(stderr, "lab32: %s\n", text.c_str());
}

namespace {

namespace fs = std::filesystem;

// Enough frames to leave the toolkit's launch templates.
constexpr size_t kMostFrames = 8;

// A program or library, and addresses relative to its file.
struct Callers {
  fs::path file;
  std::vector<uint64_t> addresses;
};

// The innermost consecutive frames outside this library that are in one file.
Callers callers() {
  void* frames[64];
  const int count = backtrace(frames, 64);
  Callers found;
  const link_map *own = nullptr, *theirs = nullptr;
  for (int i = 0; i < count && found.addresses.size() < kMostFrames; ++i) {
    Dl_info info;
    link_map* map = nullptr;
    if (!dladdr1(frames[i], &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP)) break;
    if (!own) own = map;  // the library that contains this function
    if (map == own && !theirs) continue;
    if (theirs && map != theirs) break;
    theirs = map;
    // A frame holds the return address, which may belong to the next line.
    found.addresses.push_back(reinterpret_cast<uint64_t>(frames[i]) - map->l_addr - 1);
  }
  std::error_code error;
  if (theirs)
    found.file =
        *theirs->l_name ? fs::path(theirs->l_name) : fs::read_symlink("/proc/self/exe", error);
  return found;
}

fs::path addr2line() {
  const fs::path beside = toolchain::installed().host_compiler.parent_path() / "addr2line";
  return access(beside.c_str(), X_OK) == 0 ? beside : fs::path("/usr/bin/addr2line");
}

// "file:line" for each address. Inlined functions give one each, the innermost first.
std::vector<std::string> lines_of(const Callers& callers) {
  Command command;
  command.argv = {addr2line().string(), "-i", "-e", callers.file.string()};
  for (const uint64_t address : callers.addresses)
    command.argv.push_back(fmt::format("{:#x}", address));
  command.environment = {"LC_ALL=C"};
  command.limits.wall_seconds = 10;
  std::vector<std::string> lines;
  std::istringstream out(run_process(command).out);
  // "/a/b.cu:12 (discriminator 2)"
  for (std::string line; std::getline(out, line);) lines.push_back(line.substr(0, line.find(" (")));
  return lines;
}

bool is_header_of_toolkit(const fs::path& file) {
  if (std::find(file.begin(), file.end(), "include") == file.end()) return false;
  const auto& roots = toolchain::installed().roots;
  return std::any_of(roots.begin(), roots.end(),
                     [&](const fs::path& root) { return toolchain::is_inside(file, root); });
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.npos, end) == 0;
}

std::string place() {
  const Callers from = callers();
  if (from.addresses.empty()) return {};
  bool behind_stub = false;
  for (const std::string& line : lines_of(from)) {
    const size_t colon = line.rfind(':');
    const fs::path file = fs::path(line.substr(0, colon)).lexically_normal();
    const std::string number = colon == line.npos ? "" : line.substr(colon + 1);
    if (number.empty() || number == "0" || number.find_first_not_of("0123456789") != number.npos)
      return {};
    // nvcc deleted this temporary file. It omits the line directive here.
    if (ends_with(file.string(), ".cudafe1.cpp")) return {};
    // nvcc compiles `kernel<<<...>>>()` to a call of a function at the kernel's line, which calls a
    // function in a temporary file of nvcc's.
    if (ends_with(file.string(), ".stub.c")) {
      behind_stub = true;
    } else if (std::exchange(behind_stub, false) || is_header_of_toolkit(file)) {
      continue;
    } else {
      return shown_path(file.string()) + ":" + number + ": ";
    }
  }
  return {};
}

// "a.cu:12: " for the current call if the program's line information has its line; otherwise "",
// because no line is better than a wrong one. Runs addr2line, which takes some hundredths of a
// second.
std::string call_site() {
  try {
    return place();
  } catch (const std::exception&) {  // addr2line is not installed
    return {};
  }
}

}  // namespace

namespace {

std::atomic<bool> refused{false};

struct Text {
  const char *name, *text;
};

Text find(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define ERROR(value, name, text) \
  case value:                    \
    return {#name, text};
#include "runtime/cudart/errors.def"
#undef ERROR
    default:
      return {"unrecognized error code", "unrecognized error code"};
  }
}

// Runs after the program's destructors and exit handlers and after those of libraries that it
// loaded later. Only stdio's buffers may still hold output.
__attribute__((destructor)) void exit_with_2() {
  if (!refused) return;
  std::fflush(nullptr);
  _exit(kNotSupported);
}

// After an unexpected error a program may throw, fail an assertion, or exit without exit handlers.
// A program with its own handler keeps it.
void handle_other_exits() {
  at_quick_exit([] { exit_with_2(); });
  struct sigaction old {
  }, leave{};
  leave.sa_handler = [](int) { _exit(kNotSupported); };
  if (sigaction(SIGABRT, nullptr, &old) == 0 && old.sa_handler == SIG_DFL)
    sigaction(SIGABRT, &leave, nullptr);
}

}  // namespace

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

const char*& driver_function() {
  thread_local const char* name = nullptr;
  return name;
}

cudaError_t store_error(cudaError_t error) {
  // "Not ready" is an answer, not an error.
  if (error != cudaSuccess && error != cudaErrorNotReady && !driver_function())
    last_error() = error;
  return error;
}

const char* error_name(cudaError_t error) { return find(error).name; }
const char* error_text(cudaError_t error) { return find(error).text; }

void refuse(const std::string& message) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::string what = message.substr(0, message.find('\n'));  // without the quoted PTX
  const std::lock_guard<std::mutex> lock(mutex);
  const bool first = !refused.exchange(true);
  if (first) handle_other_exits();
  if (!said.insert(what).second) return;
  // A line of device code is more precise than the line of the call.
  const std::string place = what.find("(source: ") == what.npos ? call_site() : "";
  print_message(place + what + (first ? "; the program's results are not valid from here on" : ""));
  if (const std::string path = value_of(variables::kRecord); !path.empty())
    record::append_line(path, record::to_line_unsupported(what));
}

std::vector<std::string> refused_names() {
  std::vector<std::string> names = {
#define WORKS(name)
#define REFUSES(name) #name,
#include "runtime/cudart/api.def"
#undef WORKS
#undef REFUSES
  };
  std::sort(names.begin(), names.end());
  return names;
}

std::string refusal_of(const std::string& name) {
  return fmt::format("{} is not supported by the simulated runtime", name);
}

}  // namespace lab32::cudart

namespace {

// The function ignores its arguments. With this platform's calling convention, in which the caller
// cleans up, a function without parameters may be called with any.
cudaError_t refuse_call(const char* name) {
  lab32::cudart::refuse(lab32::cudart::refusal_of(name));
  return lab32::cudart::store_error(cudaErrorNotSupported);
}

}  // namespace

// Other C++ names, because the toolkit's header declares the functions with their parameters.
#define WORKS(name)
#define REFUSES(name)                                                                       \
  extern "C" __attribute__((visibility("default"))) cudaError_t refuse_##name() asm(#name); \
  cudaError_t refuse_##name() { return refuse_call(#name); }
#include "runtime/cudart/api.def"
#undef WORKS
#undef REFUSES
