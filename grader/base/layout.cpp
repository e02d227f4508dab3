#include "base/layout.h"

#include <algorithm>

namespace lab32 {
namespace {

// The prefix of `text` that shows as `width` columns, never half a UTF-8 sequence.
size_t bytes_of_columns(std::string_view text, int width) {
  size_t at = 0;
  for (int shown = 0; at < text.size() && shown < width; ++shown) do
      ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  return at;
}

void wrap_line(std::string_view line, int width, std::vector<std::string>& out) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  if (indent >= 4 || columns(line) <= width) {
    out.emplace_back(line);
    return;
  }
  const std::string margin(indent, ' ');
  std::string current = margin;
  bool empty = true;
  size_t at = indent;
  while (at < line.size()) {
    const size_t end = std::min(line.find(' ', at), line.size());
    std::string_view word = line.substr(at, end - at);
    at = std::min(line.find_first_not_of(' ', end), line.size());
    if (!empty && columns(current) + 1 + columns(word) > width) {
      out.push_back(current);
      current = margin;
      empty = true;
    }
    while (empty && columns(current) + columns(word) > width) {
      const size_t cut = bytes_of_columns(word, std::max(1, width - columns(current)));
      if (cut >= word.size()) break;
      out.push_back(margin + std::string(word.substr(0, cut)));
      word.remove_prefix(cut);
    }
    if (!empty) current += ' ';
    current += word;
    empty = false;
  }
  if (!empty) out.push_back(current);
}

}  // namespace

int columns(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  while (true) {
    const size_t end = text.find('\n');
    wrap_line(text.substr(0, end), width, lines);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string pad_right(std::string_view text, int width) {
  return std::string(text) + std::string(std::max(0, width - columns(text)), ' ');
}

std::string pad_left(std::string_view text, int width) {
  return std::string(std::max(0, width - columns(text)), ' ') + std::string(text);
}

}  // namespace lab32
