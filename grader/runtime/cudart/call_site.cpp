#include "runtime/cudart/call_site.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <sstream>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/process.h"
#include "toolchain/toolchain.h"

namespace lab32::cudart {
namespace {

namespace fs = std::filesystem;

// Enough to leave the toolkit's templates around a launch.
constexpr size_t kMostFrames = 8;

// A program or library, and addresses in it as its file has them.
struct Callers {
  fs::path file;
  std::vector<uint64_t> addresses;
};

// The innermost calls outside this library, as long as they lie in one file.
Callers callers() {
  void* frames[64];
  const int count = backtrace(frames, 64);
  Callers found;
  const link_map *own = nullptr, *theirs = nullptr;
  for (int i = 0; i < count && found.addresses.size() < kMostFrames; ++i) {
    Dl_info info;
    link_map* map = nullptr;
    if (!dladdr1(frames[i], &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP)) break;
    if (!own) own = map;  // this function's
    if (map == own && !theirs) continue;
    if (theirs && map != theirs) break;
    theirs = map;
    // A frame is where its call returns to, which may be another line already.
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

// "file:line" of each, those of inlined functions one by one, the innermost first.
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
    // A file of nvcc's that is gone: it has left out where this stands in the source.
    if (ends_with(file.string(), ".cudafe1.cpp")) return {};
    // nvcc makes of `kernel<<<...>>>()` a call of a function that stands at the kernel's line and
    // calls one in a file of nvcc's.
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

}  // namespace

std::string call_site() {
  try {
    return place();
  } catch (const std::exception&) {  // no addr2line
    return {};
  }
}

}  // namespace lab32::cudart
