// Which labs the tests of the suites go through.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "labs/points.h"

namespace lab32::tests {

// All; or the one that the environment names, while a lab is being written.
inline std::vector<std::string> labs_to_try() {
  const char* only = std::getenv("LAB32_TEST_LAB");
  return only && *only ? std::vector<std::string>{only} : labs::known_labs();
}

}  // namespace lab32::tests
