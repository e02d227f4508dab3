// Kernels' names as Nsight Compute writes them.
#pragma once

#include <optional>
#include <string>

namespace lab32::profiler {

// "void inner::both<float>(T1 *, const T1 *)": demangled as cu++filt does, then shortened as ncu's
// --rename-kernels, its default, was seen to do (data/measured/ncu/h200-names.csv): of namespaces
// one in another only the inner one stays, and values in template brackets lose their type unless
// they are negative. A name that cannot be read so is demangled by the C++ library.
std::string ncu_name(const std::string& symbol);

// Mangled C++ names (Itanium C++ ABI, section 5.1, as far as kernels have them) to text as NVIDIA's
// tools write it: `const float *`, not `float const*`; in the arguments of a template's instance
// T1, T2 for its parameters.

// "void geo::inner::both<float>(T1 *, const T1 *)". nullopt: no mangled name, or one with
// constructs that are not read here (expressions in template arguments, members' addresses).
std::optional<std::string> read_mangled(const std::string& symbol);

}  // namespace lab32::profiler
