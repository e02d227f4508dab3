#include "toolchain/submission.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/child.h"
#include "base/text.h"

namespace lab32::toolchain {

// ---- #line -----------------------------------------------------------------------------------

namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The text as the preprocessor sees it: lines that end in a backslash are joined with the next.
class LineSplicedText {
 public:
  explicit LineSplicedText(const std::string& text) : text_(text) {
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '\\') {
        // gcc allows blanks after the backslash.
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
  bool starts_with(size_t i, std::string_view word) const {
    return chars_.compare(std::min(i, size()), word.size(), word) == 0;
  }
  size_t origin(size_t i) const { return i < origin_.size() ? origin_[i] : text_.size(); }
  // The first joined character at or after this offset of the original text.
  size_t char_index_of_original_offset(size_t place) const {
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

// Each of these functions reads a token that begins at `i` and returns the position behind it.

size_t end_of_comment_at(const LineSplicedText& in, size_t i) {
  if (in.starts_with(i, "//")) {
    while (i < in.size() && in[i] != '\n') ++i;
    return i;
  }
  for (i += 2; i < in.size(); ++i)
    if (in.starts_with(i, "*/")) return i + 2;
  return i;
}

size_t skip_blanks_and_comments(const LineSplicedText& in, size_t i) {
  for (;;) {
    if (in.starts_with(i, "/*"))
      i = end_of_comment_at(in, i);
    else if (i < in.size() && in[i] != '\n' && std::isspace(static_cast<unsigned char>(in[i])))
      ++i;
    else
      return i;
  }
}

// Skips a string or character literal. A literal without an end ends with its line.
size_t skip_literal(const LineSplicedText& in, size_t i) {
  const char quote = in[i];
  for (++i; i < in.size() && in[i] != '\n'; ++i) {
    if (in[i] == quote) return i + 1;
    if (in[i] == '\\') ++i;
  }
  return std::min(i, in.size());
}

// Skips R"x(...)x", in which lines are not joined. `i` is at the quotation mark.
size_t skip_raw_string(const LineSplicedText& in, size_t i) {
  const size_t begin = in.origin(i) + 1, open = in.text().find('(', begin);
  if (open == std::string::npos || open - begin > 16) return i + 1;
  const std::string end = ")" + in.text().substr(begin, open - begin) + "\"";
  const size_t close = in.text().find(end, open);
  return close == std::string::npos ? in.size()
                                    : in.char_index_of_original_offset(close + end.size());
}

size_t skip_number(const LineSplicedText& in, size_t i) {
  for (++i; i < in.size(); ++i) {
    const bool sign = (in[i] == '+' || in[i] == '-') &&
                      std::string_view("eEpP").find(in[i - 1]) != std::string_view::npos;
    const bool separator = in[i] == '\'' && is_name(in[i + 1]);
    if (!is_name(in[i]) && in[i] != '.' && !sign && !separator) return i;
  }
  return i;
}

// Skips a name, with the raw string or the <...> of an #include that follows it.
size_t skip_name_and_following_literal(const LineSplicedText& in, size_t i) {
  const std::string_view name = in.name_at(i);
  i += name.size();
  if (in[i] == '"')
    for (const std::string_view raw : {"R", "LR", "uR", "UR", "u8R"})
      if (name == raw) return skip_raw_string(in, i);
  for (const std::string_view opens : {"include", "include_next", "import", "embed",
                                       "__has_include", "__has_include_next", "__has_embed"}) {
    if (name != opens) continue;
    i = skip_blanks_and_comments(in, i);
    if (in[i] == '(') i = skip_blanks_and_comments(in, i + 1);
    if (in[i] != '<') return i;
    size_t close = i;
    while (close < in.size() && in[close] != '\n' && in[close] != '>') ++close;
    return in[close] == '>' ? close + 1 : i;
  }
  return i;
}

size_t skip_token(const LineSplicedText& in, size_t i) {
  if (in.starts_with(i, "//") || in.starts_with(i, "/*")) return end_of_comment_at(in, i);
  if (in[i] == '"' || in[i] == '\'') return skip_literal(in, i);
  if (std::isdigit(static_cast<unsigned char>(in[i]))) return skip_number(in, i);
  if (is_name(in[i])) return skip_name_and_following_literal(in, i);
  return i + 1;
}

size_t skip_line(const LineSplicedText& in, size_t i) {
  while (i < in.size() && in[i] != '\n') i = skip_token(in, i);
  return i;
}

}  // namespace

std::string without_line_directives(const std::string& text) {
  const LineSplicedText in(text);
  std::string out = text;
  for (size_t i = 0; i < in.size();) {
    i = skip_blanks_and_comments(in, i);
    const size_t mark = in[i] == '#' ? 1 : in.starts_with(i, "%:") ? 2 : 0;
    const size_t word = mark ? skip_blanks_and_comments(in, i + mark) : i;
    const bool names_line =
        mark && (in.name_at(word) == "line" || std::isdigit(static_cast<unsigned char>(in[word])));
    const size_t end = skip_line(in, i);
    if (names_line)
      for (size_t at = in.origin(i); at < in.origin(end); ++at)
        if (out[at] != '\n') out[at] = ' ';
    i = end + 1;
  }
  return out;
}

namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestSubmission = 1 << 20;  // the longest reference solution has 10 KiB
constexpr size_t kMostFiles = 64;

// Opens one component of a path, unless it is a link.
FileDescriptor open_component(int from, const std::string& name, int flags) {
  return FileDescriptor(openat(from, name.c_str(), O_CLOEXEC | O_NOFOLLOW | flags));
}

bool is_link(int from, const std::string& name) {
  struct stat s {};
  return fstatat(from, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(s.st_mode);
}

// The directory of a submission. The path to it comes from the instructor and may lead through
// links; its last component and everything below comes from the student and may not.
class LinkRefusingFileReader {
 public:
  explicit LinkRefusingFileReader(const fs::path& directory) {
    const std::string name = directory.filename().string();
    if (name.empty() || name == "." || name == "..") {
      at_.reset(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    } else {
      const FileDescriptor above(
          open(directory.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      at_.reset(open_component(above.get(), name, O_RDONLY | O_DIRECTORY).release());
      why_ = at_.get() < 0 && is_link(above.get(), name) ? kLink : std::strerror(errno);
    }
    struct stat s {};
    if (at_.get() >= 0 && fstat(at_.get(), &s) == 0) device_ = s.st_dev;
  }

  // The text of a regular file; nullopt, with the reason in `why`, for anything else.
  std::optional<std::string> read(const fs::path& name, std::string& why) const {
    if (at_.get() < 0) {
      why = why_;
      return std::nullopt;
    }
    FileDescriptor on_the_way;
    int from = at_.get();
    for (const fs::path& part : name.parent_path()) {
      on_the_way.reset(open_component(from, part.string(), O_PATH | O_DIRECTORY).release());
      from = on_the_way.get();
      if (from < 0) return std::nullopt;
    }
    const std::string last = name.filename().string();
    // O_NONBLOCK, because opening a pipe would otherwise wait for its writer.
    const FileDescriptor file = open_component(from, last, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (file.get() < 0) {
      const int reason = errno;
      why = is_link(from, last) ? kLink : std::strerror(reason);
      return std::nullopt;
    }
    return text_of(file.get(), why);
  }

 private:
  static constexpr const char* kLink = "it is a link: hand in the file itself";

  std::optional<std::string> text_of(int file, std::string& why) const {
    struct stat s {};
    if (fstat(file, &s) != 0 || !S_ISREG(s.st_mode)) {
      why = "not a plain file";
      return std::nullopt;
    }
    if (s.st_dev != device_) {
      why = "it is on another device than its directory";
      return std::nullopt;
    }
    std::string text;
    char buffer[65536];
    ssize_t n;
    while ((n = ::read(file, buffer, sizeof buffer)) > 0 && text.size() <= kLargestSubmission)
      text.append(buffer, static_cast<size_t>(n));
    if (n < 0) why = std::strerror(errno);
    if (text.size() > kLargestSubmission) why = "larger than 1 MiB";
    return why.empty() ? std::optional(std::move(text)) : std::nullopt;
  }

  FileDescriptor at_;
  std::string why_;
  dev_t device_ = 0;
};

// Every name in #include "..." and __has_include("..."), also in comments: additional names do no
// harm. No regular expression is used, since the text comes from a student.
std::vector<std::string> included_names(const std::string& text) {
  constexpr std::string_view word = "include";
  const auto after_blanks = [&](size_t at) {
    return std::min(text.find_first_not_of(" \t", at), text.size());
  };
  std::vector<std::string> names;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
    at += word.size();
    size_t begin = after_blanks(at);
    if (begin < text.size() && text[begin] == '(') begin = after_blanks(begin + 1);
    if (begin >= text.size() || text[begin] != '"') continue;
    const size_t end = text.find_first_of("\"\n", ++begin);
    if (end == std::string::npos || text[end] == '\n' || end == begin) continue;
    names.push_back(text.substr(begin, end - begin));
    at = end;
  }
  return names;
}

// Every macro that #define makes a "..." or <...>: its name, and the text that it stands for. As in
// included_names(), macros that the compiler does not see do no harm.
std::map<std::string, std::string> macros_defined_as_header_names(const std::string& text) {
  constexpr std::string_view word = "define";
  const auto after_blanks = [&](size_t at) {
    return std::min(text.find_first_not_of(" \t", at), text.size());
  };
  std::map<std::string, std::string> macros;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
    at += word.size();
    const size_t name = after_blanks(at);
    size_t end = name;
    while (end < text.size() && is_name(text[end])) ++end;
    const size_t value = after_blanks(end);
    if (end == name || value >= text.size()) continue;
    const char close = text[value] == '"' ? '"' : text[value] == '<' ? '>' : '\0';
    if (close == '\0') continue;
    const size_t last = text.find_first_of(std::string("\n") + close, value + 1);
    if (last == std::string::npos || text[last] != close) continue;
    macros[text.substr(name, end - name)] = text.substr(value, last + 1 - value);
  }
  return macros;
}

// The number of each line `#include NAME`, with the macro's name.
std::vector<std::pair<long, std::string>> includes_by_macro(const std::string& text) {
  static const RegularExpression directive("^[ \t]*#[ \t]*include[ \t]+([A-Za-z_][A-Za-z0-9_]*)");
  std::vector<std::pair<long, std::string>> found;
  std::istringstream lines(text);
  long number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.size() > 1000) continue;
    if (const auto macro = directive.search(line)) found.emplace_back(number, macro->at(1));
  }
  return found;
}

// Whether the path, judged by its name alone, stays below the directory.
bool stays_inside(const fs::path& name) {
  if (name.empty() || name.is_absolute()) return false;
  return std::none_of(name.begin(), name.end(), [](const fs::path& part) { return part == ".."; });
}

void read_included_headers(const LinkRefusingFileReader& directory, const fs::path& from,
                           Submission& submission) {
  const std::string text = submission.files.at(from.string());
  std::vector<std::string> names = included_names(text);
  for (const auto& [macro, value] : macros_defined_as_header_names(text))
    if (value.front() == '"' && value.size() > 2)
      names.push_back(value.substr(1, value.size() - 2));
  for (const auto& name : names) {
    // The compiler searches the directory of the including file.
    fs::path path = (from.parent_path() / name).lexically_normal();
    if (submission.files.count(path.string()) || !stays_inside(path)) continue;
    if (submission.files.size() >= kMostFiles) return;
    std::string why;
    auto header = directory.read(path, why);
    if (!header) continue;
    submission.files[path.string()] = *header;
    read_included_headers(directory, path, submission);
  }
}

// The headers of a submission are read before the preprocessor runs. If a macro builds the name of
// a header, that name is not known, and the submission is refused.
void refuse_undefined_include_macros(const Submission& submission,
                                     const std::string& display_path) {
  std::map<std::string, std::string> macros;
  for (const auto& [file, text] : submission.files)
    macros.merge(macros_defined_as_header_names(text));
  for (const auto& [file, text] : submission.files)
    for (const auto& [line, macro] : includes_by_macro(text))
      if (macros.count(macro) == 0)
        throw BadSubmission(
            fmt::format("{}({}): `#include {}` cannot be read: the macro must stand for a plain "
                        "\"...\" or <...>",
                        file == submission.name ? display_path : file, line, macro));
}

// The reason why the text cannot be a program; empty if it may be one.
std::string reason_not_source_text(const std::string& text) {
  if (const size_t zero = text.find('\0'); zero != std::string::npos)
    return "it is not a text file: line " +
           std::to_string(1 +
                          std::count(text.begin(), text.begin() + static_cast<long>(zero), '\n')) +
           " contains a zero byte";
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return "it is empty";
  return {};
}

}  // namespace

Submission read_submission(const fs::path& source, const std::string& display_path) {
  std::string why;
  const fs::path path = fs::absolute(source);
  const LinkRefusingFileReader directory(path.parent_path());
  auto text = directory.read(path.filename(), why);
  if (text) why = reason_not_source_text(*text);
  if (!why.empty()) throw BadSubmission(display_path + " cannot be read: " + why);
  Submission submission;
  // nvcc passes file names to a shell, so only harmless names are allowed.
  static const RegularExpression harmless("[A-Za-z0-9_][A-Za-z0-9_.+-]*\\.cu");
  std::string name = source.filename().string();
  submission.name = harmless.match(name) ? name : "submission.cu";
  submission.files[submission.name] = *text;
  read_included_headers(directory, submission.name, submission);
  refuse_undefined_include_macros(submission, display_path);
  return submission;
}

}  // namespace lab32::toolchain
