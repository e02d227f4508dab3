// The commands for whole programs in build/runtime/lab32: run, profile, check, explain and nvcc.
// Each takes a structure of options and returns the exit status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pictures/picture.h"
#include "runtime/profiler/build_program.h"
#include "simulator/observers/traffic/launch_detail.h"

namespace lab32::profiler {

// `lab32 profile`: the counters that Nsight Compute would report for a program.
struct ProfileOptions {
  Program program;
  std::string device = "sim";
  unsigned gpus = 1;
  std::vector<std::string> arguments;
  std::string metrics;  // "A,B"; empty: print tables
  std::string kernel;   // regular expression for the kernels to show; empty: all
  std::string csv;      // output file; empty: none
  bool source = false;
};

// Runs the program, prints its recorded launches and returns the exit status: 2 if the program
// needed something unsupported, otherwise the program's own. Throws Error for wrong options before
// the program runs.
int profile(const ProfileOptions& options);

// `lab32 check`: the hazards that compute-sanitizer would find in a program, and some that it
// overlooks.
struct CheckOptions {
  Program program;
  std::string device = "sim";
  unsigned gpus = 1;
  std::vector<std::string> arguments;
  // The seed for the order of blocks and warps; nullopt: the default order.
  std::optional<uint64_t> schedule;
};

// Runs the program, prints its hazards and returns the exit status: 2 if the program needed
// something unsupported; otherwise 1 if there is a hazard or a kernel was stopped; otherwise the
// program's own. Throws Error if the program cannot be built or started.
int check(const CheckOptions& options);

// `lab32 explain PROGRAM.cu --line N`: pictures of the accesses on a line of a program.
struct ExplainOptions {
  Program program;
  std::string device = "sim";
  unsigned gpus = 1;
  std::vector<std::string> arguments;
  counters::DetailFilter choice;  // the function sets its file
};

// Draws the launch that wastes most on the line. The program's output goes to stderr. Throws Error
// if no launch executes the line.
pictures::Explanation explain(const ExplainOptions& options);

}  // namespace lab32::profiler
