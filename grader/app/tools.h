// The commands for whole CUDA programs. They are linked into build/runtime/lab32 only;
// build/lab32 starts that program when one of them is asked for (guest.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grading/engine/runner.h"
#include "runtime/profiler/build_program.h"
#include "runtime/profiler/check.h"
#include "runtime/profiler/command_words.h"
#include "runtime/profiler/explain.h"
#include "runtime/profiler/profile.h"
#include "simulator/observers/traffic/close_up.h"

namespace lab32::commands {

struct RunCommand {
  profiler::Program program;
  std::vector<std::string> arguments;
  std::string device = "sim";
  unsigned gpus = 1;
  std::optional<uint64_t> schedule;
  bool list_unsupported = false;  // instead of running it
};

struct ExplainCommand {
  std::string what, check, format = "text", output, picture, swizzle;
  std::vector<std::string> arguments;
  counters::CloseUpChoice choice;
  unsigned gpus = 1;  // of a program
};

// Each does what the command asks for, or throws Error. What is returned is the exit status.
struct Tools {
  int (*run)(const RunCommand&);
  int (*profile)(const profiler::ProfileOptions&);
  int (*check)(const profiler::CheckOptions&);
  decltype(&profiler::explain) explain;
  int (*nvcc)(const std::vector<std::string>& words);  // takes this process's place
  decltype(&profiler::split_command) split_command;
};

// Set before main() where they are linked; null where they are not.
const Tools*& linked_tools();

}  // namespace lab32::commands
