// Whole CUDA programs run in a separate binary: build/runtime/lab32 is this program plus
// app/programs and the simulated CUDA runtime. build/lab32 knows only the names of its commands,
// and passes them on with exec_program_binary().
#pragma once

#include "app/command.h"
#include "runtime/profiler/commands.h"

namespace lab32::commands {

// The functions by which app/programs adds options and behaviour to the commands.
struct ProgramCommands {
  void (*run)(Command&);
  void (*profile)(Command&);
  void (*check)(Command&);
  void (*nvcc)(Command&);
  decltype(&profiler::explain) explain;
  // Takes the words that belong to nvcc and to the program out of a command line; returns those of
  // lab32, the program's file last.
  Words (*take_program)(const CLI::App*, const Words&, profiler::Program&, Words& arguments);
};

// Set before main() in the binary that contains them; null in the other one.
const ProgramCommands*& linked_programs();

// Replaces this process by build/runtime/lab32 with the same words. In a checkout in which that
// program has not been built, `make runtime` builds it first. Returns only by throwing
// MachineError, if the program is missing or cannot be built.
[[noreturn]] void exec_program_binary();

}  // namespace lab32::commands
