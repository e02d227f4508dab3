// A .cu file -> PTX, cubin and SASS. Only compilers run, in a sandbox; nothing of the file does.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/process.h"
#include "compile/artifact.h"
#include "compile/sandbox.h"

namespace lab32::compile {

// The submission's own fault: it costs its lab the points. Any other Error is the machine's.
struct CompileError : Error {
  CompileError(const std::string& display_path, const std::string& text)
      : Error(display_path + " does not compile:\n" + text), text(text) {}
  std::string text;  // as nvcc wrote it, with the student's paths
};

// `display_path` is how messages call the file; PTX and SASS name it so too. Throws CompileError.
Artifact compile(const std::filesystem::path& source, const std::string& arch,
                 const std::string& display_path);

struct Options {
  Isolation isolation;
  Limits limits;      // of nvcc
  bool cache = true;  // build/cache: the same text compiles once
  Options();          // what compile() above does
};
Artifact compile(const std::filesystem::path& source, const std::string& arch,
                 const std::string& display_path, const Options& options);

}  // namespace lab32::compile
