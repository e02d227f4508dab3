// `lab32 run --list-unsupported`: all that a program will not get, before anything of it runs.
#pragma once

#include <string>

#include "runtime/profiler/build_program.h"

namespace lab32::profiler {

// Builds the program, prints a line for each library that is not here, each function of the runtime
// that is refused, each refusal of device code, and returns 2 if there is any, else 0. Throws Error
// when the program cannot be built or read.
int list_unsupported(const Program& program, const std::string& device);

}  // namespace lab32::profiler
