// Makes nvcc's messages readable for students. nvcc prints a source line as its preprocessor left
// it, `__attribute__((device))` for `__device__`, and adds lines about its own options. These
// functions restore the spelling of the source, move the caret below it accordingly, and drop the
// additional lines. They take and return text with line ends, as the compilers print it.
#pragma once

#include <string>

namespace lab32::toolchain {

// The messages with quoted source lines as the student wrote them, without nvcc's remarks about
// options and without its count of errors.
std::string use_source_spelling(const std::string& messages);

// The messages without warnings, for a file that does not compile: the errors are all that the
// student needs. If there are only warnings, they are returned unchanged.
std::string errors_alone(const std::string& messages);

// The messages with an unclosed macro, such as `LAB32_ANSWER(x, 31;`, at its line of `source`. The
// preprocessor reports it where the text ends. `display` is the name of the source in messages.
std::string at_open_macro(const std::string& messages, const std::string& source,
                          const std::string& display);

}  // namespace lab32::toolchain
