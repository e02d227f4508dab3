// The driver's functions by name.
#pragma once

#include <optional>
#include <string>

namespace lab32::driver {

// What a program calls it that is linked with this symbol, if it is one that is only there to say
// that it is not: "cuMemMap".
std::optional<std::string> refused_symbol(const std::string& symbol);

// What is said when it is called.
std::string refusal_of(const std::string& name);

}  // namespace lab32::driver
