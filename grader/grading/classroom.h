// `lab32 class` is a Python program (grader/python/lab32/classroom), which starts this one for each
// student.
#pragma once

#include <string>
#include <vector>

namespace lab32::grading {

// Takes this process's place. Throws Error where there is no Python for it.
[[noreturn]] void exec_class(const std::vector<std::string>& arguments);

}  // namespace lab32::grading
