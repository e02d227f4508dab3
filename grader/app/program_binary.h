// Whole CUDA programs are built and linked apart from the grader: build/runtime/lab32 is this
// program with app/programs and the simulated CUDA runtime in it. build/lab32 knows the names of
// their commands, and passes them on to it.
#pragma once

#include "app/command.h"
#include "runtime/profiler/commands.h"

namespace lab32::commands {

// What app/programs adds to the commands: their options, and what they do.
struct ProgramCommands {
  void (*run)(Command&);
  void (*profile)(Command&);
  void (*check)(Command&);
  void (*nvcc)(Command&);
  decltype(&profiler::explain) explain;
};

// Set before main() where they are linked; null where they are not.
const ProgramCommands*& linked_programs();

// This process becomes build/runtime/lab32, with the words that it was started with. In a checkout
// where that program has not been built, `make runtime` builds it first. Returns only to throw
// MachineError, when it is not there or cannot be built.
[[noreturn]] void exec_program_binary();

}  // namespace lab32::commands
