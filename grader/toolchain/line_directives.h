// #line in a submission: it would have messages name lines and files that are not there.
#pragma once

#include <string>

namespace lab32::toolchain {

// The text with blanks in place of each `#line 7 "x"` and `# 7 "x"`, so that every position in it
// is where it was.
std::string without_line_directives(const std::string& text);

}  // namespace lab32::toolchain
