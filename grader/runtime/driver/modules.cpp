#include "runtime/driver/modules.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/elf.h"
#include "base/error.h"
#include "base/text.h"
#include "runtime/cudart/registry.h"
#include "simulator/ptx/link.h"
#include "toolchain/machine_code.h"
#include "toolchain/toolchain.h"

namespace lab32::driver {
namespace {

constexpr char kNoPtx[] =
    "the cubin has no PTX, and the simulator runs PTX, not machine code: load PTX, or a cubin "
    "compiled with -lineinfo, which contains its PTX";

// Returns "sm_90a" for a text with `.target sm_90a, debug`; empty if the text is not PTX.
std::string ptx_target(const std::string& ptx) {
  const size_t at = ptx.find(".target");
  const size_t name = at == std::string::npos ? at : ptx.find("sm_", at);
  if (name == std::string::npos) return {};
  return ptx.substr(name, ptx.find_first_of(", \t\r\n", name) - name);
}

unsigned architecture_number(const std::string& arch) {
  return static_cast<unsigned>(std::strtoul(arch.c_str() + arch.find('_') + 1, nullptr, 10));
}

// The architecture of a cubin, such as 90; 0 if the text is no cubin.
unsigned architecture_of(const std::string& cubin) {
  constexpr uint16_t kCuda = 190;
  Elf64_Ehdr header;
  std::memcpy(&header, cubin.data(), sizeof header);
  if (header.e_machine != kCuda) return 0;
  // CUDA 13 changed the format.
  return (header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 : header.e_flags) & 0xff;
}

cudart::DeviceCode device_code_of_cubin(const std::string& cubin, const std::string& arch) {
  const unsigned own = architecture_of(cubin), gpu = architecture_number(arch);
  if (own == 0) throw BadImage{CUDA_ERROR_INVALID_IMAGE, ""};
  // Machine code runs only on GPUs of the same generation that are not older.
  if (own > gpu || own / 10 != gpu / 10) throw BadImage{CUDA_ERROR_NO_BINARY_FOR_GPU, ""};
  cudart::DeviceCode code;
  code.ptx = ptx_in_cubin(cubin);
  if (code.ptx.empty()) throw Error(kNoPtx);
  code.cubin = cubin;
  code.places =
      source_places_of_ptx_lines(cudart::make_paths_relative(toolchain::disassemble(cubin)));
  return code;
}

cudart::DeviceCode device_code_of_fatbin(const void* image, const std::string& arch) {
  const cudart::FatbinEntries binary = cudart::read_fatbin(image);
  using Kind = cudart::FatbinEntry::Kind;
  bool has_ptx = false;
  const cudart::FatbinEntry* cubin = nullptr;
  for (const auto& entry : binary.entries) {
    has_ptx |= entry.kind == Kind::ptx && entry.arch <= architecture_number(arch);
    // Takes a cubin of the GPU's generation that is not newer than the GPU.
    if (entry.kind == Kind::cubin && entry.arch <= architecture_number(arch) &&
        entry.arch / 10 == architecture_number(arch) / 10)
      cubin = &entry;
  }
  if (has_ptx) {
    cudart::DeviceCode code = cudart::choose_device_code(binary, arch);
    return code.cubin.empty() ? assemble_ptx(code.ptx, arch) : code;
  }
  if (!cubin) throw BadImage{CUDA_ERROR_NO_BINARY_FOR_GPU, ""};
  return device_code_of_cubin(cudart::unpack_fatbin_entry(*cubin), arch);
}

}  // namespace

JitLogBuffers::JitLogBuffers(unsigned count, const CUjit_option* options, void** values) {
  for (unsigned i = 0; options && values && i < count; ++i) {
    const auto number = reinterpret_cast<uintptr_t>(values[i]);
    switch (options[i]) {
      case CU_JIT_INFO_LOG_BUFFER:
        info_ = values[i];
        break;
      case CU_JIT_ERROR_LOG_BUFFER:
        errors_ = values[i];
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_room_ = static_cast<unsigned>(number);
        info_size_ = &values[i];
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        errors_room_ = static_cast<unsigned>(number);
        errors_size_ = &values[i];
        break;
      default:
        break;
    }
  }
}

void JitLogBuffers::write_log(const std::string& text, void* buffer, size_t room, void** size) {
  const size_t bytes = buffer && room ? std::min(text.size(), room - 1) : 0;
  if (buffer && room) {
    std::memcpy(buffer, text.data(), bytes);
    static_cast<char*>(buffer)[bytes] = '\0';
  }
  if (size) *size = reinterpret_cast<void*>(bytes);
}

std::string ptx_in_cubin(const std::string& cubin) {
  const ElfFile elf = read_elf(cubin, "the cubin");
  const ElfSection* section = elf.find(".nv_debug_ptx_txt");
  if (!section) return {};
  // The section's text ends with zeros, which are dropped.
  std::string text(section->data);
  std::replace(text.begin(), text.end(), '\0', '\n');
  return ptx_target(text).empty() ? std::string() : text;
}

std::string copy_of_elf(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  const auto* begin = static_cast<const char*>(image);
  uint64_t end = std::max(header.e_shoff + uint64_t{header.e_shnum} * sizeof(Elf64_Shdr),
                          header.e_phoff + uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, begin + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS) end = std::max(end, section.sh_offset + section.sh_size);
  }
  return {begin, end};
}

cudart::DeviceCode assemble_ptx(const std::string& ptx, const std::string& arch,
                                toolchain::Linking linking) {
  const std::string target = ptx_target(ptx);
  if (target.empty()) throw BadImage{CUDA_ERROR_INVALID_IMAGE, ""};
  if (architecture_number(target) > architecture_number(arch))
    throw BadImage{CUDA_ERROR_INVALID_PTX, "ptxas fatal   : the PTX is for " + target +
                                               ", which is newer than this GPU (" + arch + ")"};
  cudart::DeviceCode code;
  code.ptx = ptx;
  try {
    toolchain::installed_toolchain();
  } catch (const Error&) {
    return code;
  }
  // Code for exactly one GPU (suffix "a") must be assembled for that GPU.
  const bool own = architecture_number(target) == architecture_number(arch);
  const toolchain::CubinOrErrors made =
      toolchain::assemble_user_ptx(ptx, own ? target : arch, linking);
  code.cubin = made.cubin;
  if (code.cubin.empty()) throw BadImage{CUDA_ERROR_INVALID_PTX, made.errors};
  return code;
}

cudart::DeviceCode read_image(const void* image, const std::string& arch) {
  if (std::memcmp(image, ELFMAG, SELFMAG) == 0)
    return device_code_of_cubin(copy_of_elf(image), arch);
  if (cudart::is_fatbin(image)) return device_code_of_fatbin(image, arch);
  return assemble_ptx(static_cast<const char*>(image), arch);
}

toolchain::Places source_places_of_ptx_lines(const std::string& listing) {
  static const RegularExpression note(
      "//## File \"([^\"]*)\", line ([0-9]+)( inlined at \"([^\"]*)\", line ([0-9]+))?");
  toolchain::Places places;
  std::pair<std::string, int> source;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("//## File") == std::string::npos) {
      if (line.rfind("\t.section\t.text.", 0) == 0) source = {};
      continue;
    }
    const auto found = note.search(line);
    if (!found) continue;
    const std::string& file = (*found)[1];
    if (file.rfind(".nv_debug_ptx_txt", 0) == 0) {
      if (source.second) places.emplace(std::stoi((*found)[2]), source);
    } else if (file.find("/include/") != std::string::npos && !(*found)[4].empty()) {
      source = {(*found)[4], std::stoi((*found)[5])};  // a header of the toolkit
    } else {
      source = {file, std::stoi((*found)[2])};
    }
  }
  return places;
}

namespace {

void add_link_ptx(CUlinkState_st& state, const std::string& ptx, const std::string& arch) {
  assemble_ptx(ptx, arch, toolchain::Linking::later);  // throws an error if the PTX is wrong
  state.texts.push_back(ptx);
}

}  // namespace

void add_link_input(CUlinkState_st& state, CUjitInputType type, const std::string& data,
                    const std::string& name, const std::string& arch) {
  switch (type) {
    case CU_JIT_INPUT_PTX:
      add_link_ptx(state, data.substr(0, data.find('\0')), arch);
      return;
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_FATBINARY:
      add_link_ptx(state, read_image(data.data(), arch).ptx, arch);
      return;
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
      throw Error("linking objects and libraries of device code is not simulated: " + name);
    case CU_JIT_INPUT_NVVM:
      throw Error("LTO code (NVVM IR) is not simulated; use PTX: " + name);
    default:
      throw BadImage{CUDA_ERROR_INVALID_VALUE, ""};
  }
}

void complete_link(CUlinkState_st& state, const std::string& arch) {
  cudart::DeviceCode code;
  try {
    code.ptx = state.texts.empty()       ? ".version 8.0\n.target " + arch + "\n.address_size 64\n"
               : state.texts.size() == 1 ? state.texts[0]
                                         : ptx::link_ptx(state.texts).text;
  } catch (const Error& e) {
    throw BadImage{CUDA_ERROR_UNKNOWN, e.what()};  // the error that a GPU's driver returns
  }
  try {
    code = assemble_ptx(code.ptx, arch);
  } catch (const BadImage& bad) {
    // Each text was assembled on its own before. ptxas now gets all of them as one text, in which a
    // declaration may come in the wrong order; this is not an error of the program.
    if (state.texts.size() < 2 || bad.log.find("nresolved extern") != std::string::npos)
      throw BadImage{CUDA_ERROR_UNKNOWN, bad.log};
  }
  const auto number = std::strtoul(arch.c_str() + arch.find('_') + 1, nullptr, 10);
  state.image = cudart::write_fatbin(code.ptx, code.cubin, static_cast<uint32_t>(number));
}

// ---------------------------------------------------------------------------------------------
// Loaded modules.

Modules& modules() {
  static auto* all = new Modules;
  return *all;
}

cudart::DeviceBinary* Modules::load_binary(Runtime& r, const void* image, std::string name) {
  ++serial_;
  cudart::DeviceCode code = read_image(image, r.gpu().device->arch());
  code.name = name.empty() ? fmt::format("<PTX {}>", serial_) : std::move(name);
  cudart::DeviceBinary* binary = r.registry.add_module(std::move(code));
  cudart::warn_of_unsupported_kernels(*binary);
  return binary;
}

CUmodule Modules::load(Runtime& r, const void* image, const std::string& name) {
  auto made = std::make_unique<CUmod_st>();
  made->binary = load_binary(r, image, name);
  made->context = cudart::Contexts::current();
  CUmodule module = made.get();
  modules_[module] = std::move(made);
  return module;
}

CUlibrary Modules::load_library(Runtime& r, const void* image, const std::string& name) {
  auto made = std::make_unique<CUlib_st>();
  made->module.binary = load_binary(r, image, name);
  made->module.library = made.get();
  CUlibrary library = made.get();
  libraries_[library] = std::move(made);
  return library;
}

void Modules::unload(Runtime& r, CUmodule module) {
  r.registry.remove_binary(module->binary);
  modules_.erase(module);
}

void Modules::unload(Runtime& r, CUlibrary library) {
  r.registry.remove_binary(library->module.binary);
  libraries_.erase(library);
}

void Modules::unload_all(Runtime& r, CUcontext context) {
  std::vector<CUmodule> destroyed;
  for (const auto& [module, own] : modules_)
    if (own->context == context) destroyed.push_back(module);
  for (CUmodule module : destroyed) unload(r, module);
}

CUmodule Modules::module_of(const KernelEntry& kernel) const {
  for (const auto& [module, own] : modules_)
    if (own->binary == kernel.binary) return module;
  for (const auto& [library, own] : libraries_)
    if (own->module.binary == kernel.binary) return &own->module;
  return nullptr;
}

KernelEntry* find_kernel(Runtime& r, const CUmod_st& module, const char* name) {
  return r.registry.find_kernel(*module.binary, name);
}

}  // namespace lab32::driver
