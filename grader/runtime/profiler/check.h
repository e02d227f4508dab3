// `lab32 check`: what compute-sanitizer would find in a program, and what it overlooks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/profiler/build_program.h"

namespace lab32::profiler {

struct CheckOptions {
  Program program;
  std::string device = "sim";
  unsigned gpus = 1;
  std::vector<std::string> arguments;
  std::optional<uint64_t> schedule;  // of blocks and warps; none: theirs
};

// Runs the program, prints its hazards and returns the exit status: 2 where something that it
// needed is not supported; else 1 if there is a hazard or a kernel was stopped; else the program's
// own. Throws Error when the program cannot be built or started.
int check(const CheckOptions& options);

}  // namespace lab32::profiler
