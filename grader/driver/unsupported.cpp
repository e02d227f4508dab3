// What a program needs and does not get here, read from its file: nothing of it runs.
// `lab32 run --list-unsupported` opens this library and asks.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/elf.h"
#include "base/error.h"
#include "base/pattern.h"
#include "base/read_file.h"
#include "cublas/symbols.h"
#include "cudart/fatbin.h"
#include "cudart/refusals.h"
#include "device/sim_device.h"
#include "driver/symbols.h"
#include "simulator/core/memory/memory.h"
#include "simulator/model/profile.h"
#include "toolchain/artifact.h"

namespace lab32::driver {
namespace {

using cudart::FatBinary;
using cudart::FatEntry;

using Tell = void (*)(void* context, const char* name, const char* text);

bool has_code(const FatEntry& cubin) {
  const std::string bytes = cudart::unpack(cubin);
  const ElfFile elf = read_elf(bytes, "a cubin");
  return std::any_of(elf.functions.begin(), elf.functions.end(),
                     [](const std::string& name) { return !name.empty(); });
}

// The device code of one file: that of each compilation, and what was linked as one.
std::vector<FatBinary> binaries_of(const ElfFile& elf) {
  std::vector<FatBinary> binaries;
  const auto blocks_in = [&](const char* name) {
    const ElfSection* section = elf.find(name);
    return section ? cudart::read_blocks(section->data) : std::vector<std::vector<FatEntry>>{};
  };
  FatBinary linked;
  linked.parts = blocks_in("__nv_relfatbin");
  for (std::vector<FatEntry>& entries : blocks_in(".nv_fatbin")) {
    // Linking leaves cubins for what lies in the other section, even if nothing does.
    const bool left = std::all_of(entries.begin(), entries.end(), [&](const FatEntry& e) {
      return e.kind == FatEntry::Kind::cubin && (!linked.parts.empty() || !has_code(e));
    });
    if (!left) binaries.push_back({std::move(entries), {}});
  }
  if (!linked.parts.empty()) binaries.push_back(std::move(linked));
  return binaries;
}

class Lister {
 public:
  explicit Lister(const std::string& profile)
      : profile_(model::read_profile(profile)),
        memory_(uint64_t{16} << 30),
        device_(device::make_sim_device(profile_, memory_)) {}

  void look_at(const std::string& path) {
    const std::string bytes = read_file(path).value_or("");
    const ElfFile elf = read_elf(bytes, path);
    const auto refused = cudart::refused_names();
    for (const std::string& name : elf.imports) {
      if (std::binary_search(refused.begin(), refused.end(), name))
        calls_[name] = cudart::refusal_of(name);
      // cuMemMap_v2 is cuMemMap in the source.
      if (const auto called = refused_symbol(name)) calls_[*called] = refusal_of(*called);
      if (const auto called = cublas::refused_symbol(name))
        calls_[*called] = cublas::refusal_of(*called);
    }
    for (const FatBinary& binary : binaries_of(elf)) look_at(binary);
  }

  void tell(Tell tell, void* context) const {
    for (const auto& [name, text] : calls_) tell(context, name.c_str(), text.c_str());
    for (const auto& [text, kernels] : code_) {
      const std::string others =
          kernels.size() > 1 ? fmt::format(" and {} more", kernels.size() - 1) : "";
      const std::string where =
          kernels[0].empty() ? text : fmt::format("{} (kernel {}{})", text, kernels[0], others);
      tell(context, "", where.c_str());
    }
  }

 private:
  void look_at(const FatBinary& binary) {
    try {
      toolchain::Artifact artifact;
      artifact.arch = device_->arch();
      artifact.ptx = cudart::choose(binary, device_->arch()).ptx;
      const auto module = device_->load(artifact);
      for (const std::string& kernel : module->kernel_names()) look_at(*module, kernel);
    } catch (const Error& e) {
      note(e, "");
    }
  }

  void look_at(device::LoadedModule& module, const std::string& kernel) {
    try {
      module.find(kernel);
    } catch (const Error& e) {
      note(e, kernel);
    }
  }

  // Without the PTX quoted; by the line of the source where it is known, which templates share.
  void note(const Error& e, const std::string& kernel) {
    static const Pattern in_ptx("^PTX line [0-9]+: (.*) \\(source: (.*)\\)$");
    const std::string all = e.what();
    const std::string text = all.substr(0, all.find('\n'));
    const auto found = in_ptx.match(text);
    code_[found ? (*found)[2] + ": " + (*found)[1] : text].push_back(kernel);
  }

  model::Profile profile_;
  sim::Memory memory_;
  std::unique_ptr<device::Device> device_;
  std::map<std::string, std::string> calls_;              // name -> refusal
  std::map<std::string, std::vector<std::string>> code_;  // refusal -> kernels
};

}  // namespace
}  // namespace lab32::driver

// `files`: a program and its libraries, the list ended by a null; `profile`: "h200". Tells of each
// function of the runtime and the driver that is refused (`name`) and of each refusal of device
// code; what only arguments decide, nobody can tell before the program runs. 0; or 1, having told
// why a file cannot be read.
extern "C" __attribute__((visibility("default"))) int lab32_list_unsupported(
    const char* const* files, const char* profile, lab32::driver::Tell tell, void* context) {
  try {
    lab32::driver::Lister lister(profile);
    for (; *files; ++files) lister.look_at(*files);
    lister.tell(tell, context);
    return 0;
  } catch (const std::exception& e) {
    tell(context, "", e.what());
    return 1;
  }
}
