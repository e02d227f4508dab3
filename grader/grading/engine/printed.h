// What a kernel has printed, as a message shows it.
#pragma once

#include <string>

namespace lab32::grading {

// "The kernel printed (n = 33):" and its first lines, each indented. Characters that are not
// printable stand as \x1b, so that no output moves a terminal's cursor. Empty for no output.
std::string printed_text(const std::string& setting, const std::string& output);

}  // namespace lab32::grading
