// Makes a whole submission of one that holds only what it changes (submissions/README.md).
#pragma once

#include <string>

namespace lab32::tests {

std::string splice(const std::string& base, const std::string& changes);

}  // namespace lab32::tests
