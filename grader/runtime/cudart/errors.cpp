#include "runtime/cudart/errors.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <set>
#include <sstream>
#include <system_error>
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

std::atomic<bool> refused{false};
std::atomic<void (*)()> at_end{nullptr};

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

// Only stdio's buffers may still hold output.
void exit_with_2() {
  if (!refused) return;
  std::fflush(nullptr);
  _exit(kNotSupported);
}

// Runs after the program's destructors and exit handlers and after those of libraries that it
// loaded later.
__attribute__((destructor)) void end_process() {
  if (const auto function = at_end.load()) function();
  exit_with_2();
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

ErrorNames& error_names() {
  thread_local ErrorNames names = error_name;
  return names;
}

void run_at_end(void (*function)()) { at_end = function; }

void refuse(const std::string& message) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::string what = message.substr(0, message.find('\n'));  // without the quoted PTX
  const std::lock_guard<std::mutex> lock(mutex);
  const bool first = !refused.exchange(true);
  if (first) handle_other_exits();
  if (!said.insert(what).second) return;
  // A line of device code is more precise than the line of the call.
  const std::string place =
      what.find("(source: ") == what.npos ? prefix(source_place(CallSite::current())) : "";
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

// ---------------------------------------------------------------------------------------------
// The source line of the program's call.

namespace {

namespace fs = std::filesystem;

// Enough frames to leave the toolkit's launch templates.
constexpr size_t kMostFrames = 8;
constexpr int kMostDepth = 64;

const link_map* map_of(const void* code) {
  Dl_info info;
  link_map* map = nullptr;
  return dladdr1(code, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) ? map : nullptr;
}

// The main program's entry has no name.
fs::path file_of(const link_map& map) {
  std::error_code error;
  return *map.l_name ? fs::path(map.l_name) : fs::read_symlink("/proc/self/exe", error);
}

fs::path addr2line() {
  const fs::path beside = toolchain::installed().host_compiler.parent_path() / "addr2line";
  return access(beside.c_str(), X_OK) == 0 ? beside : fs::path("/usr/bin/addr2line");
}

// A function, and "file:line" in it, for each address. Inlined functions give one each, the
// innermost first.
std::vector<std::pair<std::string, std::string>> lines_of(const CallSite& site) {
  Command command;
  command.argv = {addr2line().string(), "-f", "-C", "-i", "-e", site.file.string()};
  for (const uint64_t address : site.addresses)
    command.argv.push_back(fmt::format("{:#x}", address));
  command.environment = {"LC_ALL=C"};
  command.limits.wall_seconds = 10;
  std::vector<std::pair<std::string, std::string>> lines;
  std::istringstream out(run_process(command).out);
  // "/a/b.cu:12 (discriminator 2)"
  for (std::string function, line; std::getline(out, function) && std::getline(out, line);)
    lines.emplace_back(function, line.substr(0, line.find(" (")));
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

SourcePlace find_place(const CallSite& site) {
  if (site.addresses.empty()) return {};
  bool behind_stub = false;
  for (const auto& [function, line] : lines_of(site)) {
    const size_t colon = line.rfind(':');
    const fs::path file = fs::path(line.substr(0, colon)).lexically_normal();
    const std::string number = colon == line.npos ? "" : line.substr(colon + 1);
    if (number.empty() || number == "0" || number.size() > 9 ||
        number.find_first_not_of("0123456789") != number.npos)
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
      return {file.string(), std::stoi(number), function};
    }
  }
  return {};
}

}  // namespace

CallSite CallSite::current() {
  void* frames[kMostDepth];
  const int count = backtrace(frames, kMostDepth);
  CallSite found;
  const link_map *own = nullptr, *theirs = nullptr;
  for (int i = 0; i < count && found.addresses.size() < kMostFrames; ++i) {
    const link_map* map = map_of(frames[i]);
    if (!map) break;
    if (!own) own = map;  // the library that contains this function
    if (map == own && !theirs) continue;
    if (theirs && map != theirs) break;
    theirs = map;
    // A frame holds the return address, which may belong to the next line.
    found.addresses.push_back(reinterpret_cast<uint64_t>(frames[i]) - map->l_addr - 1);
  }
  if (theirs) found.file = file_of(*theirs);
  return found;
}

CallSite CallSite::of_code(const void* code) {
  void* frames[kMostDepth];
  const int count = backtrace(frames, kMostDepth);
  void** const end = frames + count;
  void** at = std::find(frames, end, code);
  CallSite found;
  const link_map* program = nullptr;
  // A library function such as memcpy() counts as its caller in the program.
  for (bool innermost = true; at < end && found.addresses.size() < kMostFrames;
       ++at, innermost = false) {
    const link_map* map = map_of(*at);
    if (!map) break;
    if (!program && *map->l_name) continue;
    if (program && map != program) break;
    program = map;
    found.addresses.push_back(reinterpret_cast<uint64_t>(*at) - map->l_addr - (innermost ? 0 : 1));
  }
  if (program) found.file = file_of(*program);
  return found;
}

SourcePlace source_place(const CallSite& site) {
  try {
    return find_place(site);
  } catch (const std::exception&) {  // addr2line is not installed
    return {};
  }
}

std::string prefix(const SourcePlace& place) {
  return place.line == 0 ? "" : fmt::format("{}:{}: ", shown_path(place.file), place.line);
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
