// Where code came from: .file, .loc and the debug sections.
#include <tuple>

#include "simulator/ptx/module_parser.h"

namespace lab32::ptx {
namespace {

// Bounds what a malformed number makes of the file table.
constexpr uint64_t kMostFiles = 1 << 16;

}  // namespace

// .file 1 "/home/ada/reduction.cu"[, time, size]
void ModuleParser::file_directive() {
  const size_t offset = cursor_.offset();
  const uint64_t index = cursor_.expect_integer();
  if (index > kMostFiles) throw Diagnostic{offset, "this file number is too large"};
  if (cursor_.peek().kind != Token::Kind::string) cursor_.fail_expected("a file name");
  if (module_.files.size() <= index) module_.files.resize(index + 1);
  module_.files[index] = cursor_.next().text;
  while (cursor_.accept(',')) cursor_.expect_integer();
}

// .loc 2 509 9[, function_name $L__info_string0[+3], inlined_at 1 6 30]
int ModuleParser::loc_directive() {
  const auto number = [&] {
    const size_t offset = cursor_.offset();
    const uint64_t value = cursor_.expect_integer();
    if (value > 0x7fffffff) throw Diagnostic{offset, "this number is too large"};
    return static_cast<int>(value);
  };
  const auto position = [&] {
    Loc loc;
    loc.file = number();
    loc.line = number();
    loc.column = number();
    return loc;
  };
  const auto key = [](const Loc& at) { return std::make_tuple(at.file, at.line, at.column); };
  Loc loc = position();
  while (cursor_.accept(',')) {
    if (cursor_.accept("function_name")) {
      cursor_.expect_name();
      if (cursor_.accept('+')) cursor_.expect_integer();
    } else if (cursor_.accept("inlined_at")) {
      // The call site is named by its position, and was itself a .loc shortly before: the latest
      // with this position is the one, its own inlined_at included.
      const Loc site = position();
      const auto known = latest_loc_.find(key(site));
      if (known != latest_loc_.end()) {
        loc.inlined_at = known->second;
      } else {
        loc.inlined_at = static_cast<int>(module_.locs.size());
        latest_loc_[key(site)] = loc.inlined_at;
        module_.locs.push_back(site);
      }
    } else {
      cursor_.fail_expected("`function_name` or `inlined_at`");
    }
  }
  const int index = static_cast<int>(module_.locs.size());
  latest_loc_[key(loc)] = index;
  module_.locs.push_back(loc);
  return index;
}

// .section .debug_str { … }: for debuggers.
void ModuleParser::skip_section() {
  const size_t offset = cursor_.offset();
  if (cursor_.next().kind != Token::Kind::word) throw Diagnostic{offset, "a section has a name"};
  cursor_.expect('{');
  while (!cursor_.accept('}')) {
    if (cursor_.at_end()) throw Diagnostic{offset, "this section has no end"};
    cursor_.next();
  }
}

}  // namespace lab32::ptx
