// What `lab32 explain` shows: a launch's pictures and what they are of.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "pictures/picture.h"

namespace lab32::pictures {

struct Explanation {
  std::string lab, check;  // empty: of a program
  std::string file;
  std::string message;  // what the check says
  Launch launch;
};

// The check and what it says; nothing of a program.
std::string heading(const Explanation& shown);
std::string text(const Explanation& shown, bool colour);
// Schema lab32-pictures/1 (README.md).
std::string json(const Explanation& shown);
nlohmann::ordered_json to_json(const Launch& launch);

}  // namespace lab32::pictures
