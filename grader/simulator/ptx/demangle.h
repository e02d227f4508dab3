// Mangled C++ names.
#pragma once

#include <string>

namespace lab32::ptx {

// A mangled C++ name as it stands in the source; other names unchanged.
std::string demangle(const std::string& name);

}  // namespace lab32::ptx
