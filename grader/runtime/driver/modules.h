// Modules and libraries that the program loads, and the handles for them; the images from which
// programs load them (PTX, fat binaries, cubins); and linking of PTX as the driver's cuLink
// functions do it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cudart/device_code.h"
#include "runtime/cudart/runtime.h"
#include "runtime/driver/call.h"
#include "toolchain/artifact.h"
#include "toolchain/machine_code.h"

namespace lab32::driver {

// The options of cuModuleLoadDataEx and cuLinkCreate that have an effect here.
struct JitLogBuffers {
  JitLogBuffers(unsigned count, const CUjit_option* options, void** values);
  // Writes to the program's buffer; text beyond its end is lost.
  void put_info(const std::string& text) { write_log(text, info_, info_room_, info_size_); }
  void put_errors(const std::string& text) { write_log(text, errors_, errors_room_, errors_size_); }

 private:
  static void write_log(const std::string& text, void* buffer, size_t room, void** size);
  void *info_ = nullptr, *errors_ = nullptr;
  size_t info_room_ = 0, errors_room_ = 0;
  // The variables in which the program expects the sizes of the logs.
  void **info_size_ = nullptr, **errors_size_ = nullptr;
};

// An image that no driver would load. `log` has the compiler's messages.
struct BadImage {
  CUresult error;
  std::string log;
};

// The code that a GPU of `arch` would run. Throws BadImage, and Error for a cubin without its PTX,
// which only the simulator cannot run.
cudart::DeviceCode read_image(const void* image, const std::string& arch);
// Assembles PTX. The machine code is absent if ptxas is not installed.
cudart::DeviceCode assemble_ptx(const std::string& ptx, const std::string& arch,
                                toolchain::Linking linking = toolchain::Linking::none);

// Returns the PTX that a cubin contains if it was made with -lineinfo or -G; otherwise "".
std::string ptx_in_cubin(const std::string& cubin);

// A copy of the ELF file that begins at `image`, whose headers give its length.
std::string copy_of_elf(const void* image);

// Maps lines of the PTX in a cubin to source lines.
//
// Uses the cubin's disassembly (nvdisasm -gi -gp), which has both lines for each instruction,
// because the PTX in a cubin has no line information. Empty if nvdisasm is not installed.
toolchain::Places source_places_of_ptx_lines(const std::string& listing);

}  // namespace lab32::driver

// The state of a linker (cuLink*), which links several pieces of PTX and generates machine code.

struct CUlinkState_st {
  lab32::driver::JitLogBuffers options;
  std::vector<std::string> texts;  // PTX, in the order of addition
  // The linked fat binary, from which modules are loaded; empty before cuLinkComplete().
  std::string image;
};

namespace lab32::driver {

// Throws BadImage and Error as read_image() does, and Error for data that is not PTX and contains
// none.
void add_link_input(CUlinkState_st& state, CUjitInputType type, const std::string& data,
                    const std::string& name, const std::string& arch);
void complete_link(CUlinkState_st& state, const std::string& arch);

}  // namespace lab32::driver

// ---------------------------------------------------------------------------------------------
// Loaded modules.

struct CUmod_st {
  lab32::cudart::DeviceBinary* binary = nullptr;
  // the context with which it is destroyed; null: it is a library's, which remains
  CUcontext context = nullptr;
  CUlib_st* library = nullptr;
};

struct CUlib_st {
  CUmod_st module;
};

namespace lab32::driver {

using cudart::KernelEntry;
using cudart::Runtime;

class Modules {
 public:
  // Loads an image. `name` is the file that it was read from, or empty. Throws BadImage and Error
  // as read_image() does, and Error if the simulator cannot load it.
  CUmodule load(Runtime& runtime, const void* image, const std::string& name = "");
  CUlibrary load_library(Runtime& runtime, const void* image, const std::string& name = "");
  void unload(Runtime& runtime, CUmodule module);
  void unload(Runtime& runtime, CUlibrary library);
  // Unloads the modules that were loaded in the context.
  void unload_all(Runtime& runtime, CUcontext context);

  bool knows(CUmodule module) const { return modules_.count(module) != 0; }
  bool knows(CUlibrary library) const { return libraries_.count(library) != 0; }
  // The module of a kernel; nullptr if it belongs to the modules that came with the program, which
  // the runtime loads.
  CUmodule module_of(const KernelEntry& kernel) const;

 private:
  cudart::DeviceBinary* load_binary(Runtime& runtime, const void* image, std::string name);

  int serial_ = 0;
  std::map<CUmodule, std::unique_ptr<CUmod_st>> modules_;
  std::map<CUlibrary, std::unique_ptr<CUlib_st>> libraries_;
};

Modules& modules();

// A module's kernel by name; nullptr: none.
KernelEntry* find_kernel(Runtime& runtime, const CUmod_st& module, const char* name);

inline CUfunction function_of(KernelEntry* entry) { return reinterpret_cast<CUfunction>(entry); }

}  // namespace lab32::driver
