// Converts between mangled kernel symbols and the names that people write. A module knows
// `_Z9reduce_v6ILj256EEvPKiPii`; a lab asks for "reduce_v6<256>"; c++filt prints `void
// reduce_v6<256u>(int const*, int*, int)`. find_kernel() accepts any of these.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/core/memory/access.h"
#include "simulator/core/warp/trap.h"
#include "simulator/observers/counters.h"
#include "simulator/observers/races/finding.h"
#include "simulator/ptx/debug_types.h"
#include "simulator/ptx/module.h"

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

// ---- elements of arrays ----

// Names elements of variables as the student does: `tile[3][32]`, `points[1].mass`. It uses the
// types that nvcc -G describes (simulator/ptx/debug_types.h).

// The element names of one module. The types are read when the first variable needs them, since
// this takes a second compilation.
class ElementNames {
 public:
  // `module` must outlive this object.
  ElementNames(const ptx::Module& module, std::function<std::string()> debug_ptx)
      : module_(module), debug_ptx_(std::move(debug_ptx)) {}

  // Replaces `f.object`, a symbol or the name of an array, by its readable name, and sets `f.place`
  // if the element is known.
  void name_element(counters::Finding& f);

  // Names the object and the element of an access that ended a launch. `shared`: the variables of
  // the kernel; an access outside of shared memory is described relative to the variable if there
  // is only one.
  void name_element(sim::FaultyMemoryAccess& access,
                    const std::vector<sim::SharedVariable>& shared);

 private:
  const ptx::DebugTypes& types();

  const ptx::Module& module_;
  std::function<std::string()> debug_ptx_;
  std::optional<ptx::DebugTypes> types_;
};

}  // namespace lab32::device
