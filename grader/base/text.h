// Text as terminals and readers see it: numbers in groups, text from others made safe to print,
// wrapping and padding by columns, "did you mean" suggestions, and demangled C++ names. All
// functions take and return UTF-8.
#pragma once

#include <regex.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lab32 {

// ---- numbers and foreign text ----

// "1,048,576": large counts are read in groups of three.
std::string grouped_digits(uint64_t value);

// Makes text from others safe for any terminal. Line ends and tabs stay; every other control
// character, characters that reorder a line, and bytes that are no UTF-8 are written as \x1b or
// \u202e.
std::string visible(const std::string& text);

// Makes a path or a name safe to quote on one line: like visible(), and line ends, tabs, quotation
// marks and backslashes are written as \x0a, too.
std::string visible_name(const std::string& name);

// ---- columns: wrapping and padding by what a terminal shows, not by bytes ----

// The columns that a UTF-8 text takes on a terminal; each code point counts as one.
int display_columns(std::string_view text);

// Splits `text` into lines of at most `width` columns, broken at blanks; a word longer than a line
// is cut. Existing line ends stay. Leading blanks of a line are repeated on the lines into which it
// is broken; a line that begins with four or more blanks is code and is never broken.
std::vector<std::string> wrap(std::string_view text, int width);

std::string pad_right(std::string_view text, int width);
std::string pad_left(std::string_view text, int width);

// ---- similar names, for "did you mean" ----

// The number of letters to insert, remove or replace that turn one text into the other (Levenshtein
// 1966).
size_t edit_distance(const std::string& a, const std::string& b);

// The names nearest to `wanted`, at most `count`, nearest first and otherwise in their order. A
// name that differs in more than half of its letters is left out.
std::vector<std::string> suggestions(const std::string& wanted,
                                     const std::vector<std::string>& names, size_t count);

// ---- names of C++ as people write them ----

// The name of a symbol ("_Z5scalePf") as the source has it ("scale(float*)"). A text that is no
// mangled name, or that would expand to an unreadably long one, is returned unchanged. A kernel of
// Numba has the name of its Python function.
std::string demangle(const std::string& name);

// Whether the symbol is that of a kernel which Numba has compiled.
bool is_name_of_numba(const std::string& symbol);

// ---- patterns ----

// A POSIX extended regular expression, with the C library's \w, \s and \b. std::regex is not used:
// it recurses once per character, so that a long line overflows the stack, and it adds seconds to
// the compilation of every file that includes it.
class RegularExpression {
 public:
  // The text of the match, then of each parenthesised group; "" for a group that took no part.
  using Groups = std::vector<std::string>;

  // Throws Error with the C library's reason if the expression is invalid.
  explicit RegularExpression(const std::string& expression);

  // The leftmost match, and the longest of several that begin there.
  std::optional<Groups> search(const std::string& text) const;
  // The match if the expression matches the whole text; nullopt otherwise.
  std::optional<Groups> match(const std::string& text) const;
  std::vector<Groups> all(const std::string& text) const;
  // Replaces all matches; $0 to $9 stand for the groups.
  std::string replace(const std::string& text, const std::string& by) const;

 private:
  struct Match {
    size_t begin, end;
    Groups groups;
  };
  std::optional<Match> find(const std::string& text, size_t from) const;

  std::shared_ptr<regex_t> compiled_;
};

}  // namespace lab32
