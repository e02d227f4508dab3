// What is modelled of the grader's own kernels in work that is the same for every submission.
#pragma once

#include <functional>
#include <string>

namespace lab32::grading {

struct Check;

// What `compute` gives, in seconds: of launches of given(`kernel`) on the session's device, with
// arrays of its own. It runs on another device of that name in which nothing has been launched,
// since where arrays lie matters to L1: so it does not depend on what was graded before. Nor does
// it spend the submission's time. The number is kept in the cache of compiled files, by this
// program, the device, the kernel's code and `work`, which says what else it depends on.
double given_time(Check& check, const std::string& kernel, const std::string& work,
                  const std::function<double(Check& own)>& compute);
// The same for what is a text.
std::string given_text(Check& check, const std::string& kernel, const std::string& work,
                       const std::function<std::string(Check& own)>& compute);

}  // namespace lab32::grading
