// Modelled times of the grader's own kernels, whose work is the same for every submission. They are
// computed once and kept in the cache of compiled files.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lab32::grading {

struct Check;

// The seconds that `compute` returns for launches of the given kernel. It runs on a separate device
// of the same name, because L1 depends on the addresses of arrays, so the result does not depend on
// earlier gradings and does not use the submission's time. The cache key is this program, the
// device, the kernel's code and `work`, a text that names everything else that the result depends
// on.
double cached_time_of_given_kernel(Check& check, const std::string& kernel, const std::string& work,
                                   const std::function<double(Check& own)>& compute);
// As above, for a text.
std::string cached_result_text_of_given_kernel(
    Check& check, const std::string& kernel, const std::string& work,
    const std::function<std::string(Check& own)>& compute);

// ---- code of kernels ----

// The code of each kernel of a PTX module, as text. Two modules can be compared kernel by kernel,
// and a result about a kernel can be cached for as long as its code stays the same.

class NormalisedKernelTexts {
 public:
  NormalisedKernelTexts() = default;
  explicit NormalisedKernelTexts(const std::string& ptx);

  // The code of a kernel, named as for device::LoadedModule::find, or of a variable, with
  // everything that it refers to; "" if no or several symbols match. Equal texts behave alike:
  // positions in the source and the numbering of functions are left out.
  std::string code(const std::string& name) const;

  friend bool operator==(const NormalisedKernelTexts& a, const NormalisedKernelTexts& b) {
    return a.text_ == b.text_;
  }

 private:
  std::map<std::string, std::string> text_;  // by symbol
  std::vector<std::string> kernels_;         // symbols of the entry points
};

}  // namespace lab32::grading
