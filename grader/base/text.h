// Numbers and foreign text as readers see them.
#pragma once

#include <cstdint>
#include <string>

namespace lab32 {

// "1,048,576": large counts are read in groups of three.
std::string grouped(uint64_t value);

// Text that somebody else wrote, so that it can be shown on any terminal: line ends and tabs stay,
// every other control character, what reorders a line, and bytes that are no UTF-8 stand as \x1b or
// \u202e.
std::string visible(const std::string& text);

// The same for a path or another name, on one line: line ends and tabs, quotation marks and
// backslashes stand as \x0a, too, so that it can be quoted anywhere.
std::string visible_name(const std::string& name);

}  // namespace lab32
