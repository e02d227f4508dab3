// The source line of the program's call, and the names of allocations (errors.h).
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/process.h"
#include "runtime/cudart/errors.h"
#include "toolchain/toolchain.h"

namespace lab32::cudart {
namespace {

namespace fs = std::filesystem;

// The frames to search: enough to get beyond the launch templates of the toolkit's headers.
constexpr size_t kMostFrames = 8;
constexpr int kMostDepth = 64;

const link_map* link_map_of(const void* code) {
  Dl_info info;
  link_map* map = nullptr;
  return dladdr1(code, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) ? map : nullptr;
}

// For the main program, the loader has no name.
fs::path file_of_link_map(const link_map& map) {
  std::error_code error;
  return *map.l_name ? fs::path(map.l_name) : fs::read_symlink("/proc/self/exe", error);
}

fs::path find_addr2line() {
  const fs::path beside =
      toolchain::installed_toolchain().host_compiler.parent_path() / "addr2line";
  return access(beside.c_str(), X_OK) == 0 ? beside : fs::path("/usr/bin/addr2line");
}

// The function, and "file:line" in it, for each address. An inlined function gives an entry of its
// own; the innermost comes first.
std::vector<std::pair<std::string, std::string>> functions_and_lines_of(const HostCallSite& site) {
  ProcessCommand command;
  command.argv = {find_addr2line().string(), "-f", "-C", "-i", "-e", site.file.string()};
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
  const auto& roots = toolchain::installed_toolchain().roots;
  return std::any_of(roots.begin(), roots.end(),
                     [&](const fs::path& root) { return toolchain::is_inside(file, root); });
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.npos, end) == 0;
}

SourcePlace look_up_source_place(const HostCallSite& site) {
  if (site.addresses.empty()) return {};
  bool behind_stub = false;
  for (const auto& [function, line] : functions_and_lines_of(site)) {
    const size_t colon = line.rfind(':');
    const fs::path file = fs::path(line.substr(0, colon)).lexically_normal();
    const std::string number = colon == line.npos ? "" : line.substr(colon + 1);
    if (number.empty() || number == "0" || number.size() > 9 ||
        number.find_first_not_of("0123456789") != number.npos)
      return {};
    // nvcc has deleted this temporary file, and has omitted the line directive here, so the line is
    // not known.
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

HostCallSite HostCallSite::current() {
  void* frames[kMostDepth];
  const int count = backtrace(frames, kMostDepth);
  HostCallSite found;
  const link_map *own = nullptr, *theirs = nullptr;
  for (int i = 0; i < count && found.addresses.size() < kMostFrames; ++i) {
    const link_map* map = link_map_of(frames[i]);
    if (!map) break;
    if (!own) own = map;  // the library that contains this function
    if (map == own && !theirs) continue;
    if (theirs && map != theirs) break;
    theirs = map;
    // A frame holds the return address, which may belong to the next line.
    found.addresses.push_back(reinterpret_cast<uint64_t>(frames[i]) - map->l_addr - 1);
  }
  if (theirs) found.file = file_of_link_map(*theirs);
  return found;
}

HostCallSite HostCallSite::of_stack_frame_at(const void* code) {
  void* frames[kMostDepth];
  const int count = backtrace(frames, kMostDepth);
  void** const end = frames + count;
  void** at = std::find(frames, end, code);
  HostCallSite found;
  const link_map* program = nullptr;
  // A library function such as memcpy() counts as its caller in the program.
  for (bool innermost = true; at < end && found.addresses.size() < kMostFrames;
       ++at, innermost = false) {
    const link_map* map = link_map_of(*at);
    if (!map) break;
    if (!program && *map->l_name) continue;
    if (program && map != program) break;
    program = map;
    found.addresses.push_back(reinterpret_cast<uint64_t>(*at) - map->l_addr - (innermost ? 0 : 1));
  }
  if (program) found.file = file_of_link_map(*program);
  return found;
}

SourcePlace source_place(const HostCallSite& site) {
  try {
    return look_up_source_place(site);
  } catch (const std::exception&) {  // addr2line is not installed
    return {};
  }
}

std::string file_and_line_prefix(const SourcePlace& place) {
  return place.line == 0 ? "" : fmt::format("{}:{}: ", path_for_display(place.file), place.line);
}

// ---------------------------------------------------------------------------------------------
// The names of allocations.

namespace {

struct AllocatingCall {
  std::string call;
  HostCallSite site;
  std::optional<SourcePlace> place = std::nullopt;
};

// Allocations are numbered from 1. Those beyond this number keep their plain names, which bounds
// the memory.
constexpr size_t kMostNamed = 20'000;
uint64_t allocations_made = 0;
std::vector<AllocatingCall>& allocating_calls() {
  static auto* all = new std::vector<AllocatingCall>;
  return *all;
}

const SourcePlace& place_of_allocation(AllocatingCall& made) {
  if (!made.place) made.place = source_place(made.site);
  return *made.place;
}

bool is_word(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string without_blanks(const std::string& text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [](unsigned char c) { return std::isspace(c) == 0; });
  return out;
}

// The text from `begin` to the comma or parenthesis that ends the argument.
std::string argument_at(const std::string& text, size_t begin) {
  int depth = 0;
  size_t end = begin;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (depth == 0 && (c == ',' || c == ')')) break;
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
  }
  return without_blanks(text.substr(begin, end - begin));
}

// "d_in" of "(void**)&d_in"; empty unless the argument is the address of a variable or a member.
std::string variable_of_argument(std::string argument) {
  static const std::string kCast = "reinterpret_cast<void**>(";
  if (argument.rfind("(void**)", 0) == 0)
    argument.erase(0, 8);
  else if (argument.rfind(kCast, 0) == 0 && argument.back() == ')')
    argument = argument.substr(kCast.size(), argument.size() - kCast.size() - 1);
  if (argument.size() < 2 || argument[0] != '&' || !is_word(argument[1]) ||
      std::isdigit(static_cast<unsigned char>(argument[1])) != 0)
    return "";
  argument.erase(0, 1);
  const bool is_place = std::all_of(argument.begin(), argument.end(), [](char c) {
    return is_word(c) || std::string_view(".->[]+*").find(c) != std::string_view::npos;
  });
  return is_place ? argument : "";
}

// The variables whose addresses the calls on this line get, in order; an empty one is not known.
std::vector<std::string> allocated_variables_on_line(const SourcePlace& place,
                                                     const std::string& call) {
  const std::optional<std::string> source = read_file(place.file);
  if (!source) return {};
  std::istringstream lines(*source);
  std::string line, text;
  // The arguments may continue on the next lines.
  size_t first_line_ends = 0;
  for (int number = 1; number < place.line + 3 && std::getline(lines, line); ++number) {
    if (number < place.line) continue;
    text += line.substr(0, line.find("//")) + ' ';
    if (number == place.line) first_line_ends = text.size();
  }
  std::vector<std::string> variables;
  for (size_t at = text.find(call); at < first_line_ends; at = text.find(call, at + 1)) {
    size_t end = at + call.size();
    if (at != 0 && is_word(text[at - 1])) continue;
    while (end < text.size() && text[end] == ' ') ++end;
    if (end < text.size() && text[end] == '(')
      variables.push_back(variable_of_argument(argument_at(text, end + 1)));
  }
  return variables;
}

// The position of the call among the calls on its line that the program has made, and the number of
// these.
std::pair<size_t, size_t> call_index_and_count_on_line(const AllocatingCall& made) {
  std::set<HostCallSite> sites;
  for (AllocatingCall& other : allocating_calls())
    if (other.call == made.call && other.site.file == made.site.file &&
        place_of_allocation(other).line == made.place->line &&
        other.place->file == made.place->file)
      sites.insert(other.site);
  return {static_cast<size_t>(std::distance(sites.begin(), sites.find(made.site))), sites.size()};
}

// The name of the allocation in messages; empty if the line is not known.
std::string allocation_display_name(AllocatingCall& made, bool quoted) {
  const SourcePlace& place = place_of_allocation(made);
  if (place.line == 0) return "";
  const std::vector<std::string> variables = allocated_variables_on_line(place, made.call);
  std::string variable = variables.size() == 1 ? variables[0] : "";
  // The compiler keeps the order of several calls on one line.
  constexpr size_t kMostOnLine = 8;
  if (variables.size() > 1 && variables.size() <= kMostOnLine &&
      allocating_calls().size() <= 8 * kMostOnLine)
    if (const auto [at, count] = call_index_and_count_on_line(made); count == variables.size())
      variable = variables[at];
  if (variable.empty()) return fmt::format("the allocation of line {}", place.line);
  return fmt::format(quoted ? "`{}` (allocated on line {})" : "{} (allocated on line {})", variable,
                     place.line);
}

}  // namespace

std::string record_and_number_allocation(const std::string& call) {
  if (allocations_made < kMostNamed) allocating_calls().push_back({call, HostCallSite::current()});
  return fmt::format("{} no. {}", call, ++allocations_made);
}

std::string with_allocations_named_by_variable(std::string text) {
  static const std::string kNumber = " no. ";
  for (size_t at = text.find(kNumber); at != text.npos; at = text.find(kNumber, at + 1)) {
    size_t begin = at, end = at + kNumber.size();
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    const std::string digits = text.substr(at + kNumber.size(), end - at - kNumber.size());
    if (digits.empty() || digits.size() > 9) continue;
    const size_t number = std::stoul(digits);
    if (number == 0 || number > allocating_calls().size()) continue;
    AllocatingCall& made = allocating_calls()[number - 1];
    if (made.call != text.substr(begin, at - begin)) continue;
    const bool quoted =
        begin > 0 && text[begin - 1] == '`' && end < text.size() && text[end] == '`';
    const std::string name = allocation_display_name(made, quoted);
    if (name.empty()) continue;
    text.replace(begin - quoted, end - begin + 2 * quoted, name);
    at = begin;
  }
  return text;
}

}  // namespace lab32::cudart
