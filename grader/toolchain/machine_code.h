// ptxas and nvdisasm alone: PTX -> machine code of one card, and machine code -> its listing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/process.h"
#include "toolchain/artifact.h"

namespace lab32::toolchain {

// ---- ptxas ----

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

// ---- nvdisasm, on a cubin that nobody compiled here: one that lies in a program ----

// What simulator/sass/listing.h reads.
extern const std::vector<std::string> kListingFlags;

// nvdisasm's listing of a file, which `run` starts. Where jumps through a table lead is found by
// its analysis of data flow, a quarter of its time: only a listing that has such jumps is made with
// it.
Outcome list_machine_code(const std::string& cubin_file,
                          const std::function<Outcome(const std::vector<std::string>& argv)>& run);

// The text of Artifact::sass; empty when there is no nvdisasm on this machine. Kept in the cache.
// Throws Error when nvdisasm fails.
std::string disassemble(const std::string& cubin);

}  // namespace lab32::toolchain
