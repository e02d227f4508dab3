#pragma once

#include <regex.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lab32 {

// A POSIX extended regular expression, with the C library's \w, \s and \b. std::regex is not used:
// it recurses once per character, so that a long line overflows the stack, and it adds seconds to
// the compilation of every file that includes it.
class Pattern {
 public:
  // The text of the match, then of each parenthesised group; "" for a group that took no part.
  using Groups = std::vector<std::string>;

  // Throws Error with the C library's reason if the expression is invalid.
  explicit Pattern(const std::string& expression);

  // The leftmost match, and the longest of several that begin there.
  std::optional<Groups> search(const std::string& text) const;
  // A match of the whole text only.
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
