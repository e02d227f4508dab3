// The output of `lab32 explain`: the pictures of a launch, and the lab and check, or the program,
// to which they belong. text() and json() render it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "pictures/picture.h"

namespace lab32::pictures {

struct Explanation {
  std::string lab, check;  // empty for a program
  std::string file;
  std::string message;  // the message of the check
  Launch launch;
};

// The name and the message of the check; "" for a program.
std::string heading(const Explanation& shown);
std::string text(const Explanation& shown, bool colour);
// Schema lab32-pictures/1 (README.md).
std::string json(const Explanation& shown);
nlohmann::ordered_json to_json(const Launch& launch);

}  // namespace lab32::pictures
