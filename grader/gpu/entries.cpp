#include "gpu/entries.h"

#include "base/error.h"
#include "base/pattern.h"

namespace lab32::device {
namespace {

// `.param .u64 .ptr .global .align 4 name` or `.param .align 8 .b8 name[24]`.
uint32_t bytes_of(const std::string& parameter, const std::string& symbol) {
  static const Pattern type("\\.(u|s|b|f|pred)(8|16|32|64)\\b"), array("\\[([0-9]+)\\]");
  const auto typed = type.search(parameter);
  if (!typed)
    throw Error("the PTX of kernel " + symbol +
                " declares a parameter of a type that is not known: " + parameter);
  auto bytes = static_cast<uint32_t>(std::stoul(typed->at(2)) / 8);
  if (const auto elements = array.search(parameter))
    bytes *= static_cast<uint32_t>(std::stoul(elements->at(1)));
  return bytes;
}

}  // namespace

std::vector<EntryPoint> read_entries(const std::string& ptx) {
  static const std::string keyword = ".entry";
  std::vector<EntryPoint> entries;
  for (size_t at = 0; (at = ptx.find(keyword, at)) != std::string::npos;) {
    at += keyword.size();
    // nvcc writes comments on separate lines; a directive begins a line, after .visible or .weak.
    size_t line = ptx.rfind('\n', at) + 1;
    if (ptx[line] != '.') continue;
    size_t name = ptx.find_first_not_of(" \t", at);
    size_t end = ptx.find_first_of(" \t\n(", name);
    if (name == std::string::npos || end == std::string::npos) break;
    EntryPoint entry;
    entry.symbol = ptx.substr(name, end - name);
    size_t open = ptx.find_first_not_of(" \t\n", end);
    if (open != std::string::npos && ptx[open] == '(') {
      size_t close = ptx.find(')', open);
      std::string list = ptx.substr(open + 1, close - open - 1);
      for (size_t p = 0; (p = list.find(".param", p)) != std::string::npos;) {
        size_t comma = std::min(list.find(',', p), list.size());
        entry.parameter_bytes.push_back(bytes_of(list.substr(p + 6, comma - p - 6), entry.symbol));
        p = comma;
      }
    }
    entries.push_back(entry);
    at = end;
  }
  return entries;
}

}  // namespace lab32::device
