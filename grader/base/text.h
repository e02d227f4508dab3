// Text as readers see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lab32 {

// ---- numbers and foreign text ----

// "1,048,576": large counts are read in groups of three.
std::string grouped(uint64_t value);

// Text that somebody else wrote, so that it can be shown on any terminal: line ends and tabs stay,
// every other control character, what reorders a line, and bytes that are no UTF-8 stand as \x1b or
// \u202e.
std::string visible(const std::string& text);

// The same for a path or another name, on one line: line ends and tabs, quotation marks and
// backslashes stand as \x0a, too, so that it can be quoted anywhere.
std::string visible_name(const std::string& name);

// ---- columns: wrapping and padding by what a terminal shows, not by bytes ----

// Columns a UTF-8 text takes on a terminal, each code point counted as one.
int columns(std::string_view text);

// `text` in lines of at most `width` columns, broken at blanks; a word longer than a line is cut.
// Existing line ends stay. A line that begins with blanks keeps them, and so do the lines that it
// is broken into; a line that begins with four blanks or more is code and is never broken.
std::vector<std::string> wrap(std::string_view text, int width);

std::string pad_right(std::string_view text, int width);
std::string pad_left(std::string_view text, int width);

// ---- names like one that does not exist, for "did you mean" ----

// Letters to insert, remove or replace to turn one into the other (Levenshtein 1966).
size_t edit_distance(const std::string& a, const std::string& b);

// The nearest of `names`, at most `count`, nearest first and of equals in their order; those that
// have nothing in common with `wanted` (more than half of its letters differ) are left out.
std::vector<std::string> suggestions(const std::string& wanted,
                                     const std::vector<std::string>& names, size_t count);

// ---- names of C++ as people write them ----

// A symbol's name ("_Z5scalePf") as in the source ("scale(float*)"). What is no such name, or
// stands for more text than anybody reads, stays as it is.
std::string demangle(const std::string& name);

}  // namespace lab32
