#include "runtime/cudart/resource_view.h"

#include "base/error.h"

namespace lab32::cudart {
namespace {

// The enumeration counts through bits, signedness and channels.
constexpr int kFirstHalf = cudaResViewFormatHalf1, kAll = cudaResViewFormatFloat4;

bool is_compressed(cudaResourceViewFormat format) {
  return format >= cudaResViewFormatUnsignedBlockCompressed1 &&
         format <= cudaResViewFormatUnsignedBlockCompressed7;
}

// As the program asked for it: of no height or depth they are 0.
cudaExtent extent_of(const Arrays& arrays, const cudaResourceDesc& r) {
  if (r.resType == cudaResourceTypeArray) return arrays.find(r.res.array.array)->extent;
  return arrays.find(r.res.mipmap.mipmap)->levels.front()->extent;
}

// The levels and layers from the first to the last; false: there are none such.
bool keep_levels(const cudaResourceViewDesc& view, sim::TexelArray* texels) {
  if (view.firstMipmapLevel > view.lastMipmapLevel || view.lastMipmapLevel >= texels->levels.size())
    return false;
  auto& levels = texels->levels;
  levels.erase(levels.begin() + view.lastMipmapLevel + 1, levels.end());
  levels.erase(levels.begin(), levels.begin() + view.firstMipmapLevel);
  return true;
}

bool keep_layers(const cudaResourceViewDesc& view, sim::TexelArray* texels) {
  const bool some = view.firstLayer != 0 || view.lastLayer != 0;
  if (texels->cube && some) throw Error("views of some faces of a cube map are not simulated");
  if (!texels->layered || texels->cube) return !some;
  if (view.firstLayer > view.lastLayer || view.lastLayer >= texels->levels.front().slices)
    return false;
  for (sim::TexelGrid& grid : texels->levels) {
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
  const int kind = (format - 1) / 3;  // of 8, 16, 32 bits: unsigned, signed; then floats
  const bool floating = format >= kFirstHalf;
  const int bits = floating ? (kind == 6 ? 16 : 32) : 8 << kind / 2;
  const auto of = [&](int channel) { return channel < channels ? bits : 0; };
  return cudaChannelFormatDesc{of(0), of(1), of(2), of(3),
                               floating        ? cudaChannelFormatKindFloat
                               : kind % 2 == 1 ? cudaChannelFormatKindSigned
                                               : cudaChannelFormatKindUnsigned};
}

cudaError_t apply_view(const Arrays& arrays, const cudaResourceDesc& resource,
                       const cudaResourceViewDesc& view, sim::TexelArray* texels) {
  // Linear memory has none: what is said of one is ignored (H100).
  if (resource.resType != cudaResourceTypeArray &&
      resource.resType != cudaResourceTypeMipmappedArray)
    return cudaSuccess;
  if (is_compressed(view.format)) throw Error("views of compressed formats are not simulated");
  const auto format = format_of_view(view.format);
  sim::TexelFormat seen;
  if (!format || !read_format(*format, &seen)) return cudaErrorInvalidValue;
  const cudaExtent extent = extent_of(arrays, resource);
  if (seen.bytes() != texels->format.bytes() || view.width != extent.width ||
      view.height != extent.height || view.depth != extent.depth)
    return cudaErrorInvalidValue;
  texels->format = seen;
  return keep_levels(view, texels) && keep_layers(view, texels) ? cudaSuccess
                                                                : cudaErrorInvalidValue;
}

}  // namespace lab32::cudart
