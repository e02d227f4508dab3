// Files that differ in little, graded one after the other: a class of mutants, a corpus, a file
// that is being edited.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "device/device.h"
#include "grading/launch/code_map.h"
#include "report/result.h"

namespace lab32::grading {

// The first file is graded wholly. Of a later one, a check is not run that passed in the first
// where all that it asked the module for is the same code: kernels, launch shapes, answers. Since
// the simulator gives the same for the same code, inputs and seed, it would pass again. Of none is
// a time predicted where there is no GPU, which says more to a reader and never changes a score.
class Alike {
 public:
  // Begins a file. The module tells which names each check asks for.
  std::unique_ptr<device::LoadedModule> watch(std::unique_ptr<device::LoadedModule> module,
                                              const std::string& ptx, uint64_t seed);
  // The first file's result, where the check needs not be run; else null.
  const report::Test* passed(const std::string& check) const;
  // Whether the file is the first one's code altogether.
  bool same_code() const { return code_ == first_code_; }
  // What the check that has just run came to.
  void keep(const report::Test& test);

 private:
  friend class WatchedModule;
  struct Kept {
    report::Test test;
    std::set<std::string> asked;
  };
  std::map<std::string, Kept> first_;  // by check
  CodeMap first_code_, code_;
  std::set<std::string> asked_;  // by the running check
  uint64_t seed_ = 0;
  int files_ = 0;
};

}  // namespace lab32::grading
