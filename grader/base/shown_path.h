// Paths as messages show them.
#pragma once

#include <string>

namespace lab32 {

// Below the working directory without it, else as it is. Files are found by either.
std::string shown_path(const std::string& path);

}  // namespace lab32
