// What would stop the program, said before its first kernel: it may never come to it, so it goes
// on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/cudart/registry.h"

namespace lab32::cudart {

// Refusals of device code, each once, with the kernels that it stops: a line of a template stops
// many.
class CodeRefusals {
 public:
  // `why`: what an Error says, without the PTX that it quotes, by the line of the source where it
  // is known; else by that of the PTX, of the module `name`. `kernel`: its name for people; empty:
  // all of them.
  void add(const std::string& why, const std::string& kernel, const std::string& name = "");
  // "p.cu:7: `discard.global.L2` is not supported by the simulator (kernel bad<1> and 1 more)"
  std::vector<std::string> lines() const;

 private:
  std::map<std::string, std::vector<std::string>> kernels_;  // by refusal
};

// Of the program's own modules, those that have come since the last time. At each launch: costs
// nothing where none has.
void foresee_kernels(Registry& registry, const std::string& arch);
// Of a module that the program has just loaded itself.
void foresee_kernels(Binary& module);
// `refusals`: of functions that the program names.
void foresee_calls(const std::vector<std::string>& refusals);

}  // namespace lab32::cudart
