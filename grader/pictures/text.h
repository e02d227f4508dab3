// Pictures on a terminal: Unicode, 80 columns, colour where it is wanted and never alone.
#pragma once

#include <string>

#include "pictures/picture.h"

namespace lab32::pictures {

// Lanes above, sectors in 128-byte lines or banks below. A lane is the same sign in both.
std::string text(const Access& access, const Request& request, bool colour);
std::string text(const Steps& steps, bool colour);
std::string text(const Shuffles& shuffles, bool colour);
// `reference`: what the reference solution moves for the same; null: not known.
std::string text(const Traffic& traffic, const Traffic* reference);
std::string text(const Race& race, bool colour);
std::string text(const Fault& fault, bool colour);

// All that there is of a launch; of each access the worst request.
std::string text(const Launch& launch, bool colour);

}  // namespace lab32::pictures
