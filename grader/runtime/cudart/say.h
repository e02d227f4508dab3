// Where messages of the runtime's own go: "lab32: TEXT" on stderr.
#pragma once

#include <string>

namespace lab32::cudart {

void say(const std::string& text);

}  // namespace lab32::cudart
