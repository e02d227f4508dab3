#include "grading/engine/printed.h"

#include <fmt/format.h>

#include <algorithm>

namespace lab32::grading {
namespace {

constexpr size_t kMostLines = 10, kMostBytes = 200;  // of a line

std::string visible(const std::string& line) {
  std::string text;
  for (const char c : line.substr(0, kMostBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f)
      text += c;
    else
      text += fmt::format("\\x{:02x}", byte);
  }
  return line.size() > kMostBytes ? text + " ..." : text;
}

}  // namespace

std::string printed_text(const std::string& setting, const std::string& output) {
  if (output.empty()) return "";
  std::string text =
      setting.empty() ? "The kernel printed:" : "The kernel printed, " + setting + ":";
  size_t lines = 0;
  for (size_t begin = 0; begin < output.size(); ++lines) {
    const size_t end = std::min(output.find('\n', begin), output.size());
    if (lines < kMostLines) text += "\n    " + visible(output.substr(begin, end - begin));
    begin = end + 1;
  }
  if (lines > kMostLines) text += fmt::format("\n    and {} lines more", lines - kMostLines);
  return text;
}

}  // namespace lab32::grading
