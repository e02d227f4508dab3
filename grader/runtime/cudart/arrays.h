// CUDA arrays, mipmapped arrays, and texture and surface objects: their memory, formats and views.
// Widths are in bytes where a comment says so, and otherwise in elements.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/cudart/allocations.h"
#include "simulator/core/memory/descriptors.h"

// CUDA arrays, and the boxes of bytes that copies and fills work on.

namespace lab32::cudart {

// A box of bytes in memory, for copies and fills: rows are `pitch` bytes apart, slices `slice`
// bytes.
struct PitchedAddress {
  uint64_t begin = 0;
  uint64_t pitch = 0, slice = 0;
};
struct CopyExtent {
  uint64_t width = 0, height = 1, depth = 1;  // bytes, rows, slices
};

struct CudaArray {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  // as the program asked; the height and depth may be 0
  unsigned flags = 0;
  sim::MipmapLevel grid;
  bool is_level = false;  // a level of a mipmapped array, which is freed with that array

  unsigned element_bytes() const {
    return static_cast<unsigned>(format.x + format.y + format.z + format.w) / 8;
  }
  uint64_t row_bytes() const { return uint64_t{grid.width} * element_bytes(); }
  // The bytes from an element on. `x` is in bytes.
  PitchedAddress box_from_element(uint64_t x, uint64_t y, uint64_t z) const {
    return {grid.begin + z * grid.slice_bytes + y * grid.pitch + x, grid.pitch, grid.slice_bytes};
  }
  // Whether the array contains the box. Units: bytes, rows, slices.
  bool contains_box(uint64_t x_bytes, uint64_t y, uint64_t z, const CopyExtent& e) const;
  // Whether the first slice has that many bytes from this position on, where the bytes continue
  // from row to row.
  bool contains_bytes_from(uint64_t x_bytes, uint64_t y, uint64_t bytes) const;
};

struct MipmappedArray {
  std::vector<CudaArray*> levels;
};

// Converts a channel description to a texel format. False: GPUs have no such format.
bool convert_to_texel_format(const cudaChannelFormatDesc& description, sim::TexelFormat* format);

class CudaArrays {
 public:
  explicit CudaArrays(Allocations& allocations) : allocations_(allocations) {}

  cudaError_t make(cudaArray_t* out, const cudaChannelFormatDesc* format, cudaExtent extent,
                   unsigned flags, const char* what);
  cudaError_t make(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* format,
                   cudaExtent extent, unsigned levels, unsigned flags);
  // nullptr: no such array.
  CudaArray* find(cudaArray_const_t handle) const;
  MipmappedArray* find(cudaMipmappedArray_const_t handle) const;
  void release(CudaArray& array);
  void release(MipmappedArray& mipmap);
  void forget_freed_arrays();  // removes the arrays whose memory was freed

  static cudaArray_t handle(CudaArray* array) { return reinterpret_cast<cudaArray_t>(array); }
  static sim::TexelArray texel_array_of(const CudaArray& array);
  static sim::TexelArray texel_array_with_all_levels(const MipmappedArray& mipmap);

 private:
  CudaArray& add(const cudaChannelFormatDesc& format, cudaExtent extent, unsigned flags);

  Allocations& allocations_;
  std::map<const void*, std::unique_ptr<CudaArray>> arrays_;
  std::map<const void*, std::unique_ptr<MipmappedArray>> mipmaps_;
};

// The descriptions from which the program made a texture or surface object.
struct TextureObjectCreateInfo {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  std::optional<cudaResourceViewDesc> view = {};
};

// What decides whether integers that are read through a view become fractions: for the runtime the
// array's own format, for the driver the view's format.
enum class Fractions { of_array, of_view };
// Builds the texture object for these descriptions. `view` is null or a view of the resource.
// Throws Error for features that are not simulated.
cudaError_t build_texture_object(const CudaArrays& arrays, const sim::Memory& memory,
                                 const cudaResourceDesc& resource, const cudaTextureDesc& texture,
                                 const cudaResourceViewDesc* view, Fractions fractions,
                                 sim::TextureObject* object);
// The part that cudaCreateTextureObject() and cuTexObjectCreate() have in common.
cudaError_t create_texture_object(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                  const cudaTextureDesc* texture, const cudaResourceViewDesc* view,
                                  Fractions fractions);

// Views of arrays: the same texels in another format, and some of the levels or layers alone.

// The format of a view's texels; nullopt: the format does not exist or is compressed.
std::optional<cudaChannelFormatDesc> format_of_view(cudaResourceViewFormat format);

// Replaces the format, levels and layers of `texels` by the view's. Throws Error for features that
// are not simulated.
cudaError_t apply_view(const CudaArrays& arrays, const cudaResourceDesc& resource,
                       const cudaResourceViewDesc& view, sim::TexelArray* texels);

}  // namespace lab32::cudart
