// PTX -> machine code of one card, by the installed ptxas.
#pragma once

#include <cstdint>
#include <string>

#include "toolchain/artifact.h"

namespace lab32::toolchain {

// `ptx` is our own: it is not confined, and an error in it is no submission's (MachineError). The
// artifact has no SASS and no registers. The same text is assembled once.
Artifact assemble(const std::string& ptx, const std::string& arch, const std::string& name);

// The same for a text of somebody's, which may be wrong: then there is no cubin, but what ptxas
// says of it. It has a listing's notes of lines (-lineinfo). A text of a newer version of PTX than
// this ptxas knows is assembled as one of ptxas' own, which fails only for what is new in it.
struct Assembled {
  std::string cubin, errors;
};
enum class Linking : uint8_t { none, later };  // later: it may call what other texts define
Assembled assemble_program(const std::string& ptx, const std::string& arch,
                           Linking linking = Linking::none);

}  // namespace lab32::toolchain
