// What a module's PTX defines, by name, so that two modules can be asked whether they mean the same
// by one.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lab32::grading {

class CodeMap {
 public:
  CodeMap() = default;
  explicit CodeMap(const std::string& ptx);

  // The code of a kernel, named as for device::LoadedModule::find, or of a variable, and of all
  // that it refers to; "" where there is none of that name, or several. Equal texts run alike: what
  // is left out are positions in the source, and what only numbers the functions of a file.
  std::string code(const std::string& name) const;

  friend bool operator==(const CodeMap& a, const CodeMap& b) { return a.text_ == b.text_; }

 private:
  std::map<std::string, std::string> text_;  // by symbol
  std::vector<std::string> kernels_;         // symbols of entries
};

}  // namespace lab32::grading
