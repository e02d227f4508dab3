// What texture and surface objects name: memory seen as an array of texels, and how it is read.
// Arrays lie row after row, slice after slice, as memory of the host does. (A GPU has an order of
// its own, which no program sees.)
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace lab32::sim {

struct TexelFormat {
  enum class Kind : uint8_t { signed_integer, unsigned_integer, floating };
  Kind kind = Kind::floating;
  uint8_t bits = 32;     // of a channel: 8, 16, 32
  uint8_t channels = 1;  // 1, 2, 4

  unsigned bytes() const { return bits / 8u * channels; }
};

// One level of a mipmap; an array without them has one.
struct TexelGrid {
  uint64_t begin = 0;                          // device address
  uint32_t width = 1, height = 1, slices = 1;  // slices: planes in depth, layers, faces
  uint64_t pitch = 0, slice_bytes = 0;
};

struct TexelArray {
  TexelFormat format;
  uint8_t dimensions = 1;  // of a layer or face
  bool layered = false;    // slices are layers
  bool cube = false;       // six slices are the faces of a cube (of each layer)
  bool linear = false;     // linear memory, read by index
  bool in_rows = false;    // the program's own memory, row after row; else a GPU has its own order
  std::vector<TexelGrid> levels;
};

enum class AddressMode : uint8_t { wrap, clamp, mirror, border };

struct Sampler {
  std::array<AddressMode, 3> address{};
  bool linear = false;               // filter
  bool linear_mipmap = false;        // filter between levels
  bool normalized = false;           // coordinates
  bool reads_normalized = false;     // integers become 0 … 1 or -1 … 1
  bool srgb = false;                 // 8-bit colours become linear
  bool seamless = false;             // cube: filters across edges
  uint8_t anisotropy = 0;            // most samples; 0 and 1: none
  int32_t bias = 0;                  // of the level, in 1/256
  int32_t lowest = 0, highest = 0;   // levels, in 1/256
  std::array<uint32_t, 4> border{};  // bits of floats, or integers
};

struct TextureObject {
  bool surface = false;
  bool destroyed = false;
  unsigned device = 0;  // whose kernels it is for
  TexelArray array;
  Sampler sampler;
};

// Numbers are not given twice, so that the use of a destroyed object is found.
class TextureTable {
 public:
  uint64_t add(TextureObject object) {
    objects_.push_back(std::move(object));
    return objects_.size();
  }
  // Null: it was never made.
  TextureObject* find(uint64_t number) {
    return number == 0 || number > objects_.size() ? nullptr : &objects_[number - 1];
  }
  const TextureObject* find(uint64_t number) const {
    return const_cast<TextureTable*>(this)->find(number);
  }

 private:
  std::vector<TextureObject> objects_;
};

}  // namespace lab32::sim
