// Texts that people read, compared to the letter with the files of tests/golden.
// LAB32_UPDATE_GOLDEN=1 writes the files anew; look at the difference before it is committed.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "labs/grade.h"

namespace lab32::tests {

// Messages name files as the user gave them: relative to the checkout, in the golden texts.
class InRoot {
 public:
  InRoot() : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(labs::root());
  }
  ~InRoot() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
};

inline void check_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = labs::root() / "grader/tests/golden" / name;
  if (std::getenv("LAB32_UPDATE_GOLDEN")) std::ofstream(path) << text;
  std::ifstream file(path);
  std::ostringstream golden;
  golden << file.rdbuf();
  INFO(name, " differs; if it should, run with LAB32_UPDATE_GOLDEN=1");
  CHECK(text == golden.str());
}

}  // namespace lab32::tests
