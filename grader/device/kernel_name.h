// Converts between mangled kernel symbols and the names that people write. A module knows
// `_Z9reduce_v6ILj256EEvPKiPii`; a lab asks for "reduce_v6<256>"; c++filt prints `void
// reduce_v6<256u>(int const*, int*, int)`. find_kernel() accepts any of these.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lab32::device {

// The readable name: demangled, without return type and argument list, template values without
// casts and suffixes: "reduce_v6<256>", "ns::copy<float4, true>". extern "C" names are returned
// unchanged.
std::string kernel_name(const std::string& symbol);

// The parameter types in the demangler's spelling: "int const*", "int". Empty for extern "C".
std::vector<std::string> parameter_types(const std::string& symbol);

// The readable name of a variable: "tile" for `_ZZ5transPKfPfE4tile`, else the name itself.
std::string variable_name(const std::string& symbol);

// The index of the symbol that `wanted` means. Blanks, `u` suffixes, casts, `unsigned` for
// `unsigned int`, 0x100 for 256, 1 for true and an argument list do not matter; namespaces may be
// left out. nullopt: no such kernel. Throws Error when several match equally well (overloads); the
// caller then has to give the symbol itself.
std::optional<size_t> find_kernel(const std::vector<std::string>& symbols,
                                  const std::string& wanted);

}  // namespace lab32::device
