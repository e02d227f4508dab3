#include "runtime/profiler/libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <vector>

#include "base/elf.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/process.h"

namespace lab32::profiler {
namespace {

constexpr char kMachineCode[] = "is machine code for GPUs, which the simulator does not run";
constexpr char kCard[] = "uses a GPU without the driver's API, and only that API is simulated";

struct RefusedLibrary {
  const char* begins;  // prefix of the library's name
  const char* header;  // prefix of its headers' names
  const char* calls;   // prefix of its functions' names
  const char *called, *why, *instead;
};
// A name that is a prefix of another comes after it.
constexpr RefusedLibrary kRefused[] = {
    {"cublas_static", "cublas_static", "cublas_static", "cuBLAS as a static library", kMachineCode,
     "link lab32's with -lcublas; it computes on the host"},
    {"cublasLt_static", "cublasLt_static", "cublasLt_static", "cuBLASLt as a static library",
     kMachineCode, "link lab32's with -lcublasLt; it has only handles"},
    {"cufft", "cufft", "cufft", "cuFFT", kMachineCode,
     "compare with a transform on the host (FFTW, or a loop in double precision)"},
    {"curand", "curand.h", "curand", "cuRAND's host API", kMachineCode,
     "use curand_kernel.h in kernels, or <random> on the host"},
    {"cusparse", "cusparse", "cusparse", "cuSPARSE", kMachineCode,
     "compare with a loop over the rows on the host"},
    {"cusolver", "cusolver", "cusolver", "cuSOLVER", kMachineCode,
     "compare with LAPACK on the host"},
    {"cudnn", "cudnn", "cudnn", "cuDNN", kMachineCode,
     "compare with loops on the host, or remove the calls"},
    {"cutensor", "cutensor", "cutensor", "cuTENSOR", kMachineCode, "use cublasGemmEx for products"},
    {"npp", "npp", "npp", "NPP", kMachineCode, "compare with loops on the host"},
    {"nvjpeg", "nvjpeg", "nvjpeg", "nvJPEG", kMachineCode,
     "read the picture on the host, with libjpeg"},
    {"nccl", "nccl", "nccl", "NCCL", kMachineCode,
     "copy between simulated GPUs with cudaMemcpyPeer (--gpus 2)"},
    {"nvidia-ml", "nvml", "nvml", "NVML", kCard, "use cudaGetDeviceProperties and cudaMemGetInfo"},
    {"cupti", "cupti", "cupti", "CUPTI", kCard, "use `lab32 profile`"},
};

std::string refusal_sentence(const RefusedLibrary& r) {
  return fmt::format("{} {}: {}", r.called, r.why, r.instead);
}

}  // namespace

std::vector<LinkedSharedLibrary> shared_libraries_of_program(const std::filesystem::path& program,
                                                             const std::filesystem::path& first) {
  ProcessCommand command;
  command.argv = {std::filesystem::absolute(program).string()};
  command.environment = {"LD_TRACE_LOADED_OBJECTS=1"};
  // The program gets these paths in `lab32 run`, too; NVIDIA's own cuBLAS would need more
  // libraries.
  const std::string more = environment_value(variables::kLibraryPath);
  command.environment.push_back("LD_LIBRARY_PATH=" + first.string() +
                                (more.empty() ? "" : ":" + more));
  command.limits.wall_seconds = 60;
  // Lines have one of two forms:
  // libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f…)      or      libx.so => not found
  std::istringstream listing(run_process(command).out);
  std::vector<LinkedSharedLibrary> libraries;
  for (std::string line; std::getline(listing, line);) {
    std::istringstream words(line);
    std::string name, arrow, path;
    if (!(words >> name)) continue;
    words >> arrow >> path;
    libraries.push_back({name, arrow == "=>" && path != "not" ? path : ""});
    // The lines of the loader itself and of the kernel's vDSO have no arrow.
    if (arrow != "=>") libraries.back().path = name;
  }
  return libraries;
}

bool is_linked_with(const std::filesystem::path& program, const std::string& library) {
  const std::string bytes = read_file(program).value_or("");
  if (!is_elf(bytes)) return false;
  const ElfFile elf = read_elf(bytes, program.string());
  return std::any_of(elf.needed.begin(), elf.needed.end(),
                     [&](const std::string& name) { return name.rfind(library, 0) == 0; });
}

std::vector<std::string> with_toolkit_library_paths(std::vector<std::string> words,
                                                    const std::filesystem::path& home) {
  const std::filesystem::path library = home / "lib";
  std::error_code none;
  if (!std::filesystem::exists(home / "lib64", none) &&
      std::filesystem::exists(library / "libcudadevrt.a", none))
    words.push_back("-L" + library.string());
  const auto asked = std::find(words.begin(), words.end(), "-lnvrtc");
  if (asked == words.end()) return words;
  for (const char* name : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"}) {
    const std::filesystem::path directory = home / name;
    std::error_code error;
    const bool linkable = std::filesystem::exists(directory / "libnvrtc.so", error);
    if (!linkable && !std::filesystem::exists(directory / kNvrtc, error)) continue;
    if (!linkable) *asked = std::string("-l:") + kNvrtc;
    words.insert(words.end(),
                 {"-L" + directory.string(), "-Xlinker", "-rpath=" + directory.string()});
    return words;
  }
  throw Error(
      fmt::format("-lnvrtc: NVRTC is not installed beside nvcc ({}): a full toolkit contains it, "
                  "as does the wheel nvidia-cuda-nvrtc of nvcc's version",
                  home.string()));
}

bool can_load_cuda_at_runtime(const std::filesystem::path& program) {
  const auto loads = [](const ElfFile& elf) {
    return std::find(elf.imports.begin(), elf.imports.end(), "dlopen") != elf.imports.end();
  };
  const std::string bytes = read_file(program).value_or("");
  if (bytes.rfind("#!", 0) == 0) return true;
  if (!is_elf(bytes)) return false;
  const ElfFile elf = read_elf(bytes, program.string());
  if (elf.find(".interp") == nullptr || elf.find(".nv_fatbin") != nullptr) return false;
  bool found = loads(elf);
  for (const LinkedSharedLibrary& library : shared_libraries_of_program(program, "")) {
    if (library.name.rfind("libcuda", 0) == 0) return false;
    if (found || library.path.empty() || library.name.rfind("libc.", 0) == 0) continue;
    const std::string own = read_file(library.path).value_or("");
    found = is_elf(own) && loads(read_elf(own, library.path));
  }
  return found;
}

bool is_cublas_library_file(const std::string& name) {
  return name.rfind("libcublas.so", 0) == 0 || name.rfind("libcublasLt.so", 0) == 0;
}

std::optional<std::string> library_refusal_reason(const std::string& name) {
  if (is_cublas_library_file(name) && name.find(".so.13") == std::string::npos)
    return fmt::format(
        "{}: the simulated runtime and its cuBLAS are those of CUDA 13: build it with "
        "CUDA 13, or give lab32 its source",
        name);
  const std::string stem = name.substr(name.rfind("lib", 0) == 0  ? 3
                                       : name.rfind("-l", 0) == 0 ? 2
                                                                  : 0);
  for (const RefusedLibrary& r : kRefused)
    if (stem.rfind(r.begins, 0) == 0) return fmt::format("{}: {}", name, refusal_sentence(r));
  return std::nullopt;
}

std::optional<std::string> library_refusal_in_messages(const std::string& messages) {
  for (const RefusedLibrary& r : kRefused)
    for (const std::string& missing : {std::string("fatal error: ") + r.header,
                                       std::string("undefined reference to `") + r.calls})
      if (messages.find(missing) != std::string::npos) return refusal_sentence(r);
  return std::nullopt;
}

}  // namespace lab32::profiler
