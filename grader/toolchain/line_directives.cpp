#include "toolchain/line_directives.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

namespace lab32::toolchain {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The text as the preprocessor takes it, in which lines that end in a backslash are joined.
class Joined {
 public:
  explicit Joined(const std::string& text) : text_(text) {
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '\\') {
        // gcc lets blanks stand behind the backslash.
        const size_t end = text.find_first_not_of(" \t\r", at + 1);
        if (end != std::string::npos && text[end] == '\n') {
          at = end;
          continue;
        }
      }
      chars_ += text[at];
      origin_.push_back(at);
    }
  }
  size_t size() const { return chars_.size(); }
  char operator[](size_t i) const { return i < chars_.size() ? chars_[i] : '\0'; }
  bool starts(size_t i, std::string_view word) const {
    return chars_.compare(std::min(i, size()), word.size(), word) == 0;
  }
  size_t origin(size_t i) const { return i < origin_.size() ? origin_[i] : text_.size(); }
  // The first character from this place of the text itself on.
  size_t from_origin(size_t place) const {
    return static_cast<size_t>(std::lower_bound(origin_.begin(), origin_.end(), place) -
                               origin_.begin());
  }
  const std::string& text() const { return text_; }
  std::string_view name_at(size_t i) const {
    size_t end = i;
    while (end < size() && is_name(chars_[end])) ++end;
    return std::string_view(chars_).substr(i, end - i);
  }

 private:
  const std::string& text_;
  std::string chars_;
  std::vector<size_t> origin_;
};

// Each of these begins at `i` and returns the place behind.

size_t behind_comment(const Joined& in, size_t i) {
  if (in.starts(i, "//")) {
    while (i < in.size() && in[i] != '\n') ++i;
    return i;
  }
  for (i += 2; i < in.size(); ++i)
    if (in.starts(i, "*/")) return i + 2;
  return i;
}

size_t behind_blanks(const Joined& in, size_t i) {
  for (;;) {
    if (in.starts(i, "/*"))
      i = behind_comment(in, i);
    else if (i < in.size() && in[i] != '\n' && std::isspace(static_cast<unsigned char>(in[i])))
      ++i;
    else
      return i;
  }
}

// A string or a character; one without an end goes to the end of its line.
size_t behind_literal(const Joined& in, size_t i) {
  const char quote = in[i];
  for (++i; i < in.size() && in[i] != '\n'; ++i) {
    if (in[i] == quote) return i + 1;
    if (in[i] == '\\') ++i;
  }
  return std::min(i, in.size());
}

// R"x(...)x": in it lines are as they were. `i` is at the quotation mark.
size_t behind_raw_string(const Joined& in, size_t i) {
  const size_t begin = in.origin(i) + 1, open = in.text().find('(', begin);
  if (open == std::string::npos || open - begin > 16) return i + 1;
  const std::string end = ")" + in.text().substr(begin, open - begin) + "\"";
  const size_t close = in.text().find(end, open);
  return close == std::string::npos ? in.size() : in.from_origin(close + end.size());
}

size_t behind_number(const Joined& in, size_t i) {
  for (++i; i < in.size(); ++i) {
    const bool sign = (in[i] == '+' || in[i] == '-') &&
                      std::string_view("eEpP").find(in[i - 1]) != std::string_view::npos;
    const bool separator = in[i] == '\'' && is_name(in[i + 1]);
    if (!is_name(in[i]) && in[i] != '.' && !sign && !separator) return i;
  }
  return i;
}

// A name, and what belongs to it: a raw string, or the <...> of an #include.
size_t behind_name(const Joined& in, size_t i) {
  const std::string_view name = in.name_at(i);
  i += name.size();
  if (in[i] == '"')
    for (const std::string_view raw : {"R", "LR", "uR", "UR", "u8R"})
      if (name == raw) return behind_raw_string(in, i);
  for (const std::string_view opens : {"include", "include_next", "import", "embed",
                                       "__has_include", "__has_include_next", "__has_embed"}) {
    if (name != opens) continue;
    i = behind_blanks(in, i);
    if (in[i] == '(') i = behind_blanks(in, i + 1);
    if (in[i] != '<') return i;
    size_t close = i;
    while (close < in.size() && in[close] != '\n' && in[close] != '>') ++close;
    return in[close] == '>' ? close + 1 : i;
  }
  return i;
}

size_t behind_token(const Joined& in, size_t i) {
  if (in.starts(i, "//") || in.starts(i, "/*")) return behind_comment(in, i);
  if (in[i] == '"' || in[i] == '\'') return behind_literal(in, i);
  if (std::isdigit(static_cast<unsigned char>(in[i]))) return behind_number(in, i);
  if (is_name(in[i])) return behind_name(in, i);
  return i + 1;
}

size_t behind_line(const Joined& in, size_t i) {
  while (i < in.size() && in[i] != '\n') i = behind_token(in, i);
  return i;
}

}  // namespace

std::string without_line_directives(const std::string& text) {
  const Joined in(text);
  std::string out = text;
  for (size_t i = 0; i < in.size();) {
    i = behind_blanks(in, i);
    const size_t mark = in[i] == '#' ? 1 : in.starts(i, "%:") ? 2 : 0;
    const size_t word = mark ? behind_blanks(in, i + mark) : i;
    const bool names_line =
        mark && (in.name_at(word) == "line" || std::isdigit(static_cast<unsigned char>(in[word])));
    const size_t end = behind_line(in, i);
    if (names_line)
      for (size_t at = in.origin(i); at < in.origin(end); ++at)
        if (out[at] != '\n') out[at] = ' ';
    i = end + 1;
  }
  return out;
}

}  // namespace lab32::toolchain
