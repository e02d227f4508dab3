// Modelled times of the grader's own kernels, whose work is the same for every submission. They are
// computed once and kept in the cache of compiled files.
#pragma once

#include <functional>
#include <string>

namespace lab32::grading {

struct Check;

// The seconds that `compute` returns for launches of the given kernel. It runs on a separate device
// of the same name, because L1 depends on the addresses of arrays, so the result does not depend on
// earlier gradings and does not use the submission's time. The cache key is this program, the
// device, the kernel's code and `work`, a text that names everything else that the result depends
// on.
double given_time(Check& check, const std::string& kernel, const std::string& work,
                  const std::function<double(Check& own)>& compute);
// As above, for a text.
std::string given_text(Check& check, const std::string& kernel, const std::string& work,
                       const std::function<std::string(Check& own)>& compute);

}  // namespace lab32::grading
