// The commands for whole programs, which build/runtime/lab32 has: run, profile, check, explain,
// nvcc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pictures/explanation.h"
#include "runtime/profiler/build_program.h"
#include "simulator/observers/traffic/close_up.h"

namespace lab32::profiler {

// `lab32 profile`: what Nsight Compute would say of a program.
struct ProfileOptions {
  Program program;
  std::string device = "sim";
  unsigned gpus = 1;
  std::vector<std::string> arguments;
  std::string metrics;  // "A,B"; empty: the tables
  std::string kernel;   // a regular expression that is found in the names to show; empty: all
  std::string csv;      // a file; empty: none
  bool source = false;
};

// Runs the program, prints what it recorded, and returns the exit status: the program's own, or 2
// where something that it needed is not supported. Throws Error for bad options, before it runs.
int profile(const ProfileOptions& options);

// `lab32 check`: what compute-sanitizer would find in a program, and what it overlooks.
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

// `lab32 explain PROGRAM.cu --line N`: pictures of what a line of a program does.
struct ExplainOptions {
  std::string program, device = "sim";
  unsigned gpus = 1;
  std::vector<std::string> arguments;
  counters::CloseUpChoice choice;  // its file is filled in
};

// Of the launches that come to the line the one that wastes most there. What the program prints
// goes to stderr. Throws Error where no launch does.
pictures::Explanation explain(const ExplainOptions& options);

}  // namespace lab32::profiler
