#include "runtime/cudart/linked_lines.h"

#include <charconv>
#include <string_view>

namespace lab32::cudart {
namespace {

constexpr std::string_view kSection = ".section\t.text.", kFile = "File \".nv_debug_ptx_txt";

// The line that begins at `at`.
std::string_view line_at(const std::string& text, size_t at) {
  const size_t end = std::min(text.find('\n', at), text.size());
  return std::string_view(text).substr(at, end - at);
}

// `for_each(text behind kFile's name up to the quote, function)` in the order of the listing.
template <class Each>
void for_each_note(const std::string& listing, Each each) {
  std::string_view function;
  for (size_t at = 0; at < listing.size();) {
    const std::string_view line = line_at(listing, at);
    if (const size_t name = line.find(kSection); name != std::string_view::npos)
      function = line.substr(name + kSection.size(), line.find(',') - name - kSection.size());
    if (const size_t file = line.find(kFile); file != std::string_view::npos) {
      const std::string_view number =
          line.substr(file + kFile.size(), line.find('"', file + 6) - file - kFile.size());
      each(number, function, at, line);
    }
    at += line.size() + 1;
  }
}

}  // namespace

std::string in_linked_lines(const std::string& listing,
                            const std::map<std::string, int>& lines_before) {
  if (lines_before.empty()) return listing;
  // A file's own functions have got other names; its kernels tell which it is.
  std::map<std::string_view, int> before;
  for_each_note(listing, [&](std::string_view number, std::string_view function, size_t,
                             std::string_view) {
    if (const auto known = lines_before.find(std::string(function)); known != lines_before.end())
      before.emplace(number, known->second);
  });
  std::string text;
  size_t copied = 0;
  for_each_note(listing, [&](std::string_view number, std::string_view, size_t at,
                             std::string_view line) {
    constexpr std::string_view kLine = "\", line ";
    const size_t digits = line.find(kLine) + kLine.size();
    const auto known = before.find(number);
    if (known == before.end() || digits < kLine.size()) return;
    int value = 0;
    const char* end = line.data() + line.size();
    const auto parsed = std::from_chars(line.data() + digits, end, value);
    text.append(listing, copied, at - copied);
    text += "\t//## " + std::string(kFile) + "\", line " + std::to_string(value + known->second);
    text.append(parsed.ptr, end);
    copied = at + line.size();
  });
  return text.append(listing, copied, std::string::npos);
}

}  // namespace lab32::cudart
