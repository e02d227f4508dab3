#include "base/source_file.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace lab32 {

namespace fs = std::filesystem;

namespace {

// A long line is broken and not cut, because the error may be at its end. The rows fit between the
// margins of the score report; more than kMostRows of them would hide the message below.
constexpr int kQuoteWidth = 70;
constexpr size_t kMostRows = 4;

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

SourceFile::SourceFile(const fs::path& path, std::string display) {
  const auto text = read_file(path);
  if (!text)
    throw Error(display + ": cannot be read; check that it is a file and that you may read it");
  *this = from_text(*text, std::move(display));
}

SourceFile SourceFile::from_text(const std::string& text, std::string display) {
  SourceFile source;
  source.display_ = std::move(display);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    source.lines_.push_back(line);
  }
  return source;
}

std::string SourceFile::text_of(int line) const {
  if (line < 1 || line > static_cast<int>(lines_.size())) return "";
  std::string words = lines_[line - 1];
  words.erase(0, words.find_first_not_of(" \t"));
  words.erase(words.find_last_not_of(" \t") + 1);
  for (char& c : words)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';  // a control byte must not reach a terminal
  return words;
}

int SourceFile::last_line_with_text() const {
  int line = static_cast<int>(lines_.size());
  while (line > 0 && text_of(line).empty()) --line;
  return line;
}

std::string SourceFile::location_and_source_line(int line) const {
  std::string text = display_ + ":" + std::to_string(line);
  if (line < 1 || line > static_cast<int>(lines_.size())) return text;
  const std::string words = text_of(line);
  const std::vector<std::string> rows = wrap(words, kQuoteWidth);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == kMostRows) return text + " ...";
    text += (i == 0 ? "\n    " : "\n      ") + rows[i];
  }
  return text;
}

int SourceFile::line_of_name(const std::string& word) const {
  int asked = 0;  // line of a LAB32_...() macro with the word: a launch shape, or an answer
  for (size_t i = 0; i < lines_.size(); ++i) {
    const std::string& line = lines_[i];
    // A word in a comment is no use of the name.
    const size_t comment = line.find("//");
    for (size_t at = line.find(word); at < comment; at = line.find(word, at + 1)) {
      const size_t end = at + word.size();
      const bool whole = (at == 0 || !is_name(line[at - 1])) && end < line.size() &&
                         (line[end] == '(' || line[end] == ',');
      if (!whole) continue;
      if (line.find("LAB32_") == std::string::npos) return static_cast<int>(i) + 1;
      if (asked == 0) asked = static_cast<int>(i) + 1;
    }
  }
  return asked;
}

int SourceFile::first_line_with_text(const std::string& text) const {
  for (size_t i = 0; i < lines_.size(); ++i)
    if (lines_[i].find(text) != std::string::npos) return static_cast<int>(i) + 1;
  return 0;
}

int SourceFile::first_use_in_kernel(const std::string& word, int line) const {
  for (size_t i = static_cast<size_t>(std::max(line, 0)); i < lines_.size(); ++i) {
    const std::string& text = lines_[i];
    if (text.find("__global__") != std::string::npos) return 0;
    const size_t at = text.find(word), end = at + word.size();
    if (at >= text.find("//")) continue;
    if ((at == 0 || !is_name(text[at - 1])) && (end >= text.size() || !is_name(text[end])))
      return static_cast<int>(i) + 1;
  }
  return 0;
}

int SourceFile::last_line_of_body(int line) const {
  int depth = 0;
  for (int at = std::max(line, 1); at <= static_cast<int>(lines_.size()); ++at) {
    const std::string& text = lines_[at - 1];
    for (size_t i = 0; i < text.size() && text.compare(i, 2, "//") != 0; ++i) {
      if (text[i] == '{') ++depth;
      if (text[i] == '}' && --depth <= 0) return at;
    }
  }
  return static_cast<int>(lines_.size());
}

}  // namespace lab32
