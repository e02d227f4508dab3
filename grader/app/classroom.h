// `lab32 class`, `similarity` and `report` are Python programs (grader/python/lab32), which start
// this one; `explain` has one draw what it has seen.
#pragma once

#include <string>
#include <vector>

namespace lab32::grading {

// `module` takes this process's place. Throws Error where there is no Python for it.
[[noreturn]] void exec_python(const std::string& module, const std::vector<std::string>& arguments);
// The same with `input` as its standard input.
[[noreturn]] void exec_python(const std::string& module, const std::vector<std::string>& arguments,
                              const std::string& input);

}  // namespace lab32::grading
