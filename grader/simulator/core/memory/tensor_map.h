// A tensor map (CUtensorMap): how a tensor lies in device memory, and the box of it that one copy
// moves. Programs hold it as 128 opaque bytes; what a driver writes there is not documented, so
// these are our own.
#pragma once

#include <array>
#include <cstdint>

#include "simulator/ptx/opcodes.h"

namespace lab32::sim {

struct TensorMap {
  static constexpr uint64_t kMagic = 0x6c61'6233'326d'6170;  // "lab32map"
  static constexpr uint64_t kBytes = 128, kAlign = 64;
  static constexpr size_t kMostDimensions = 5;

  uint64_t magic = kMagic;
  uint64_t address = 0;
  std::array<uint64_t, kMostDimensions> size{};  // elements
  std::array<uint64_t, kMostDimensions - 1>
      stride{};  // bytes from one to the next of dimension i + 1
  std::array<uint16_t, kMostDimensions> box{};
  std::array<uint8_t, kMostDimensions> step{};
  uint8_t dimensions = 0;
  uint8_t element_bytes = 0;
  ptx::Type type = ptx::Type::none;  // of an element: what reductions go by
  uint8_t swizzle = 0;  // 0; 1, 2, 3: rows of 32, 64, 128 bytes, whose 16-byte pieces change places

  // Elements of the box along a dimension. The engine takes each of the first one, whatever the
  // step there.
  uint32_t along(size_t i) const { return i == 0 ? box[0] : (box[i] + step[i] - 1u) / step[i]; }
  bool has_steps() const {
    bool any = false;
    for (size_t i = 0; i < dimensions; ++i) any |= step[i] != 1;
    return any;
  }
  uint32_t row_bytes() const { return uint32_t{box[0]} * element_bytes; }
  // From a row of the box to the next in shared memory.
  uint32_t pitch() const { return swizzle == 0 ? row_bytes() : 16u << swizzle; }
  uint32_t rows() const {
    uint32_t n = 1;
    for (size_t i = 1; i < dimensions; ++i) n *= along(i);
    return n;
  }
};
static_assert(sizeof(TensorMap) <= TensorMap::kBytes);

// Where what belongs at an address of shared memory is: bits 4 to 6 are changed by 7 to 9, as many
// of them as the mode has.
constexpr uint64_t swizzled(uint64_t address, uint32_t swizzle) {
  return address ^ (address >> 7 & ((1u << swizzle) - 1)) << 4;
}

}  // namespace lab32::sim
