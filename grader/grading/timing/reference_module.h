// The reference solution of a lab in a form that can be timed on any card and does not reveal how
// it was written: its PTX without names and positions.
#pragma once

#include <optional>
#include <string>

#include "toolchain/artifact.h"

namespace lab32::grading {

// The reference solution for a card of `arch`, from the lab's file in solutions/ or, if that is
// missing, from the sealed module that was installed with lab32. nullopt: there is neither, or the
// card is too old.
std::optional<toolchain::CompiledArtifact> reference_artifact(const std::string& lab,
                                                              const std::string& arch);

// The sealed module that an installed lab32 has instead of the lab's solution. Throws Error if
// there is no solution.
std::string sealed_reference_ptx(const std::string& lab);

// The PTX of a solution without line information, comments, answers to questions and names of local
// variables. The names of kernels and the records of LAB32_LAUNCH and LAB32_TILE stay.
std::string ptx_without_debug_info(const std::string& ptx);

// Encodes a text so that `strings` and `grep` find nothing in it; deobfuscate_text() decodes it.
// The key is part of lab32, since the module must run without its source, so this does not stop a
// reader of the program.
std::string obfuscate_text(const std::string& text);
// nullopt: obfuscate_text() has not made these bytes.
std::optional<std::string> deobfuscate_text(const std::string& bytes);

}  // namespace lab32::grading
