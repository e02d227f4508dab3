// The code of each kernel of a PTX module, as text. Two modules can be compared kernel by kernel,
// and a result about a kernel can be cached for as long as its code stays the same.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lab32::grading {

class KernelCode {
 public:
  KernelCode() = default;
  explicit KernelCode(const std::string& ptx);

  // The code of a kernel, named as for device::LoadedModule::find, or of a variable, with
  // everything that it refers to; "" if no or several symbols match. Equal texts behave alike:
  // positions in the source and the numbering of functions are left out.
  std::string code(const std::string& name) const;

  friend bool operator==(const KernelCode& a, const KernelCode& b) { return a.text_ == b.text_; }

 private:
  std::map<std::string, std::string> text_;  // by symbol
  std::vector<std::string> kernels_;         // symbols of the entry points
};

}  // namespace lab32::grading
