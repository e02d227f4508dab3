// The device code that nvcc puts into a program: one PTX text or cubin for each architecture.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lab32::cudart {

struct FatEntry {
  enum class Kind : uint8_t { ptx, cubin };
  Kind kind = Kind::ptx;
  uint32_t arch = 0;  // 90
  enum class Packing : uint8_t { none, lz4, zstd } packing = Packing::none;
  uint64_t plain_bytes = 0;  // when packed
  std::string_view bytes;    // as they lie in the program
};

// `wrapper` is what __cudaRegisterFatBinary is given (fatBinaryCtl.h's __fatBinC_Wrapper_t). Throws
// Error when it is of a form that is not known.
std::vector<FatEntry> read_fatbin(const void* wrapper);

struct DeviceCode {
  std::string ptx;
  std::string cubin;  // empty: none for this architecture
};

// What a GPU of `arch` ("sm_90") would run: the newest PTX that it can translate, and the cubin
// made for it, unpacked. Throws Error when there is no PTX.
DeviceCode choose(const std::vector<FatEntry>& entries, const std::string& arch);

}  // namespace lab32::cudart
