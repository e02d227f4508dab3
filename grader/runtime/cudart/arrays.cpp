#include "runtime/cudart/arrays.h"

#include <algorithm>

#include "base/error.h"

namespace lab32::cudart {
namespace {

constexpr unsigned kKnownFlags =
    cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;

bool is_extent_within(const cudaExtent& e, size_t width, size_t height, size_t depth) {
  return e.width <= width && e.height <= height && e.depth <= depth;
}

bool is_layered(unsigned flags) { return (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0; }

// Limits of compute capability 9.0 (CUDA C++ Programming Guide, "Compute capabilities").
bool is_valid_extent(const cudaExtent& e, unsigned flags) {
  const bool surface = (flags & cudaArraySurfaceLoadStore) != 0;
  if (e.width == 0) return false;
  if ((flags & cudaArrayTextureGather) && is_layered(flags)) return false;
  if (flags & cudaArrayCubemap) {
    const bool layered = (flags & cudaArrayLayered) != 0;
    if (e.width != e.height || e.depth == 0 || e.depth % 6 != 0) return false;
    return is_extent_within(e, 32768, 32768, layered ? 2046 : 6);
  }
  if (flags & cudaArrayLayered) return e.depth != 0 && is_extent_within(e, 32768, 32768, 2048);
  if (flags & cudaArrayTextureGather)
    return e.height != 0 && e.depth == 0 && is_extent_within(e, 32768, 32768, 0);
  if (e.depth != 0)
    return e.height != 0 && (is_extent_within(e, 16384, 16384, 16384) ||
                             (!surface && is_extent_within(e, 8192, 8192, 32768)));
  if (e.height != 0) return is_extent_within(e, 131072, 65536, 0);
  return e.width <= (surface ? 32768u : 131072u);
}

cudaError_t check_array_request(const cudaChannelFormatDesc* format, const cudaExtent& extent,
                                unsigned flags) {
  if (!format) return cudaErrorInvalidValue;
  if (format->f > cudaChannelFormatKindNone)
    throw Error("arrays of compressed, planar and packed formats are not simulated");
  if (flags & (cudaArraySparse | cudaArrayDeferredMapping))
    throw Error("sparse arrays and deferred mapping are not simulated");
  sim::TexelFormat texels;
  if (!convert_to_texel_format(*format, &texels)) return cudaErrorInvalidChannelDescriptor;
  if ((flags & ~kKnownFlags) != 0 || !is_valid_extent(extent, flags)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

// Assigns addresses to the levels of an array, one after another. Returns the bytes of all levels.
uint64_t place_level_and_return_bytes(CudaArray& a, uint64_t from) {
  a.grid.width = static_cast<uint32_t>(a.extent.width);
  a.grid.height = static_cast<uint32_t>(std::max<size_t>(a.extent.height, 1));
  a.grid.slices = static_cast<uint32_t>(std::max<size_t>(a.extent.depth, 1));
  a.grid.pitch = a.row_bytes();
  a.grid.slice_bytes = a.grid.pitch * a.grid.height;
  a.grid.begin = from;
  constexpr uint64_t kAlign = 512;
  return (a.grid.slice_bytes * a.grid.slices + kAlign - 1) / kAlign * kAlign;
}

size_t halved(size_t n, unsigned level) { return n == 0 ? 0 : std::max<size_t>(n >> level, 1); }

}  // namespace

bool CudaArray::contains_box(uint64_t x, uint64_t y, uint64_t z, const CopyExtent& e) const {
  const auto in = [](uint64_t from, uint64_t count, uint64_t of) {
    return from <= of && count <= of - from;
  };
  return in(x, e.width, row_bytes()) && in(y, e.height, grid.height) && in(z, e.depth, grid.slices);
}

bool CudaArray::contains_bytes_from(uint64_t x, uint64_t y, uint64_t bytes) const {
  const uint64_t row = row_bytes(), all = row * grid.height;
  return x <= row && y <= grid.height && y * row + x <= all && bytes <= all - (y * row + x);
}

bool convert_to_texel_format(const cudaChannelFormatDesc& d, sim::TexelFormat* format) {
  using Kind = sim::TexelFormat::Kind;
  const int channels = d.y == 0 ? 1 : d.z == 0 ? 2 : 4;
  const auto same = [&](int bits, int from) { return bits == (from < channels ? d.x : 0); };
  if ((d.x != 8 && d.x != 16 && d.x != 32) || !same(d.y, 1) || !same(d.z, 2) || !same(d.w, 3))
    return false;
  if (d.f != cudaChannelFormatKindFloat && d.f != cudaChannelFormatKindSigned &&
      d.f != cudaChannelFormatKindUnsigned)
    return false;
  if (d.f == cudaChannelFormatKindFloat && d.x == 8) return false;
  format->kind = d.f == cudaChannelFormatKindFloat    ? Kind::floating
                 : d.f == cudaChannelFormatKindSigned ? Kind::signed_integer
                                                      : Kind::unsigned_integer;
  format->bits = static_cast<uint8_t>(d.x);
  format->channels = static_cast<uint8_t>(channels);
  return true;
}

CudaArray& CudaArrays::add(const cudaChannelFormatDesc& format, cudaExtent extent, unsigned flags) {
  auto made = std::make_unique<CudaArray>();
  made->format = format;
  made->extent = extent;
  made->flags = flags;
  CudaArray& array = *made;
  arrays_[&array] = std::move(made);
  return array;
}

cudaError_t CudaArrays::make(cudaArray_t* out, const cudaChannelFormatDesc* format,
                             cudaExtent extent, unsigned flags, const char* what) {
  if (!out) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_array_request(format, extent, flags)) return error;
  CudaArray& array = add(*format, extent, flags);
  const AllocationInfo* held =
      allocations_.allocate(place_level_and_return_bytes(array, 0), MemoryKind::device, what);
  if (!held) {
    arrays_.erase(&array);
    return cudaErrorMemoryAllocation;
  }
  array.grid.begin = held->begin;
  *out = handle(&array);
  return cudaSuccess;
}

cudaError_t CudaArrays::make(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* format,
                             cudaExtent extent, unsigned levels, unsigned flags) {
  if (!out) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_array_request(format, extent, flags)) return error;
  const size_t depth = is_layered(flags) ? 1 : extent.depth;
  const size_t longest = std::max({extent.width, extent.height, depth});
  const auto most = static_cast<unsigned>(64 - __builtin_clzll(longest));
  auto made = std::make_unique<MipmappedArray>();
  uint64_t bytes = 0;
  for (unsigned l = 0; l < std::clamp(levels, 1u, most); ++l) {
    const cudaExtent own{halved(extent.width, l), halved(extent.height, l),
                         is_layered(flags) ? extent.depth : halved(extent.depth, l)};
    CudaArray& array = add(*format, own, flags);
    array.is_level = true;
    bytes += place_level_and_return_bytes(array, bytes);
    made->levels.push_back(&array);
  }
  const AllocationInfo* held =
      allocations_.allocate(bytes, MemoryKind::device, "cudaMallocMipmappedArray");
  for (CudaArray* level : made->levels) {
    if (held)
      level->grid.begin += held->begin;
    else
      arrays_.erase(level);
  }
  if (!held) return cudaErrorMemoryAllocation;
  *out = reinterpret_cast<cudaMipmappedArray_t>(made.get());
  mipmaps_[made.get()] = std::move(made);
  return cudaSuccess;
}

CudaArray* CudaArrays::find(cudaArray_const_t handle) const {
  const auto at = arrays_.find(handle);
  return at == arrays_.end() ? nullptr : at->second.get();
}

MipmappedArray* CudaArrays::find(cudaMipmappedArray_const_t handle) const {
  const auto at = mipmaps_.find(handle);
  return at == mipmaps_.end() ? nullptr : at->second.get();
}

void CudaArrays::release(CudaArray& array) {
  if (array.is_level) return;  // a level is freed with its mipmapped array
  allocations_.release(array.grid.begin);
  arrays_.erase(&array);
}

void CudaArrays::release(MipmappedArray& mipmap) {
  allocations_.release(mipmap.levels.front()->grid.begin);
  for (CudaArray* level : mipmap.levels) arrays_.erase(level);
  mipmaps_.erase(&mipmap);
}

void CudaArrays::forget_freed_arrays() {
  const auto is_gone = [&](const CudaArray& array) {
    return allocations_.find(reinterpret_cast<void*>(array.grid.begin)) == nullptr;
  };
  for (auto at = mipmaps_.begin(); at != mipmaps_.end();)
    at = is_gone(*at->second->levels.front()) ? mipmaps_.erase(at) : std::next(at);
  for (auto at = arrays_.begin(); at != arrays_.end();)
    at = is_gone(*at->second) ? arrays_.erase(at) : std::next(at);
}

sim::TexelArray CudaArrays::texel_array_of(const CudaArray& array) {
  sim::TexelArray texels;
  convert_to_texel_format(array.format, &texels.format);
  texels.cube = (array.flags & cudaArrayCubemap) != 0;
  texels.layered = (array.flags & cudaArrayLayered) != 0;
  const bool deep = array.extent.depth != 0 && !is_layered(array.flags);
  texels.dimensions = deep ? 3 : array.extent.height != 0 ? 2 : 1;
  texels.levels.push_back(array.grid);
  return texels;
}

sim::TexelArray CudaArrays::texel_array_with_all_levels(const MipmappedArray& mipmap) {
  sim::TexelArray all = texel_array_of(*mipmap.levels.front());
  for (size_t l = 1; l < mipmap.levels.size(); ++l) all.levels.push_back(mipmap.levels[l]->grid);
  return all;
}

}  // namespace lab32::cudart
