// A submission as its lab compiles it. Kernels that a lab's file marks as given belong to the
// grader: labs/<lab>/given.cu is compiled behind each submission, in a namespace of its own, and
// checks launch these. So nothing is won by emptying them, or by making them cheaper than they are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/source_file.h"
#include "base/work.h"
#include "device/device.h"
#include "toolchain/artifact.h"
#include "toolchain/submission.h"

namespace lab32::grading {

struct Check;

// What is compiled behind the submission `source` (toolchain::CompileOptions::behind); empty where
// the lab has no given.cu. Macros of the submission end before it. A kernel has the line numbers
// that it has in the submission, so that a table of it can be read there.
std::string text_of_given(const std::string& lab, const SourceFile& source);

// What the compiler says of it, where the submission has no such kernel and so no line of it: what
// is missing there, or does not fit, and which kernel of the grader's needs it. Each thing once.
std::string in_students_terms(const std::string& messages, const std::string& display);

// The name of a given kernel in a module; where that has none of the grader's, its own.
std::string given(const std::string& kernel, device::LoadedModule& module);
// Whether a module's kernel is one of the grader's.
bool is_given(const std::string& kernel);
// In that of the check.
std::string given(const Check& check, const std::string& kernel);

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

// `kernel`: an instance of a template of checks/<lab>/given.cu with the parameters (const unsigned*
// in, unsigned* out, int n), as "swizzle_all<3, 0, 3>". Throws Error where the file does not
// compile with it, or the kernel does not run to its end.
std::vector<uint32_t> given_values(const std::string& lab, const std::filesystem::path& file,
                                   const std::string& device, const std::string& kernel,
                                   const std::vector<uint32_t>& in);

}  // namespace lab32::grading
