// Warnings about unsupported features before the program's first kernel. The program may never
// reach these features, so it continues.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/cudart/registry.h"

namespace lab32::cudart {

// Unsupported instructions in device code. Each is reported once, with the kernels that contain it,
// because a single line of a template can affect many kernels.
class CodeRefusals {
 public:
  // `why` is the text of an Error; quoted PTX is dropped. The report uses the source line if it is
  // known, and otherwise the PTX line in the module `name`. `kernel` is the demangled name; empty
  // means all kernels.
  void add(const std::string& why, const std::string& kernel, const std::string& name = "");
  // An example: "kernel.cu:7: `discard.global.L2` is not supported by the simulator (kernel bad<1>
  // and 1 more)"
  std::vector<std::string> lines() const;

 private:
  std::map<std::string, std::vector<std::string>> kernels_;  // by refusal
};

// Warns about the program's own modules that were registered since the last call. Every launch
// calls it; without new modules it costs nothing.
void warn_of_kernels(Registry& registry, const std::string& arch);
// Warns about a module that the program has just loaded.
void warn_of_kernels(Binary& module);
// `refusals`: messages about functions that the program imports.
void warn_of_calls(const std::vector<std::string>& refusals);

}  // namespace lab32::cudart
