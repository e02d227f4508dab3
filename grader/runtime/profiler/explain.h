// `lab32 explain PROGRAM.cu --line N`: pictures of what a line of a program does.
#pragma once

#include <string>
#include <vector>

#include "pictures/shown.h"
#include "simulator/observers/traffic/close_up.h"

namespace lab32::profiler {

struct ExplainOptions {
  std::string program, device = "sim";
  unsigned gpus = 1;
  std::vector<std::string> arguments;
  counters::CloseUpChoice choice;  // its file is filled in
};

// Of the launches that come to the line the one that wastes most there. What the program prints
// goes to stderr. Throws Error where no launch does.
pictures::Shown explain(const ExplainOptions& options);

}  // namespace lab32::profiler
