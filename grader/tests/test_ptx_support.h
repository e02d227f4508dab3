// What the tests of grader/ptx share.
#pragma once

#include <string>
#include <vector>

#include "ptx/module.h"

namespace lab32::tests {

// A module with one kernel, `k`, that has a pointer parameter `p` and a 32-bit one `n`, and
// registers %p0… %rs0… %r0… %rd0… %f0… %fd0… to use in `body`. The body begins at PTX line 8.
std::string kernel_text(const std::string& body, const std::string& module_scope = "");
ptx::Module parse_kernel(const std::string& body, const std::string& module_scope = "");
const ptx::Function& kernel(const ptx::Module& module);

// The message with which the text is refused: by parse, or as kernel k's refusal. "" if it is not.
std::string refusal_of(const std::string& text);

// PTX that nvcc makes of grader/tests/ptx/*.cu, for several architectures; compiled once a run.
struct CompiledPtx {
  std::string name;  // "language.cu, sm_90 -lineinfo"
  std::string arch;
  std::string text;
};
const std::vector<CompiledPtx>& compiled_ptx();

// Runs ptxas; throws with its complaints.
void assemble(const std::string& ptx, const std::string& arch);

// Everything a function or module holds, a line each, independently of ptx/print.h; without PTX
// line numbers and the text. What is equal has equal descriptions.
std::string describe(const ptx::Module& module, const ptx::Function& function);
std::string describe_rest(const ptx::Module& module);

}  // namespace lab32::tests
