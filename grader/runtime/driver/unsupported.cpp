// Lists the unsupported features that a program needs, from the program's file, without running it.
// `lab32 run --list-unsupported` loads this library and calls it. Unsupported functions are also
// reported when a program starts.

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/elf.h"
#include "base/error.h"
#include "base/files.h"
#include "device/names.h"
#include "device/sim_device.h"
#include "runtime/cublas/handle.h"
#include "runtime/cudart/device_code.h"
#include "runtime/cudart/errors.h"
#include "runtime/cudart/registry.h"
#include "runtime/driver/call.h"
#include "simulator/core/memory/memory.h"
#include "simulator/timing/profile.h"
#include "toolchain/artifact.h"

namespace lab32::driver {
namespace {

using cudart::FatbinEntries;
using cudart::FatbinEntry;

using Tell = void (*)(void* context, const char* name, const char* text);

bool has_functions(const FatbinEntry& cubin) {
  const std::string bytes = cudart::unpack_fatbin_entry(cubin);
  const ElfFile elf = read_elf(bytes, "a cubin");
  return std::any_of(elf.functions.begin(), elf.functions.end(),
                     [](const std::string& name) { return !name.empty(); });
}

// The fat binaries of a file: one for each compilation, and one for the linked code.
std::vector<FatbinEntries> fat_binaries_of(const ElfFile& elf) {
  std::vector<FatbinEntries> binaries;
  const auto blocks_in = [&](const char* name) {
    const ElfSection* section = elf.find(name);
    return section ? cudart::read_fatbin_blocks(section->data)
                   : std::vector<std::vector<FatbinEntry>>{};
  };
  FatbinEntries linked;
  linked.parts = blocks_in("__nv_relfatbin");
  for (std::vector<FatbinEntry>& entries : blocks_in(".nv_fatbin")) {
    // Linking leaves cubins for the code of the other section, even if there is none.
    const bool left = std::all_of(entries.begin(), entries.end(), [&](const FatbinEntry& e) {
      return e.kind == FatbinEntry::Kind::cubin && (!linked.parts.empty() || !has_functions(e));
    });
    if (!left) binaries.push_back({std::move(entries), {}});
  }
  if (!linked.parts.empty()) binaries.push_back(std::move(linked));
  return binaries;
}

// The refused functions of the runtime, the driver and cuBLAS among these symbols: name -> message.
std::map<std::string, std::string> refused_calls(const std::vector<std::string>& imports) {
  std::map<std::string, std::string> calls;
  const auto refused = cudart::refused_runtime_functions();
  for (const std::string& symbol : imports) {
    if (symbol.rfind("cu", 0) != 0) continue;
    if (std::binary_search(refused.begin(), refused.end(), symbol))
      calls[symbol] = cudart::refusal_message(symbol);
    // The program's source calls cuMemMap_v2 by the name cuMemMap.
    if (const auto called = api_name_if_refused(symbol)) calls[*called] = refusal_message(*called);
    if (const auto called = cublas::cublas_api_name_if_refused(symbol))
      calls[*called] = cublas::refusal_message(*called);
  }
  return calls;
}

class UnsupportedCallAndCodeFinder {
 public:
  explicit UnsupportedCallAndCodeFinder(const std::string& profile)
      : profile_(model::read_device_profile(profile)),
        memory_(uint64_t{16} << 30),
        device_(device::make_sim_device(profile_, memory_)) {}

  void examine(const std::string& compiled_program_path) {
    const std::string bytes = read_file(compiled_program_path).value_or("");
    const ElfFile elf = read_elf(bytes, compiled_program_path);
    calls_.merge(refused_calls(elf.imports));
    for (const FatbinEntries& binary : fat_binaries_of(elf)) examine(binary);
  }

  void report(Tell report, void* context) const {
    for (const auto& [name, text] : calls_) report(context, name.c_str(), text.c_str());
    for (const std::string& line : code_.lines()) report(context, "", line.c_str());
  }

 private:
  void examine(const FatbinEntries& binary) {
    try {
      toolchain::CompiledArtifact artifact;
      artifact.arch = device_->arch();
      artifact.ptx = cudart::choose_device_code(binary, device_->arch()).ptx;
      const auto module = device_->load(artifact);
      // Loads kernels by symbol, because resolving demangled names takes longer than everything
      // else here.
      for (const std::string& symbol : module->kernel_symbols()) examine(*module, symbol);
    } catch (const Error& e) {
      code_.add(e.what(), "");
    }
  }

  void examine(device::LoadedModule& module, const std::string& symbol) {
    try {
      module.find(symbol);
    } catch (const Error& e) {
      code_.add(e.what(), device::kernel_name(symbol));
    }
  }

  model::DeviceProfile profile_;
  sim::Memory memory_;
  std::unique_ptr<device::Device> device_;
  std::map<std::string, std::string> calls_;  // name -> message
  cudart::UnsupportedInstructions code_;
};

// The imports of a program and of the libraries that it is linked with, directly or indirectly. The
// system's libraries and lab32's own (those in this library's folder) are skipped. Other libraries
// that are loaded at that time, such as extensions of an interpreter, may never be used.
class ProgramImports {
 public:
  ProgramImports() {
    Dl_info ours{};
    if (dladdr(reinterpret_cast<void*>(&refused_calls), &ours) && ours.dli_fname)
      our_folder_ = std::filesystem::path(ours.dli_fname).parent_path();
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* loaded) {
          const std::filesystem::path path = info->dlpi_name;
          (*static_cast<decltype(loaded_)*>(loaded))[path.filename()] = path;
          return 0;
        },
        &loaded_);
    add_imports_of_file_and_libraries("/proc/self/exe");
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  void add_imports_of_file_and_libraries(const std::filesystem::path& path) {
    const std::string bytes = read_file(path).value_or("");
    ElfFile elf;
    try {
      elf = read_elf(bytes, "the program");
    } catch (const Error&) {
      return;  // a call reports it instead
    }
    names_.insert(names_.end(), elf.imports.begin(), elf.imports.end());
    for (const std::string& needed : elf.needed) {
      // A library without a name of its own is listed under the path that the linker was given.
      const auto at = loaded_.find(std::filesystem::path(needed).filename());
      if (at == loaded_.end()) continue;
      const std::filesystem::path library = at->second;
      loaded_.erase(at);  // visit each library once
      if (is_users_library(library.native()) && library.parent_path() != our_folder_)
        add_imports_of_file_and_libraries(library);
    }
  }

  std::filesystem::path our_folder_;
  std::map<std::string, std::filesystem::path> loaded_;  // by file name
  std::vector<std::string> names_;
};

// Runs when the library is loaded, so unsupported functions that the program imports are reported
// before it starts.
__attribute__((constructor)) void warn_at_start() {
  std::vector<std::string> refusals;
  for (const auto& [name, text] : refused_calls(ProgramImports().names())) refusals.push_back(text);
  cudart::warn_of_unsupported_calls(refusals);
}

}  // namespace
}  // namespace lab32::driver

// `files` is a list of a program and its libraries, ended by a null; `profile` is a name such as
// "h200". Reports each refused function of the runtime and the driver (`name`), and each
// unsupported instruction of device code. Features that depend on arguments are not known before
// the program runs. Returns 0, or 1 after reporting why a file cannot be read.
extern "C" __attribute__((visibility("default"))) int lab32_list_unsupported(
    const char* const* files, const char* profile, lab32::driver::Tell report, void* context) {
  try {
    lab32::driver::UnsupportedCallAndCodeFinder lister(profile);
    for (; *files; ++files) lister.examine(*files);
    lister.report(report, context);
    return 0;
  } catch (const std::exception& e) {
    report(context, "", e.what());
    return 1;
  }
}
