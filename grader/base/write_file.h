// A file that a user asked for.
#pragma once

#include <string>

namespace lab32 {

// A regular file appears whole or not at all: written beside its place, brought to the disk, then
// renamed into it. Where the path is a link, that happens to the file which the link leads to; a
// device or a pipe is written to. `option` is what named it, for the message: "-o". Throws
// MachineError when it cannot be written.
void write_file(const std::string& path, const std::string& text, const std::string& option);

// The same exception for what can be foreseen: before hours of work are done for it.
void check_writable(const std::string& path, const std::string& option);

}  // namespace lab32
