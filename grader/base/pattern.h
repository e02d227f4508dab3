#pragma once

#include <regex.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lab32 {

// A POSIX extended regular expression, with the C library's \w, \s and \b. (std::regex goes one
// call deeper for each character that it reads, so that a long line ends the process, and costs the
// compiler seconds in each file that includes it.)
class Pattern {
 public:
  // What a match and its parentheses hold, the whole first; "" where one took no part.
  using Groups = std::vector<std::string>;

  // Throws Error with the C library's reason where it is none.
  explicit Pattern(const std::string& expression);

  // The leftmost match, and of those the longest.
  std::optional<Groups> search(const std::string& text) const;
  // Of the whole text.
  std::optional<Groups> match(const std::string& text) const;
  std::vector<Groups> all(const std::string& text) const;
  // All matches replaced; $0 to $9 stand for the groups.
  std::string replace(const std::string& text, const std::string& by) const;

 private:
  struct Place {
    size_t begin, end;
    Groups groups;
  };
  std::optional<Place> find(const std::string& text, size_t from) const;

  std::shared_ptr<regex_t> compiled_;
};

}  // namespace lab32
