// The functions of the runtime that are only there to say that they are not.
#pragma once

#include <string>
#include <vector>

namespace lab32::cudart {

// By name, sorted.
std::vector<std::string> refused_names();

// What is said when it is called.
std::string refusal_of(const std::string& name);

}  // namespace lab32::cudart
