// Kernel names as Nsight Compute prints them.
#pragma once

#include <optional>
#include <string>

namespace lab32::profiler {

// For example "void inner::both<float>(T1 *, const T1 *)". The name is demangled as cu++filt does
// it, then shortened as ncu's default --rename-kernels does it (recorded in
// data/measured/ncu/h200-names.csv): only the innermost namespace remains, and values in template
// arguments lose their type unless they are negative. The C++ library demangles names that this
// reader does not understand.
std::string ncu_kernel_name(const std::string& symbol);

// Demangles the C++ names that kernels have (Itanium C++ ABI, section 5.1) in the style of NVIDIA's
// tools: `const float *` instead of `float const*`, and T1, T2 for template parameters in the
// arguments.

// For example "void geo::inner::both<float>(T1 *, const T1 *)". nullopt: not a mangled name, or one
// with unsupported parts (expressions in template arguments, addresses of members).
std::optional<std::string> demangle_as_ncu(const std::string& symbol);

}  // namespace lab32::profiler
