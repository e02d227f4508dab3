// Builds a complete CUDA program for the simulator, or checks one that was built elsewhere.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/profiler/nvcc_words.h"

namespace lab32::profiler {

// Compiles the program's sources for `arch` ("sm_90") with nvcc and links them with the simulated
// runtime, as a user would on the command line: nvcc finds headers beside the source and CUDA's
// own, and its messages go to stderr. The result is cached, and rebuilt if a source, an included
// header or an object changes. A program that is already linked with the shared runtime is used
// directly. Throws Error if the file is neither, or does not compile; the message says what to do.
std::filesystem::path build_program(const ProgramOrSources& program, const std::string& arch);

// The PTX of the program's first source with the types of its variables (nvcc -G); "" if nvcc makes
// none.
std::string debug_ptx(const ProgramOrSources& program, const std::string& arch);

// Replaces this process by nvcc, with options added that build for the simulator (`lab32 nvcc`).
[[noreturn]] void exec_nvcc(const std::vector<std::string>& words, const std::string& arch);

// build/runtime, the folder with libcudart.so.13.
std::filesystem::path runtime_directory();

}  // namespace lab32::profiler
