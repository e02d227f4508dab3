// Where the functions of cuBLAS and cuBLASLt are, and those that are only there to say that they
// are not.
#pragma once

#include <optional>
#include <string>

namespace lab32::cublas {

// As a program calls it: "cublasSsyrk" for cublasSsyrk_v2, where that is refused.
std::optional<std::string> refused_symbol(const std::string& symbol);

// What is said when it is called.
std::string refusal_of(const std::string& name);

}  // namespace lab32::cublas
