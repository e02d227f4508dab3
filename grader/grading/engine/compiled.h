// A submission as its lab compiles it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/work.h"
#include "toolchain/artifact.h"
#include "toolchain/submission.h"

namespace lab32::grading {

// With the lab's given kernels; `more` is compiled behind these.
toolchain::Artifact compiled(const std::string& lab, const toolchain::Submission& submission,
                             const std::string& arch, const std::string& display,
                             const std::string& more = "");

struct Compilation {
  toolchain::Submission submission;
  toolchain::Artifact artifact;
  double seconds = 0;  // by the clock
};

// A compilation that goes on.
class Compiling {
 public:
  Compiling() = default;  // of no file
  // Reads and compiles DIR/LAB/LAB.cu.
  Compiling(const std::string& lab, const std::filesystem::path& file, const std::string& arch,
            Background::When when);

  bool valid() const { return work_.valid(); }
  void wait() { work_.wait(); }
  // Waits; throws what is in place of a result. Once only.
  Compilation get();

 private:
  std::shared_ptr<Compilation> result_;
  Background work_;
};

struct Ptx {
  bool compiles = false;
  std::string text;  // where it does not: why, in the compiler's words
};

// What `lab32 grade` would run of this file; positions name it LAB.cu. Throws Error for what is not
// the submission's own fault.
Ptx ptx_of(const std::string& lab, const std::filesystem::path& file, const std::string& device);

}  // namespace lab32::grading
