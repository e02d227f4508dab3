// A complete CUDA program, from its source to something that can be started.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/profiler/nvcc_words.h"

namespace lab32::profiler {

// A source is compiled by nvcc for `arch` ("sm_90"), with the others that are given, and linked
// with the simulated runtime as a user would on the command line: its own directory, CUDA and C++
// headers are found, messages go to stderr as nvcc writes them. Kept in the cache, and compiled
// again when a source, a header that it includes, or an object has changed. A program that is
// linked with the shared runtime is taken as it is. Throws Error saying what to do when the file is
// neither, or does not compile.
std::filesystem::path build_program(const Program& program, const std::string& arch);

// The PTX of its first source with the types of its variables (nvcc -G); "" where nvcc makes none.
std::string debug_ptx(const Program& program, const std::string& arch);

// This process becomes nvcc, with words that build for the simulator (`lab32 nvcc`).
[[noreturn]] void exec_nvcc(const std::vector<std::string>& words, const std::string& arch);

// build/runtime: where libcudart.so.13 is.
std::filesystem::path runtime_directory();

}  // namespace lab32::profiler
