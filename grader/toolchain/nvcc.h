// Compiles a .cu file to PTX, cubin and SASS. Only compilers run, inside a sandbox; no code of the
// file is executed. A failure is the submission's (CompileError, BadSubmission) or the machine's
// (any other Error).
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/process.h"
#include "toolchain/artifact.h"
#include "toolchain/sandbox.h"
#include "toolchain/submission.h"

namespace lab32::toolchain {

// The submission does not compile, and its lab loses the points. BadSubmission (submission.h) has
// the same effect; any other Error is the machine's fault.
struct CompileError : Error {
  CompileError(const std::string& display_path, const std::string& text)
      : Error(display_path + " does not compile:\n" + text), text(text) {}
  std::string text;  // nvcc's errors, with the student's paths
};

// `display_path` is the name of the file in messages, and in the PTX and the SASS. Throws
// CompileError.
CompiledArtifact compile(const std::filesystem::path& source, const std::string& arch,
                         const std::string& display_path);

// Code that is compiled in the same translation unit as a submission, in front of it and behind it.
// @SUBMISSION@ in it becomes the file's name.
struct CodeAroundSubmission {
  std::string before, behind;
};

struct SandboxedCompileSettings {
  Isolation isolation;
  ProcessLimits limits;            // for nvcc
  uint64_t variables = 128 << 20;  // bytes of __device__ and __constant__ arrays in all
  bool cache = true;               // whether to compile the same text only once
  // Returns the code around the file, given the text of the file. Null if the file stands alone.
  std::function<CodeAroundSubmission(const std::string&)> around = {};
  SandboxedCompileSettings();  // the defaults of compile() above
};
CompiledArtifact compile(const std::filesystem::path& source, const std::string& arch,
                         const std::string& display_path, const SandboxedCompileSettings& options);
// Compiles a submission that has been read before.
CompiledArtifact compile(const Submission& submission, const std::string& arch,
                         const std::string& display_path, const SandboxedCompileSettings& options);

// ---- messages of the compilers ----

// Makes nvcc's messages readable for students. nvcc prints a source line as its preprocessor left
// it, `__attribute__((device))` for `__device__`, and adds lines about its own options. These
// functions restore the spelling of the source, move the caret below it accordingly, and drop the
// additional lines. They take and return text with line ends, as the compilers print it.

// The messages with quoted source lines as the student wrote them, without nvcc's remarks about
// options and without its count of errors.
std::string use_source_spelling(const std::string& messages);

// The messages without warnings, for a file that does not compile: the errors are all that the
// student needs. If there are only warnings, they are returned unchanged.
std::string without_warnings(const std::string& messages);

// The messages with an unclosed macro, such as `LAB32_ANSWER(x, 31;`, at its line of `source`. The
// preprocessor reports it where the text ends. `display` is the name of the source in messages.
std::string move_to_unclosed_macro(const std::string& messages, const std::string& source,
                                   const std::string& display);

}  // namespace lab32::toolchain
