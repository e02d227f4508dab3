// `lab32 class` and `lab32 similarity` are Python programs (grader/python/lab32), which start this
// one for each student.
#pragma once

#include <string>
#include <vector>

namespace lab32::grading {

// `module` takes this process's place. Throws Error where there is no Python for it.
[[noreturn]] void exec_python(const std::string& module, const std::vector<std::string>& arguments);

}  // namespace lab32::grading
