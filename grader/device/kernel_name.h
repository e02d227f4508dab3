// Kernels by the names people write. A module knows `_Z9reduce_v6ILj256EEvPKiPii`; a lab asks for
// "reduce_v6<256>"; c++filt says `void reduce_v6<256u>(int const*, int*, int)`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lab32::device {

// The name for people: demangled, without return type and argument list, template values without
// casts and suffixes: "reduce_v6<256>", "ns::copy<float4, true>". extern "C" names stay as they
// are.
std::string kernel_name(const std::string& symbol);

// The types of its parameters as the demangler has them: "int const*", "int". None for extern "C".
std::vector<std::string> parameter_types(const std::string& symbol);

// A variable's name for people: "tile" for `_ZZ5transPKfPfE4tile`, the name itself otherwise.
std::string variable_name(const std::string& symbol);

// Which of the symbols `wanted` means. Blanks, `u` suffixes, casts, `unsigned` for `unsigned int`,
// 0x100 for 256, 1 for true and an argument list do not matter; namespaces may be left out.
// nullopt: none. Throws Error when several are meant equally well (overloads: name the symbol
// itself then).
std::optional<size_t> find_kernel(const std::vector<std::string>& symbols,
                                  const std::string& wanted);

}  // namespace lab32::device
