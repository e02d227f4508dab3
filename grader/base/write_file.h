// A file that a user asked for.
#pragma once

#include <string>

namespace lab32 {

// The file appears whole or not at all: written beside its place, then renamed into it. `option` is
// what named it, for the message: "-o". Throws Error when it cannot be written.
void write_file(const std::string& path, const std::string& text, const std::string& option);

}  // namespace lab32
