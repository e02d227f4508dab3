// Builds texture objects from the program's descriptions of resource, sampling and view.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "runtime/cudart/arrays.h"

namespace lab32::cudart {
namespace {

// The enumeration lists the formats by bits per channel, then signedness, then number of channels.
constexpr int kFirstHalf = cudaResViewFormatHalf1, kAll = cudaResViewFormatFloat4;

bool is_compressed(cudaResourceViewFormat format) {
  return format >= cudaResViewFormatUnsignedBlockCompressed1 &&
         format <= cudaResViewFormatUnsignedBlockCompressed7;
}

// The array's extent as the program gave it: a missing height or depth is 0.
cudaExtent array_extent_of(const CudaArrays& arrays, const cudaResourceDesc& r) {
  if (r.resType == cudaResourceTypeArray) return arrays.find(r.res.array.array)->extent;
  return arrays.find(r.res.mipmap.mipmap)->levels.front()->extent;
}

// Keeps the levels (or layers) from the view's first to its last. False: they do not exist.
bool keep_view_levels(const cudaResourceViewDesc& view, sim::TexelArray* texels) {
  if (view.firstMipmapLevel > view.lastMipmapLevel || view.lastMipmapLevel >= texels->levels.size())
    return false;
  auto& levels = texels->levels;
  levels.erase(levels.begin() + view.lastMipmapLevel + 1, levels.end());
  levels.erase(levels.begin(), levels.begin() + view.firstMipmapLevel);
  return true;
}

bool keep_view_layers(const cudaResourceViewDesc& view, sim::TexelArray* texels) {
  const bool some = view.firstLayer != 0 || view.lastLayer != 0;
  if (texels->cube && some) throw Error("views of some faces of a cube map are not simulated");
  if (!texels->layered || texels->cube) return !some;
  if (view.firstLayer > view.lastLayer || view.lastLayer >= texels->levels.front().slices)
    return false;
  for (sim::MipmapLevel& grid : texels->levels) {
    grid.begin += view.firstLayer * grid.slice_bytes;
    grid.slices = view.lastLayer - view.firstLayer + 1;
  }
  return true;
}

}  // namespace

std::optional<cudaChannelFormatDesc> format_of_view(cudaResourceViewFormat format) {
  if (format <= cudaResViewFormatNone || format > kAll) return std::nullopt;
  constexpr int kChannels[] = {1, 2, 4};
  const int channels = kChannels[(format - 1) % 3];
  // Integers of 8, 16 and 32 bits come first, unsigned before signed; floats follow.
  const int kind = (format - 1) / 3;
  const bool floating = format >= kFirstHalf;
  const int bits = floating ? (kind == 6 ? 16 : 32) : 8 << kind / 2;
  const auto of = [&](int channel) { return channel < channels ? bits : 0; };
  return cudaChannelFormatDesc{of(0), of(1), of(2), of(3),
                               floating        ? cudaChannelFormatKindFloat
                               : kind % 2 == 1 ? cudaChannelFormatKindSigned
                                               : cudaChannelFormatKindUnsigned};
}

cudaError_t apply_view(const CudaArrays& arrays, const cudaResourceDesc& resource,
                       const cudaResourceViewDesc& view, sim::TexelArray* texels) {
  // Linear memory has no views: an H100 ignores their description.
  if (resource.resType != cudaResourceTypeArray &&
      resource.resType != cudaResourceTypeMipmappedArray)
    return cudaSuccess;
  if (is_compressed(view.format)) throw Error("views of compressed formats are not simulated");
  const auto format = format_of_view(view.format);
  sim::TexelFormat seen;
  if (!format || !convert_to_texel_format(*format, &seen)) return cudaErrorInvalidValue;
  const cudaExtent extent = array_extent_of(arrays, resource);
  if (seen.bytes() != texels->format.bytes() || view.width != extent.width ||
      view.height != extent.height || view.depth != extent.depth)
    return cudaErrorInvalidValue;
  texels->format = seen;
  return keep_view_levels(view, texels) && keep_view_layers(view, texels) ? cudaSuccess
                                                                          : cudaErrorInvalidValue;
}

namespace {

constexpr uint64_t kTextureAlignment = 512, kPitchAlignment = 32;
constexpr uint64_t kMostElements = uint64_t{1} << 30, kMostBytes = uint64_t{1} << 32;

// A GPU aligns allocations to 512 bytes. Simulated allocations are less aligned.
bool is_texture_aligned(const sim::Memory& memory, uint64_t address) {
  const sim::Allocation* a = memory.find(address);
  return a && !a->freed && (address - a->begin) % kTextureAlignment == 0;
}

cudaError_t texels_of_linear(const sim::Memory& memory, const cudaResourceDesc& r,
                             sim::TexelArray* texels) {
  const auto& own = r.res.linear;
  if (!convert_to_texel_format(own.desc, &texels->format)) return cudaErrorInvalidChannelDescriptor;
  const uint64_t count = own.sizeInBytes / texels->format.bytes();
  const auto begin = reinterpret_cast<uint64_t>(own.devPtr);
  if (!is_texture_aligned(memory, begin)) return cudaErrorInvalidValue;
  if (count > kMostElements || own.sizeInBytes > kMostBytes) return cudaErrorInvalidValue;
  texels->linear = texels->in_rows = true;
  sim::MipmapLevel grid;
  grid.begin = begin;
  grid.width = static_cast<uint32_t>(count);
  texels->levels.push_back(grid);
  return cudaSuccess;
}

cudaError_t texels_of_pitched(const sim::Memory& memory, const cudaResourceDesc& r,
                              sim::TexelArray* texels) {
  const auto& own = r.res.pitch2D;
  if (!convert_to_texel_format(own.desc, &texels->format)) return cudaErrorInvalidChannelDescriptor;
  const auto begin = reinterpret_cast<uint64_t>(own.devPtr);
  if (!is_texture_aligned(memory, begin) || own.pitchInBytes % kPitchAlignment != 0 ||
      own.pitchInBytes < own.width * texels->format.bytes() || own.width > 131072 ||
      own.height > 65000)
    return cudaErrorInvalidValue;
  if (own.width == 0 || own.height == 0) throw Error("textures without texels are not simulated");
  texels->dimensions = 2;
  texels->in_rows = true;
  sim::MipmapLevel grid;
  grid.begin = begin;
  grid.width = static_cast<uint32_t>(own.width);
  grid.height = static_cast<uint32_t>(own.height);
  grid.pitch = own.pitchInBytes;
  texels->levels.push_back(grid);
  return cudaSuccess;
}

cudaError_t texels_of_resource(const CudaArrays& arrays, const sim::Memory& memory,
                               const cudaResourceDesc& r, sim::TexelArray* texels) {
  switch (r.resType) {
    case cudaResourceTypeArray: {
      const CudaArray* array = arrays.find(r.res.array.array);
      if (!array) return cudaErrorInvalidResourceHandle;
      *texels = CudaArrays::texel_array_of(*array);
      return cudaSuccess;
    }
    case cudaResourceTypeMipmappedArray: {
      const MipmappedArray* mipmap = arrays.find(r.res.mipmap.mipmap);
      if (!mipmap) return cudaErrorInvalidResourceHandle;
      *texels = CudaArrays::texel_array_with_all_levels(*mipmap);
      return cudaSuccess;
    }
    case cudaResourceTypeLinear:
      return texels_of_linear(memory, r, texels);
    case cudaResourceTypePitch2D:
      return texels_of_pitched(memory, r, texels);
    default:
      return cudaErrorInvalidValue;
  }
}

// Converts a mipmap level to units of 1/256, truncated.
int32_t fixed_point_level(float level) {
  return static_cast<int32_t>(std::clamp(std::isnan(level) ? 0.0f : level, -1024.0f, 1024.0f) *
                              256);
}

// `format` is the format of the texels that a fetch returns, `array_format` that of the array; they
// differ if a view reinterprets the array. A fetch returns integers either as they are or
// normalised to floats in [0, 1] or [-1, 1]. cudaReadModeNormalizedFloat asks for the latter, but
// only arrays of 8- and 16-bit integers have that choice: if a view makes integers of floats or of
// 32-bit texels, an H100 normalises them, whatever the program requests.
cudaError_t sampler_of(const cudaTextureDesc& d, const sim::TexelFormat& format,
                       const sim::TexelFormat& array_format, sim::TextureSamplingSettings* s) {
  using Kind = sim::TexelFormat::Kind;
  for (size_t k = 0; k < 3; ++k) {
    if (d.addressMode[k] < cudaAddressModeWrap || d.addressMode[k] > cudaAddressModeBorder)
      return cudaErrorInvalidValue;
    s->address[k] = static_cast<sim::AddressMode>(d.addressMode[k]);
  }
  if (d.filterMode != cudaFilterModePoint && d.filterMode != cudaFilterModeLinear)
    return cudaErrorInvalidValue;
  s->linear = d.filterMode == cudaFilterModeLinear;
  const auto can_be_normalized = [](const sim::TexelFormat& f) {
    return f.kind != Kind::floating && f.bits != 32;
  };
  const bool asked = d.readMode == cudaReadModeNormalizedFloat;
  const bool integers = format.kind != Kind::floating;
  if (s->linear && integers != (array_format.kind != Kind::floating))
    throw Error(
        "linear filtering of floats that a view makes of integers, or the other way round, "
        "is not simulated");
  s->reads_normalized = can_be_normalized(format) && (asked || !can_be_normalized(array_format));
  if (s->linear && integers && (!s->reads_normalized || format.bits == 32))
    return cudaErrorInvalidFilterSetting;
  if (asked && !can_be_normalized(array_format)) return cudaErrorInvalidNormSetting;
  s->normalized = d.normalizedCoords != 0;
  s->srgb = d.sRGB != 0;
  if (s->srgb && (format.kind != Kind::unsigned_integer || format.bits != 8 ||
                  format.channels != 4 || !s->reads_normalized))
    throw Error("sRGB is simulated for four channels of 8 bits read as normalised floats");
  s->seamless = d.seamlessCubemap != 0;
  s->linear_mipmap = d.mipmapFilterMode == cudaFilterModeLinear;
  s->anisotropy = static_cast<uint8_t>(std::min(d.maxAnisotropy, 16u));
  s->bias = fixed_point_level(d.mipmapLevelBias);
  s->lowest = fixed_point_level(d.minMipmapLevelClamp);
  s->highest = fixed_point_level(d.maxMipmapLevelClamp);
  std::memcpy(s->border.data(), d.borderColor, sizeof d.borderColor);
  return cudaSuccess;
}

}  // namespace

cudaError_t build_texture_object(const CudaArrays& arrays, const sim::Memory& memory,
                                 const cudaResourceDesc& r, const cudaTextureDesc& texture,
                                 const cudaResourceViewDesc* view, Fractions fractions,
                                 sim::TextureObject* object) {
  if (const cudaError_t error = texels_of_resource(arrays, memory, r, &object->array)) return error;
  const sim::TexelFormat own = object->array.format;
  // A view without a format has no effect. The runtime's default view consists of zeros.
  if (view && view->format != cudaResViewFormatNone) {
    if (const cudaError_t error = apply_view(arrays, r, *view, &object->array)) return error;
  } else if (view && (view->lastMipmapLevel != 0 || view->lastLayer != 0)) {
    throw Error("views of some levels or layers that name no format are not simulated");
  }
  if (object->array.levels.size() > 1 && texture.maxAnisotropy > 1)
    throw Error("anisotropic filtering of a texture with levels is not simulated");
  const bool of_view = fractions == Fractions::of_view;
  return sampler_of(texture, object->array.format, of_view ? object->array.format : own,
                    &object->sampler);
}

}  // namespace lab32::cudart
