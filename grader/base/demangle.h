// Names of C++ as people write them.
#pragma once

#include <string>

namespace lab32 {

// A symbol's name ("_Z5scalePf") as in the source ("scale(float*)"). What is no such name, or
// stands for more text than anybody reads, stays as it is.
std::string demangle(const std::string& name);

}  // namespace lab32
