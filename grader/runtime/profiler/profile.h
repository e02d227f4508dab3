// `lab32 profile`: what Nsight Compute would say of a program.
#pragma once

#include <string>
#include <vector>

#include "runtime/profiler/build_program.h"

namespace lab32::profiler {

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

}  // namespace lab32::profiler
