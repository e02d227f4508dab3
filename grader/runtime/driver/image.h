// What programs load modules from: PTX, a fat binary, a cubin.
#pragma once

#include <string>
#include <vector>

#include "runtime/cudart/device_code.h"
#include "runtime/driver/call.h"
#include "toolchain/artifact.h"
#include "toolchain/machine_code.h"

namespace lab32::driver {

// Of cuModuleLoadDataEx and of cuLinkCreate; what is not here changes nothing.
struct JitOptions {
  JitOptions(unsigned count, const CUjit_option* options, void** values);
  // Into the program's buffers, cut off where they end.
  void put_info(const std::string& text) { put(text, info_, info_room_, info_size_); }
  void put_errors(const std::string& text) { put(text, errors_, errors_room_, errors_size_); }

 private:
  static void put(const std::string& text, void* buffer, size_t room, void** size);
  void *info_ = nullptr, *errors_ = nullptr;
  size_t info_room_ = 0, errors_room_ = 0;
  void **info_size_ = nullptr, **errors_size_ = nullptr;  // the values where sizes are given back
};

// An image that no driver would load. `log`: what its compiler says.
struct BadImage {
  CUresult error;
  std::string log;
};

// What runs on a GPU of `arch`. Throws BadImage, and Error for what only the simulator does not
// run: a cubin that does not hold its PTX.
cudart::DeviceCode read_image(const void* image, const std::string& arch);
// PTX with the machine code that ptxas makes of it, if there is a ptxas.
cudart::DeviceCode assembled(const std::string& ptx, const std::string& arch,
                             toolchain::Linking linking = toolchain::Linking::none);

// The PTX that a cubin holds when it was made with -lineinfo or -G; empty: it does not.
std::string ptx_in_cubin(const std::string& cubin);

// The bytes of the ELF file at `image`.
std::string elf_at(const void* image);

// Which source lines the PTX in a cubin comes from.

// From the cubin's listing (nvdisasm -gi -gp), which says both lines of each instruction. Empty
// where there is no nvdisasm. The PTX itself, as it lies in the cubin, has no line information.
toolchain::Places places_in(const std::string& listing);

}  // namespace lab32::driver

// cuLink*: several pieces of PTX made one, with its machine code.

struct CUlinkState_st {
  lab32::driver::JitOptions options;
  std::vector<std::string> texts;  // of PTX, in the order in which they were added
  std::string image;               // once complete: a fat binary, which modules are loaded from
};

namespace lab32::driver {

// Throws BadImage and Error as read_image() does, and Error for what is no PTX and holds none.
void add(CUlinkState_st& state, CUjitInputType type, const std::string& data,
         const std::string& name, const std::string& arch);
void complete(CUlinkState_st& state, const std::string& arch);

}  // namespace lab32::driver
