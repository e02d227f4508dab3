// CUDA arrays, with and without levels, and texture and surface objects.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/cudart/allocations.h"
#include "simulator/core/memory/descriptors.h"

// Boxes of bytes that copies and fills work on.

namespace lab32::cudart {

// A box of bytes in memory: rows of `pitch` bytes, slices of `slice` bytes.
struct Box {
  uint64_t begin = 0;
  uint64_t pitch = 0, slice = 0;
};
struct Extent {
  uint64_t width = 0, height = 1, depth = 1;  // bytes, rows, slices
};

struct Array {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  // as asked for: heights and depths may be 0
  unsigned flags = 0;
  sim::TexelGrid grid;
  bool is_level = false;  // of a mipmap, with which it is freed

  unsigned element_bytes() const {
    return static_cast<unsigned>(format.x + format.y + format.z + format.w) / 8;
  }
  uint64_t row_bytes() const { return uint64_t{grid.width} * element_bytes(); }
  // The bytes from an element on. `x` in bytes.
  Box box(uint64_t x, uint64_t y, uint64_t z) const {
    return {grid.begin + z * grid.slice_bytes + y * grid.pitch + x, grid.pitch, grid.slice_bytes};
  }
  // Whether such a box lies in it; in bytes, rows, slices.
  bool holds(uint64_t x, uint64_t y, uint64_t z, const Extent& e) const;
  // So many bytes from there on, one behind the other, from row to row of the first slice.
  bool holds_from(uint64_t x, uint64_t y, uint64_t bytes) const;
};

struct Mipmap {
  std::vector<Array*> levels;
};

// What texels of that description are; false: no GPU has such.
bool read_format(const cudaChannelFormatDesc& description, sim::TexelFormat* format);

class Arrays {
 public:
  explicit Arrays(Allocations& allocations) : allocations_(allocations) {}

  cudaError_t make(cudaArray_t* out, const cudaChannelFormatDesc* format, cudaExtent extent,
                   unsigned flags, const char* what);
  cudaError_t make(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* format,
                   cudaExtent extent, unsigned levels, unsigned flags);
  // nullptr: there is none.
  Array* find(cudaArray_const_t handle) const;
  Mipmap* find(cudaMipmappedArray_const_t handle) const;
  void release(Array& array);
  void release(Mipmap& mipmap);
  void clear();  // those whose memory is gone

  static cudaArray_t handle(Array* array) { return reinterpret_cast<cudaArray_t>(array); }
  static sim::TexelArray texels(const Array& array);
  static sim::TexelArray texels(const Mipmap& mipmap);

 private:
  Array& add(const cudaChannelFormatDesc& format, cudaExtent extent, unsigned flags);

  Allocations& allocations_;
  std::map<const void*, std::unique_ptr<Array>> arrays_;
  std::map<const void*, std::unique_ptr<Mipmap>> mipmaps_;
};

// What the program made objects of, by their numbers.
struct TextureDescriptions {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  std::optional<cudaResourceViewDesc> view = {};
};

// Whether integers are read as fractions is asked of the array's own texels by the runtime, of what
// a view makes of them by the driver.
enum class Fractions { of_array, of_view };
// What a texture object of such descriptions is; `view`: null, or of the resource. Throws Error for
// what is not simulated.
cudaError_t texture_object(const Arrays& arrays, const sim::Memory& memory,
                           const cudaResourceDesc& resource, const cudaTextureDesc& texture,
                           const cudaResourceViewDesc* view, Fractions fractions,
                           sim::TextureObject* object);
// cudaCreateTextureObject().
cudaError_t create_texture_object(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                  const cudaTextureDesc* texture, const cudaResourceViewDesc* view,
                                  Fractions fractions);

// Views of arrays: the same texels in another format, and some of the levels or layers alone.

// Of texels that a view has; none: there is no such format, or it is a compressed one.
std::optional<cudaChannelFormatDesc> format_of_view(cudaResourceViewFormat format);

// What a texture object reads that was made with a view. Throws Error for what is not simulated.
cudaError_t apply_view(const Arrays& arrays, const cudaResourceDesc& resource,
                       const cudaResourceViewDesc& view, sim::TexelArray* texels);

}  // namespace lab32::cudart
