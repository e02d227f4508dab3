// The reference solution of a lab as something that can be timed on any card: its PTX, without what
// tells how it was written.
#pragma once

#include <optional>
#include <string>

#include "toolchain/artifact.h"

namespace lab32::grading {

// For a card of `arch`: of solutions/LAB/LAB.cu, or, where that is not there, of the sealed module
// that lab32 was installed with. nullopt: there is neither, or the card is older than the solution
// allows.
std::optional<toolchain::Artifact> reference_module(const std::string& lab,
                                                    const std::string& arch);

// What an installed lab32 has in place of solutions/LAB. Throws Error where there is no solution.
std::string sealed_reference(const std::string& lab);

// The PTX of a solution without positions, comments, answers and the names of what is inside a
// kernel: kernels, and what LAB32_LAUNCH and LAB32_TILE say, are what is left of it.
std::string bare_ptx(const std::string& ptx);

// Bytes that no `strings` and no `grep` reads, and back. Not against who takes lab32 apart: the key
// is in it, as it must be where a module is to run without its source.
std::string sealed(const std::string& text);
// nullopt: these bytes are not what sealed() makes.
std::optional<std::string> unsealed(const std::string& bytes);

}  // namespace lab32::grading
