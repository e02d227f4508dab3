// A complete CUDA program, from its source to something that can be started.
#pragma once

#include <filesystem>
#include <string>

namespace lab32::profiler {

// `source`: a .cu file, compiled by nvcc for `arch` ("sm_90") and linked with the simulated runtime
// as a user would on the command line: its own directory, CUDA and C++ headers are found, messages
// go to stderr as nvcc writes them. Kept in the cache, and compiled again when the
// source or a header that it includes has changed. Throws Error when it does not compile.
std::filesystem::path compile_program(const std::filesystem::path& source, const std::string& arch);

// The program itself when it is one already and linked with the shared runtime; else
// compile_program(). Throws Error saying what to do when the file is neither.
std::filesystem::path build_program(const std::filesystem::path& file, const std::string& arch);

// build/cudart: where libcudart.so.13 is.
std::filesystem::path runtime_directory();

}  // namespace lab32::profiler
