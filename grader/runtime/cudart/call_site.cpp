#include "runtime/cudart/call_site.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/process.h"
#include "toolchain/toolchain.h"

namespace lab32::cudart {
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

CallSite CallSite::at(const void* code) {
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
