// `lab32 explain`: of a lab's check, of a program's line, of a swizzle.
#pragma once

#include "app/tools.h"

namespace lab32::commands {

// Prints or writes what was asked for; the exit status.
int explain(const ExplainCommand& command, const grading::GradeOptions& options);

}  // namespace lab32::commands
