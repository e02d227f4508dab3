// A submission as its lab compiles it.
#pragma once

#include <exception>
#include <filesystem>
#include <future>
#include <string>

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
  double seconds = 0;        // by the clock
  std::exception_ptr error;  // instead of all of it
};

// Reads and compiles DIR/LAB/LAB.cu on a thread of its own, or `deferred` in get(), which throws
// nothing.
std::future<Compilation> compilation_of(const std::string& lab, const std::filesystem::path& file,
                                        const std::string& arch, std::launch when);

struct Ptx {
  bool compiles = false;
  std::string text;  // where it does not: why, in the compiler's words
};

// What `lab32 grade` would run of this file; positions name it LAB.cu. Throws Error for what is not
// the submission's own fault.
Ptx ptx_of(const std::string& lab, const std::filesystem::path& file, const std::string& device);

}  // namespace lab32::grading
