// Plain text in columns: wrapping and padding by what a terminal shows, not by bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lab32 {

// Columns a UTF-8 text takes on a terminal, each code point counted as one.
int columns(std::string_view text);

// `text` in lines of at most `width` columns, broken at blanks; a word longer than a line is cut.
// Existing line ends stay. A line that begins with blanks keeps them, and so do the lines that it
// is broken into; a line that begins with four blanks or more is code and is never broken.
std::vector<std::string> wrap(std::string_view text, int width);

std::string pad_right(std::string_view text, int width);
std::string pad_left(std::string_view text, int width);

}  // namespace lab32
