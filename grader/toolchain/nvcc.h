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

// The submission's fault: its lab loses the points. BadSubmission (submission.h) does so, too; any
// other Error is the machine's.
struct CompileError : Error {
  CompileError(const std::string& display_path, const std::string& text)
      : Error(display_path + " does not compile:\n" + text), text(text) {}
  std::string text;  // nvcc's errors, with the student's paths
};

// `display_path` is the name of the file in messages, and in the PTX and the SASS. Throws
// CompileError.
Artifact compile(const std::filesystem::path& source, const std::string& arch,
                 const std::string& display_path);

// Code that is compiled in the same translation unit as a submission, in front of it and behind it.
// @SUBMISSION@ in it becomes the file's name.
struct Surroundings {
  std::string before, behind;
};

struct CompileOptions {
  Isolation isolation;
  ProcessLimits limits;            // for nvcc
  uint64_t variables = 128 << 20;  // bytes of __device__ and __constant__ arrays in all
  bool cache = true;               // compile the same text only once
  // Returns what surrounds the file; its argument is the text of the file. Null: nothing.
  std::function<Surroundings(const std::string&)> around = {};
  CompileOptions();  // the defaults of compile() above
};
Artifact compile(const std::filesystem::path& source, const std::string& arch,
                 const std::string& display_path, const CompileOptions& options);
// Compiles a submission that has been read before.
Artifact compile(const Submission& submission, const std::string& arch,
                 const std::string& display_path, const CompileOptions& options);

}  // namespace lab32::toolchain
