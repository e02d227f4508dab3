// A .cu file -> PTX, cubin and SASS. Only compilers run, in a sandbox; nothing of the file does.
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

// The submission's own fault: it costs its lab the points. So does BadSubmission (submission.h);
// any other Error is the machine's.
struct CompileError : Error {
  CompileError(const std::string& display_path, const std::string& text)
      : Error(display_path + " does not compile:\n" + text), text(text) {}
  std::string text;  // as nvcc wrote it, with the student's paths
};

// `display_path` is how messages call the file; PTX and SASS name it so too. Throws CompileError.
Artifact compile(const std::filesystem::path& source, const std::string& arch,
                 const std::string& display_path);

struct CompileOptions {
  Isolation isolation;
  ProcessLimits limits;            // of nvcc
  uint64_t variables = 128 << 20;  // bytes of __device__ and __constant__ arrays in all
  bool cache = true;               // the same text compiles once
  // What is compiled as if it stood at the end of the file, of whose text it is made; @SUBMISSION@
  // in it is the file's name. Null: nothing.
  std::function<std::string(const std::string&)> behind = {};
  CompileOptions();  // what compile() above does
};
Artifact compile(const std::filesystem::path& source, const std::string& arch,
                 const std::string& display_path, const CompileOptions& options);
// Of what was read before.
Artifact compile(const Submission& submission, const std::string& arch,
                 const std::string& display_path, const CompileOptions& options);

}  // namespace lab32::toolchain
