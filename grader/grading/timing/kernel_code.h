// What the PTX of a module defines, by name: so two modules can be compared kernel by kernel, and
// what is computed of a kernel can be kept for as long as its code is the same.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lab32::grading {

class KernelCode {
 public:
  KernelCode() = default;
  explicit KernelCode(const std::string& ptx);

  // The code of a kernel, named as for device::LoadedModule::find, or of a variable, and of all
  // that it refers to; "" where there is none of that name, or several. Equal texts run alike: what
  // is left out are positions in the source, and what only numbers the functions of a file.
  std::string code(const std::string& name) const;

  friend bool operator==(const KernelCode& a, const KernelCode& b) { return a.text_ == b.text_; }

 private:
  std::map<std::string, std::string> text_;  // by symbol
  std::vector<std::string> kernels_;         // symbols of entries
};

}  // namespace lab32::grading
