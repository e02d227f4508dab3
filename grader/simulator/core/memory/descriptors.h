// Descriptors of device memory that programs hold: texture and surface objects (an array of texels
// and the way to sample it) and tensor maps (a tensor and the box that one copy moves).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulator/ptx/opcodes.h"

namespace lab32::sim {
// The memory of a texture or surface object, seen as an array of texels. Arrays are stored row
// after row and slice after slice, as in host memory. (A GPU uses its own order, which no program
// can observe.)

struct TexelFormat {
  enum class Kind : uint8_t { signed_integer, unsigned_integer, floating };
  Kind kind = Kind::floating;
  uint8_t bits = 32;     // bits of a channel: 8, 16, 32
  uint8_t channels = 1;  // 1, 2, 4

  unsigned bytes() const { return bits / 8u * channels; }
};

// One level of a mipmap. An array without mipmaps has one level.
struct MipmapLevel {
  uint64_t begin = 0;                          // device address
  uint32_t width = 1, height = 1, slices = 1;  // slices: planes in depth, layers, faces
  uint64_t pitch = 0, slice_bytes = 0;
};

struct TexelArray {
  TexelFormat format;
  uint8_t dimensions = 1;  // dimensions of a layer or face
  bool layered = false;    // slices are layers
  bool cube = false;       // six slices are the faces of a cube (of each layer)
  bool linear = false;     // linear memory, read by index
  // True: the texels are in row order, in memory that the program can access directly. False: their
  // order is a GPU's own.
  bool in_rows = false;
  std::vector<MipmapLevel> levels;
};

enum class AddressMode : uint8_t { wrap, clamp, mirror, border };

struct TextureSamplingSettings {
  std::array<AddressMode, 3> address{};
  bool linear = false;               // filter
  bool linear_mipmap = false;        // filter between levels
  bool normalized = false;           // coordinates
  bool reads_normalized = false;     // integers become 0 … 1 or -1 … 1
  bool srgb = false;                 // 8-bit colours become linear
  bool seamless = false;             // cube: filters across edges
  uint8_t anisotropy = 0;            // highest number of samples; 0 and 1: no anisotropic filter
  int32_t bias = 0;                  // added to the level, in 1/256
  int32_t lowest = 0, highest = 0;   // levels, in 1/256
  std::array<uint32_t, 4> border{};  // bits of floats, or integers
};

struct TextureObject {
  bool surface = false;
  bool destroyed = false;
  unsigned device = 0;  // the device whose kernels may use the object
  TexelArray array;
  TextureSamplingSettings sampler;
};

// The objects by number. A number is never reused, so the use of a destroyed object is detected.
class TextureTable {
 public:
  uint64_t add(TextureObject object) {
    objects_.push_back(std::move(object));
    return objects_.size();
  }
  // Null if the number was never issued.
  TextureObject* find(uint64_t number) {
    return number == 0 || number > objects_.size() ? nullptr : &objects_[number - 1];
  }
  const TextureObject* find(uint64_t number) const {
    return const_cast<TextureTable*>(this)->find(number);
  }

 private:
  std::vector<TextureObject> objects_;
};

// ---------------------------------------------------------------------------------------------
// A tensor map (CUtensorMap): the layout of a tensor in device memory, and the box of it that one
// copy moves. Programs hold it as 128 opaque bytes. The driver's format is not documented, so this
// one is our own.

struct TensorMap {
  static constexpr uint64_t kMagic = 0x6c61'6233'326d'6170;  // "lab32map"
  static constexpr uint64_t kBytes = 128, kAlign = 64;
  static constexpr size_t kMostDimensions = 5;

  uint64_t magic = kMagic;
  uint64_t address = 0;
  std::array<uint64_t, kMostDimensions> size{};  // elements
  std::array<uint64_t, kMostDimensions - 1>
      stride{};  // bytes between neighbours along dimension i + 1
  std::array<uint16_t, kMostDimensions> box{};
  std::array<uint8_t, kMostDimensions> step{};
  uint8_t dimensions = 0;
  uint8_t element_bytes = 0;
  ptx::DataType type = ptx::DataType::none;  // type of an element, which selects the reduction
  // 0: none; 1, 2, 3: permutes the 16-byte pieces of rows of 32, 64, 128 bytes
  uint8_t swizzle = 0;

  // Elements of the box along a dimension. The engine ignores the step of dimension 0.
  uint32_t along(size_t i) const { return i == 0 ? box[0] : (box[i] + step[i] - 1u) / step[i]; }
  bool has_element_strides() const {
    bool any = false;
    for (size_t i = 0; i < dimensions; ++i) any |= step[i] != 1;
    return any;
  }
  uint32_t row_bytes() const { return uint32_t{box[0]} * element_bytes; }
  // Bytes between two rows of the box in shared memory.
  uint32_t pitch() const { return swizzle == 0 ? row_bytes() : 16u << swizzle; }
  uint32_t rows_of_box() const {
    uint32_t n = 1;
    for (size_t i = 1; i < dimensions; ++i) n *= along(i);
    return n;
  }
};
static_assert(sizeof(TensorMap) <= TensorMap::kBytes);

// The swizzled address of the data that belongs at `address`: bits 4 to 6 are XORed with bits 7 to
// 9, in as many bits as the mode has.
constexpr uint64_t swizzled(uint64_t address, uint32_t swizzle) {
  return address ^ (address >> 7 & ((1u << swizzle) - 1)) << 4;
}

}  // namespace lab32::sim
