// Fuzzes a program's device code: the container that nvcc writes, and a cubin.
#include <cstring>

#include "base/error.h"
#include "runtime/cudart/device_code.h"
#include "tools/fuzz/reader.h"

namespace {

using namespace lab32;

// Read as by __cudaRegisterFatBinary. The program's loader guarantees the length.
void read_container(std::string bytes) {
  constexpr size_t kHeader = 16, kLength = 8;
  if (bytes.size() < kHeader) return;
  uint16_t header = 0;
  std::memcpy(&header, &bytes[6], sizeof header);
  if (header > bytes.size()) return;
  const uint64_t rest = bytes.size() - header;
  std::memcpy(&bytes[kLength], &rest, sizeof rest);
  struct {
    uint32_t magic = 0x466243b1, version = 1;
    const void* block;
    const void* more = nullptr;
  } wrapper;
  wrapper.block = bytes.data();
  cudart::choose(cudart::read_fatbin(&wrapper), "sm_90");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes = fuzz::text_of(data, size);
  for (const auto& read : {+[](const std::string& b) { read_container(b); },
                           +[](const std::string& b) { cudart::read_cubin(b); }}) {
    try {
      read(bytes);
    } catch (const Error&) {
    }
  }
  return 0;
}
