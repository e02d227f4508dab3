// Runs ptxas and nvdisasm alone: assembles PTX to the machine code of one card, and lists machine
// code. Results are cached. nvcc.h compiles CUDA sources.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/process.h"
#include "toolchain/artifact.h"

namespace lab32::toolchain {

// ---- ptxas ----

// Assembles a PTX text of lab32's own. It runs outside the sandbox, and an error is the machine's
// (MachineError), not a submission's. The artifact has no SASS and no registers.
CompiledArtifact assemble_own_ptx(const std::string& ptx, const std::string& arch,
                                  const std::string& name);

// Assembles a PTX text of a user, which may be wrong: `cubin` is then empty and `errors` has ptxas'
// messages. It has the line notes of a listing (-lineinfo). A text of a newer PTX version than this
// ptxas knows is assembled as ptxas' own version, which fails only if the text uses new features.
struct CubinOrErrors {
  std::string cubin, errors;
};
// later: the text will be linked, so it may call functions that other texts define
enum class Linking : uint8_t { none, later };
CubinOrErrors assemble_user_ptx(const std::string& ptx, const std::string& arch,
                                Linking linking = Linking::none);

// ---- nvdisasm, on a cubin from another compilation: one that is embedded in a program ----

// The options whose output simulator/sass/listing.h reads.
extern const std::vector<std::string> kListingFlags;

// nvdisasm's listing of a file; `run` starts the program. The data-flow analysis that finds the
// targets of jumps through a table takes a quarter of nvdisasm's time, so only a listing with such
// jumps is made with it.
ProcessOutcome list_machine_code(
    const std::string& cubin_file,
    const std::function<ProcessOutcome(const std::vector<std::string>& argv)>& run);

// The text of CompiledArtifact::sass, from the cache if possible; empty when this machine has no
// nvdisasm. Throws Error when nvdisasm fails.
std::string disassemble(const std::string& cubin);

}  // namespace lab32::toolchain
