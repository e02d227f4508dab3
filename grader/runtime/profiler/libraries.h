// The shared libraries that a program asks for, and those that no simulated runtime can give it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lab32::profiler {

constexpr char kRuntime[] = "libcudart.so.13", kDriver[] = "libcuda.so.1",
               kNvrtc[] = "libnvrtc.so.13";

struct Library {
  std::string name;  // as it is asked for: "libcudart.so.13"
  std::string path;  // empty: the loader does not find it
};

// What the loader would load for the program, without starting it; in the directory `first` it
// looks first.
std::vector<Library> loaded_libraries(const std::filesystem::path& program,
                                      const std::filesystem::path& first);

// Whether the program itself asks for a library whose name begins so.
bool is_linked_with(const std::filesystem::path& program, const std::string& library);

// The words of nvcc's with what `-lnvrtc` needs besides: NVIDIA's NVRTC, of the toolkit or of the
// wheel beside nvcc's, may have no link for the linker, and the loader does not know where it is.
// Throws Error where there is none.
std::vector<std::string> with_nvrtc(std::vector<std::string> words);

// A program that asks for no CUDA library and holds no device code, but can load what does: an
// interpreter such as Python, or a script of one.
bool is_host(const std::filesystem::path& program);

// libcublas.so.13, libcublasLt.so.13 and those of other versions.
bool is_cublas(const std::string& name);

// Why not, and what to do instead, for "libcufft.so.12" and "-lcufft" as for all that come as
// machine code, or that talk to a card past the driver's API; nullopt: a library like any other.
std::optional<std::string> refused_library(const std::string& name);

// The same where the compiler or the linker says that a header, or a function, of one is missing.
std::optional<std::string> refused_in(const std::string& messages);

}  // namespace lab32::profiler
