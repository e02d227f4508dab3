// Mangled C++ names (Itanium C++ ABI, section 5.1, as far as kernels have them) to text as NVIDIA's
// tools write it: `const float *`, not `float const*`; in the arguments of a template's instance
// T1, T2 for its parameters.
#pragma once

#include <optional>
#include <string>

namespace lab32::profiler {

// "void geo::inner::both<float>(T1 *, const T1 *)". nullopt: no mangled name, or one with
// constructs that are not read here (expressions in template arguments, members' addresses).
std::optional<std::string> read_mangled(const std::string& symbol);

}  // namespace lab32::profiler
