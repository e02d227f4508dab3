// Finds the shared libraries that a program is linked with, and recognises CUDA libraries that have
// no simulated version.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lab32::profiler {

constexpr char kRuntime[] = "libcudart.so.13", kDriver[] = "libcuda.so.1",
               kNvrtc[] = "libnvrtc.so.13";

struct LinkedSharedLibrary {
  std::string name;  // the linked name: "libcudart.so.13"
  std::string path;  // empty: the loader does not find the library
};

// The libraries that the loader would load for the program. The program is not started. The
// directory `first` is searched first.
std::vector<LinkedSharedLibrary> shared_libraries_of_program(const std::filesystem::path& program,
                                                             const std::filesystem::path& first);

// Whether the program itself is linked with a library whose name has this prefix.
bool is_linked_with(const std::filesystem::path& program, const std::string& library);

// Adds the folder of the toolkit's own libraries where nvcc does not look: NVIDIA's wheels have
// lib/, a full toolkit has lib64/. `home` is the toolkit's folder. Adds the options that `-lnvrtc`
// needs: NVIDIA's NVRTC (in the toolkit, or in the wheel beside nvcc's) may lack the linker's
// symlink, and may be outside the loader's search path. Throws Error if NVRTC is not installed.
std::vector<std::string> with_toolkit_library_paths(std::vector<std::string> words,
                                                    const std::filesystem::path& home);

// Whether the program is linked with no CUDA library and contains no device code, but may load such
// libraries: an interpreter such as Python, or a script for one.
bool can_load_cuda_at_runtime(const std::filesystem::path& program);

// Whether the name is libcublas.so or libcublasLt.so of any version.
bool is_cublas_library_file(const std::string& name);

// Why a library such as "libcufft.so.12" or "-lcufft" is not supported, and what to do instead.
// This applies to all libraries that contain only machine code or use the card without the driver's
// API. nullopt: the library is not one of these.
std::optional<std::string> library_refusal_reason(const std::string& name);

// The same explanation for a compiler's or linker's message that a header or a function of such a
// library is missing.
std::optional<std::string> library_refusal_in_messages(const std::string& messages);

}  // namespace lab32::profiler
