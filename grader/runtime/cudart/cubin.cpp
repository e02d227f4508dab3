#include "runtime/cudart/cubin.h"

#include <cstring>

#include "base/elf.h"
#include "base/error.h"

namespace lab32::cudart {
namespace {

// .nv.info is a list of attributes: format, attribute, then a 16-bit value or the length of what
// follows. cuobjdump -elf names them EIATTR_REGCOUNT and EIATTR_FRAME_SIZE: (symbol, value) each.
constexpr uint8_t kFormatSized = 4;
constexpr uint8_t kRegisters = 0x2f, kFrameSize = 0x11;

uint32_t word(std::string_view data, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, data.data() + at, sizeof value);
  return value;
}

}  // namespace

CubinInfo read_cubin(const std::string& cubin) {
  const ElfFile elf = read_elf(cubin, "the program's cubin");
  CubinInfo info;
  if (const ElfSection* constants = elf.find(".nv.constant3"))
    info.constant_bytes = static_cast<uint32_t>(constants->size);
  const ElfSection* attributes = elf.find(".nv.info");
  const std::string_view data = attributes ? attributes->data : std::string_view();
  for (size_t at = 0; at + 4 <= data.size();) {
    const auto format = static_cast<uint8_t>(data[at]), name = static_cast<uint8_t>(data[at + 1]);
    const size_t bytes = format == kFormatSized ? word(data, at) >> 16 : 0;
    at += 4;
    if (bytes > data.size() - at)
      throw Error("the program's cubin is damaged: .nv.info is cut off");
    if (bytes == 8 && (name == kRegisters || name == kFrameSize)) {
      const uint32_t symbol = word(data, at), value = word(data, at + 4);
      if (symbol < elf.functions.size() && !elf.functions[symbol].empty()) {
        Resources& r = info.kernels[elf.functions[symbol]];
        (name == kRegisters ? r.registers : r.local_bytes) = value;
      }
    }
    at += bytes;
  }
  return info;
}

}  // namespace lab32::cudart
