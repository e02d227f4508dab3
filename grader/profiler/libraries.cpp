#include "profiler/libraries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/elf.h"
#include "base/error.h"
#include "base/process.h"
#include "base/read_file.h"
#include "toolchain/toolchain.h"

namespace lab32::profiler {
namespace {

constexpr char kMachineCode[] = "is machine code for GPUs, which the simulator does not run";
constexpr char kCard[] =
    "talks to a GPU's driver itself, past the driver's API, which is what is simulated";

struct Refused {
  const char *begins, *called, *why;
};
// The longer ones first where one name begins another.
constexpr Refused kRefused[] = {
    {"cublasLt", "cuBLASLt", kMachineCode},
    {"cublas", "cuBLAS", kMachineCode},
    {"cufft", "cuFFT", kMachineCode},
    {"curand", "cuRAND's host API", kMachineCode},
    {"cusparse", "cuSPARSE", kMachineCode},
    {"cusolver", "cuSOLVER", kMachineCode},
    {"cudnn", "cuDNN", kMachineCode},
    {"cutensor", "cuTENSOR", kMachineCode},
    {"npp", "NPP", kMachineCode},
    {"nvjpeg", "nvJPEG", kMachineCode},
    {"nccl", "NCCL", kMachineCode},
    {"nvidia-ml", "NVML", kCard},
    {"cupti", "CUPTI", kCard},
};

}  // namespace

std::vector<Library> loaded_libraries(const std::filesystem::path& program) {
  Command command;
  command.argv = {std::filesystem::absolute(program).string()};
  command.environment = {"LD_TRACE_LOADED_OBJECTS=1"};
  if (const char* libraries = std::getenv("LD_LIBRARY_PATH"))
    command.environment.push_back(std::string("LD_LIBRARY_PATH=") + libraries);
  command.limits.wall_seconds = 60;
  // libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f…)      or      libx.so => not found
  std::istringstream listing(run_process(command).out);
  std::vector<Library> libraries;
  for (std::string line; std::getline(listing, line);) {
    std::istringstream words(line);
    std::string name, arrow, path;
    if (!(words >> name)) continue;
    words >> arrow >> path;
    libraries.push_back({name, arrow == "=>" && path != "not" ? path : ""});
    // The loader itself, and the kernel's page of code.
    if (arrow != "=>") libraries.back().path = name;
  }
  return libraries;
}

bool is_users(const std::string& path) {
  for (const char* system : {"/lib/", "/lib64/", "/usr/lib/", "linux-vdso"})
    if (path.rfind(system, 0) == 0) return false;
  return true;
}

bool is_linked_with(const std::filesystem::path& program, const std::string& library) {
  const std::string bytes = read_file(program).value_or("");
  if (!is_elf(bytes)) return false;
  const ElfFile elf = read_elf(bytes, program.string());
  return std::any_of(elf.needed.begin(), elf.needed.end(),
                     [&](const std::string& name) { return name.rfind(library, 0) == 0; });
}

std::vector<std::string> with_nvrtc(std::vector<std::string> words) {
  const auto asked = std::find(words.begin(), words.end(), "-lnvrtc");
  if (asked == words.end()) return words;
  const std::filesystem::path home = toolchain::installed().cuda_home;
  for (const char* name : {"lib64", "lib", "targets/x86_64-linux/lib"}) {
    const std::filesystem::path directory = home / name;
    std::error_code error;
    const bool linkable = std::filesystem::exists(directory / "libnvrtc.so", error);
    if (!linkable && !std::filesystem::exists(directory / kNvrtc, error)) continue;
    if (!linkable) *asked = std::string("-l:") + kNvrtc;
    words.insert(words.end(),
                 {"-L" + directory.string(), "-Xlinker", "-rpath=" + directory.string()});
    return words;
  }
  throw Error(fmt::format(
      "-lnvrtc: there is no NVRTC beside nvcc ({}): a toolkit has it, and so has the wheel "
      "nvidia-cuda-nvrtc of nvcc's version, which pip installs without a GPU",
      home.string()));
}

bool is_host(const std::filesystem::path& program) {
  const auto loads = [](const ElfFile& elf) {
    return std::find(elf.imports.begin(), elf.imports.end(), "dlopen") != elf.imports.end();
  };
  const std::string bytes = read_file(program).value_or("");
  if (bytes.rfind("#!", 0) == 0) return true;
  if (!is_elf(bytes)) return false;
  const ElfFile elf = read_elf(bytes, program.string());
  if (elf.find(".interp") == nullptr || elf.find(".nv_fatbin") != nullptr) return false;
  bool found = loads(elf);
  for (const Library& library : loaded_libraries(program)) {
    if (library.name.rfind("libcuda", 0) == 0) return false;
    if (found || library.path.empty() || library.name.rfind("libc.", 0) == 0) continue;
    const std::string own = read_file(library.path).value_or("");
    found = is_elf(own) && loads(read_elf(own, library.path));
  }
  return found;
}

std::optional<std::string> refused_library(const std::string& name) {
  const std::string stem = name.substr(name.rfind("lib", 0) == 0  ? 3
                                       : name.rfind("-l", 0) == 0 ? 2
                                                                  : 0);
  for (const Refused& r : kRefused)
    if (stem.rfind(r.begins, 0) == 0) return fmt::format("{}: {} {}", name, r.called, r.why);
  return std::nullopt;
}

}  // namespace lab32::profiler
