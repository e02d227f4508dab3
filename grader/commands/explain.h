// `lab32 explain`: of a lab's check, of a program's line, of a swizzle.
#pragma once

#include <string>
#include <vector>

#include "grading/runner.h"
#include "simulator/counters/close_up.h"

namespace lab32::commands {

struct ExplainCommand {
  std::string what, check, format = "text", output, picture, swizzle;
  std::vector<std::string> arguments;
  counters::CloseUpChoice choice;
  unsigned gpus = 1;  // of a program
};

// Prints or writes what was asked for; the exit status.
int explain(const ExplainCommand& command, const grading::GradeOptions& options);

}  // namespace lab32::commands
