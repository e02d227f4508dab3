#include "simulator/ptx/diagnostic.h"

#include <algorithm>

namespace lab32::ptx {
namespace {

// Longest part of a PTX line that is shown: a terminal of 100 columns less the indent.
constexpr size_t kExcerptWidth = 96;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string excerpt(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  const size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  size_t begin = before == std::string_view::npos ? 0 : before + 1;
  size_t end = std::min(text.find('\n', offset), text.size());
  while (begin < offset && is_blank(text[begin])) ++begin;
  while (end > offset && is_blank(text[end - 1])) --end;

  std::string_view lead, trail;
  if (offset - begin > kExcerptWidth - 20) {
    begin = offset - 20;
    lead = "...";
  }
  if (end - begin > kExcerptWidth) {
    end = begin + kExcerptWidth;
    trail = "...";
  }
  std::string line(text.substr(begin, end - begin));
  // The caret stands in a column: tabs, and bytes that a terminal would act on, become blanks.
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  std::string out = "\n  ";
  out.append(lead).append(line).append(trail).append("\n  ");
  out.append(lead.size() + offset - begin, ' ').append("^");
  return out;
}

}  // namespace

int line_of(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  return 1 +
         static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(offset), '\n'));
}

std::string render(const Module& module, const Diagnostic& diagnostic, int loc) {
  std::string out = "PTX line " + std::to_string(line_of(module.text, diagnostic.offset)) + ": " +
                    diagnostic.message;
  if (const auto position = module.position(loc)) {
    const size_t slash = position->file.rfind('/');
    out += " (source: " + position->file.substr(slash == std::string::npos ? 0 : slash + 1) + ":" +
           std::to_string(position->line) + ")";
  }
  return out + excerpt(module.text, diagnostic.offset);
}

}  // namespace lab32::ptx
