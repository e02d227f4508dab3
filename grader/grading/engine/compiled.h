// Compiles a submission together with its lab's given kernels. Kernels that the student's file
// marks as given belong to the grader: those of labs/<lab>/given.cu are compiled in a namespace of
// their own, and the checks launch these copies. Kernels that call nothing of the submission come
// in front of it, where none of its macros, names and overloads exist yet; the others come behind
// it. A submission therefore gains nothing by emptying a given kernel or by making it cheaper.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/source_file.h"
#include "base/work.h"
#include "device/device.h"
#include "pictures/make.h"
#include "toolchain/artifact.h"
#include "toolchain/nvcc.h"
#include "toolchain/submission.h"

namespace lab32::grading {

struct Check;

// The code that is compiled around the submission `source`; none if the lab has no given.cu. The
// part behind it undefines the submission's macros first. Each kernel has the line numbers of its
// copy in the submission, so that tables can refer to them.
toolchain::CodeAroundSubmission code_around_submission(const std::string& lab,
                                                       const SourceFile& source);

// Throws CompileError if a file of the submission names the grader's namespace.
void refuse_reserved_namespace(const toolchain::Submission& submission, const std::string& display);

// Translates the compiler's messages about given kernels for a submission that lacks a function
// that they call, or declares it differently: what is missing or does not fit, and which kernel
// needs it. Each problem is reported once.
std::string rewrite_given_kernel_errors(const std::string& messages, const std::string& display);

// The full name of a given kernel in a module. If the module has no copy of the grader's, this is
// the name of the submission's own kernel.
std::string kernel_name_with_namespace(const std::string& kernel, device::LoadedModule& module);
// Whether the kernel of that name is one of the grader's.
bool is_given_kernel(const std::string& kernel);
// The full name of a given kernel in the module of the check.
std::string kernel_name_with_namespace(const Check& check, const std::string& kernel);

// Compiles the submission with the lab's given kernels. `more` is compiled behind them.
toolchain::CompiledArtifact compile_with_given_kernels(const std::string& lab,
                                                       const toolchain::Submission& submission,
                                                       const std::string& arch,
                                                       const std::string& display,
                                                       const std::string& more = "");

struct CompilationResult {
  toolchain::Submission submission;
  toolchain::CompiledArtifact artifact;
  double seconds = 0;  // wall-clock time
};

// A compilation in the background.
class BackgroundCompilation {
 public:
  BackgroundCompilation() = default;  // no compilation
  // Reads and compiles the file.
  BackgroundCompilation(const std::string& lab, const std::filesystem::path& file,
                        const std::string& arch, BackgroundWork::When when);

  bool valid() const { return work_.valid(); }
  void wait() { work_.wait(); }
  // Waits for the compilation and returns its result, or throws its error. May be called once.
  CompilationResult wait_for_result();

 private:
  std::shared_ptr<CompilationResult> result_;
  BackgroundWork work_;
};

struct PtxOrMessages {
  bool compiles = false;
  std::string text;  // if the file does not compile: the compiler's messages
};

// The PTX that `lab32 grade` would run for this file. Its line information names the file LAB.cu.
// Throws Error for problems that are not the submission's fault.
PtxOrMessages compile_to_ptx(const std::string& lab, const std::filesystem::path& file,
                             const std::string& device);

// Runs an instance of a template of the lab's given.cu and returns its output. `kernel`: the
// instance, as "swizzle_all<3, 0, 3>", with the parameters (const unsigned* in, unsigned* out, int
// n); given.cu need not instantiate it. Throws Error if the file does not compile with it, or if
// the kernel faults.
std::vector<uint32_t> output_of_given_kernel(const std::string& lab,
                                             const std::filesystem::path& file,
                                             const std::string& device, const std::string& kernel,
                                             const std::vector<uint32_t>& in);

// The lab in which students write a swizzle, so that `lab32 explain` can draw theirs. The lab's
// code sets it before main().
struct SwizzleLabHooks {
  std::string name;
  // The kernel of given.cu that applies the student's function for a shape to offsets.
  std::string (*kernel)(const pictures::CuteSwizzle&) = nullptr;
  // Whether a question of the lab asks for part of the shape's table.
  bool (*is_question)(const pictures::CuteSwizzle&) = nullptr;
};
std::optional<SwizzleLabHooks>& swizzle_lab();

}  // namespace lab32::grading
