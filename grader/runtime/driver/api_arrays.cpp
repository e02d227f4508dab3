// The driver's functions of arrays, textures and surfaces. They convert descriptions and call the
// runtime's functions.

#include <algorithm>
#include <cstring>
#include <optional>

#include "runtime/cudart/arrays.h"
#include "runtime/driver/call.h"

using namespace lab32::driver;

namespace {

std::optional<cudaChannelFormatDesc> format_of(CUarray_format format, unsigned channels) {
  int bits = 0;
  cudaChannelFormatKind kind = cudaChannelFormatKindUnsigned;
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      bits = 8;
      break;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      bits = 16;
      break;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      bits = 32;
      break;
    default:
      return std::nullopt;
  }
  if (format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT)
    kind = cudaChannelFormatKindFloat;
  else if (format >= CU_AD_FORMAT_SIGNED_INT8)
    kind = cudaChannelFormatKindSigned;
  const auto own = [&](unsigned channel) { return channel < channels ? bits : 0; };
  return cudaChannelFormatDesc{own(0), own(1), own(2), own(3), kind};
}

CUarray_format format_of(const cudaChannelFormatDesc& d) {
  const bool is_float = d.f == cudaChannelFormatKindFloat;
  const bool is_signed = d.f == cudaChannelFormatKindSigned;
  if (d.x == 8) return is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
  if (d.x == 16)
    return is_float    ? CU_AD_FORMAT_HALF
           : is_signed ? CU_AD_FORMAT_SIGNED_INT16
                       : CU_AD_FORMAT_UNSIGNED_INT16;
  return is_float    ? CU_AD_FORMAT_FLOAT
         : is_signed ? CU_AD_FORMAT_SIGNED_INT32
                     : CU_AD_FORMAT_UNSIGNED_INT32;
}

cudaArray_t array_of(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }

CUresult make_array(const char* name, CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* d) {
  return forward_to_runtime(name, [&] {
    if (!out || !d) return cudaErrorInvalidValue;
    const auto format = format_of(d->Format, d->NumChannels);
    if (!format) return cudaErrorInvalidValue;
    // The flags have the same values, except for depth textures, which the runtime lacks.
    return cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(out), &*format,
                             {d->Width, d->Height, d->Depth}, d->Flags);
  });
}

CUresult store_array_descriptor(const char* name, CUDA_ARRAY3D_DESCRIPTOR* out, CUarray array) {
  return forward_to_runtime(name, [&] {
    cudaChannelFormatDesc format;
    cudaExtent extent;
    unsigned flags = 0;
    if (const cudaError_t e = cudaArrayGetInfo(&format, &extent, &flags, array_of(array))) return e;
    const auto channels = static_cast<unsigned>((format.x != 0) + (format.y != 0) +
                                                (format.z != 0) + (format.w != 0));
    *out = {extent.width, extent.height, extent.depth, format_of(format), channels, flags};
    return cudaSuccess;
  });
}

// Converts a description to the runtime's. cudaErrorInvalidValue: the runtime has no such
// description.
cudaError_t runtime_resource_of(const CUDA_RESOURCE_DESC& d, cudaResourceDesc* out) {
  *out = {};
  switch (d.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      out->resType = cudaResourceTypeArray;
      out->res.array.array = array_of(d.res.array.hArray);
      return cudaSuccess;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      out->resType = cudaResourceTypeMipmappedArray;
      out->res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(d.res.mipmap.hMipmappedArray);
      return cudaSuccess;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto format = format_of(d.res.linear.format, d.res.linear.numChannels);
      if (!format) return cudaErrorInvalidValue;
      out->resType = cudaResourceTypeLinear;
      out->res.linear = {pointer(d.res.linear.devPtr), *format, d.res.linear.sizeInBytes};
      return cudaSuccess;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto format = format_of(d.res.pitch2D.format, d.res.pitch2D.numChannels);
      if (!format) return cudaErrorInvalidValue;
      out->resType = cudaResourceTypePitch2D;
      out->res.pitch2D = {pointer(d.res.pitch2D.devPtr), *format, d.res.pitch2D.width,
                          d.res.pitch2D.height, d.res.pitch2D.pitchInBytes};
      return cudaSuccess;
    }
    default:
      return cudaErrorInvalidValue;
  }
}

// The format of the texels that a texture reads; nullopt: no such resource.
std::optional<cudaChannelFormatDesc> texel_format_read_by(const cudaResourceDesc& d) {
  cudaChannelFormatDesc format;
  cudaArray_t array = d.res.array.array;
  switch (d.resType) {
    case cudaResourceTypeLinear:
      return d.res.linear.desc;
    case cudaResourceTypePitch2D:
      return d.res.pitch2D.desc;
    case cudaResourceTypeMipmappedArray:
      if (cudaGetMipmappedArrayLevel(&array, d.res.mipmap.mipmap, 0)) return std::nullopt;
      break;
    default:
      break;
  }
  if (cudaGetChannelDesc(&format, array)) return std::nullopt;
  return format;
}

cudaTextureDesc runtime_texture_of(const CUDA_TEXTURE_DESC& d,
                                   const cudaChannelFormatDesc& texels) {
  cudaTextureDesc out{};
  for (int k = 0; k < 3; ++k)
    out.addressMode[k] = static_cast<cudaTextureAddressMode>(d.addressMode[k]);
  out.filterMode = static_cast<cudaTextureFilterMode>(d.filterMode);
  // Integers of 8 and 16 bits are read as fractions, unless a flag forbids it.
  const bool fractions = texels.f != cudaChannelFormatKindFloat && texels.x < 32 &&
                         !(d.flags & CU_TRSF_READ_AS_INTEGER);
  out.readMode = fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  out.sRGB = (d.flags & CU_TRSF_SRGB) != 0;
  std::copy(d.borderColor, d.borderColor + 4, out.borderColor);
  out.normalizedCoords = (d.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  out.maxAnisotropy = d.maxAnisotropy;
  out.mipmapFilterMode = static_cast<cudaTextureFilterMode>(d.mipmapFilterMode);
  out.mipmapLevelBias = d.mipmapLevelBias;
  out.minMipmapLevelClamp = d.minMipmapLevelClamp;
  out.maxMipmapLevelClamp = d.maxMipmapLevelClamp;
  out.disableTrilinearOptimization = (d.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  out.seamlessCubemap = (d.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  return out;
}

}  // namespace

CUresult cuArrayCreate_v2(CUarray* out, const CUDA_ARRAY_DESCRIPTOR* d) {
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR same{d->Width, d->Height, 0, d->Format, d->NumChannels, 0};
  return make_array("cuArrayCreate", out, &same);
}
CUresult cuArray3DCreate_v2(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* d) {
  return make_array("cuArray3DCreate", out, d);
}
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray array) {
  return out ? store_array_descriptor("cuArray3DGetDescriptor", out, array)
             : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* out, CUarray array) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR whole;
  if (const CUresult e = store_array_descriptor("cuArrayGetDescriptor", &whole, array)) return e;
  *out = {whole.Width, whole.Height, whole.Format, whole.NumChannels};
  return CUDA_SUCCESS;
}
CUresult cuArrayDestroy(CUarray array) {
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  return forward_to_runtime("cuArrayDestroy", [&] { return cudaFreeArray(array_of(array)); });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* out, const CUDA_ARRAY3D_DESCRIPTOR* d,
                                unsigned levels) {
  return forward_to_runtime("cuMipmappedArrayCreate", [&] {
    if (!out || !d) return cudaErrorInvalidValue;
    const auto format = format_of(d->Format, d->NumChannels);
    if (!format) return cudaErrorInvalidValue;
    return cudaMallocMipmappedArray(reinterpret_cast<cudaMipmappedArray_t*>(out), &*format,
                                    {d->Width, d->Height, d->Depth}, levels, d->Flags);
  });
}
CUresult cuMipmappedArrayGetLevel(CUarray* out, CUmipmappedArray from, unsigned level) {
  return forward_to_runtime("cuMipmappedArrayGetLevel", [&] {
    return cudaGetMipmappedArrayLevel(reinterpret_cast<cudaArray_t*>(out),
                                      reinterpret_cast<cudaMipmappedArray_t>(from), level);
  });
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  return forward_to_runtime("cuMipmappedArrayDestroy", [&] {
    return cudaFreeMipmappedArray(reinterpret_cast<cudaMipmappedArray_t>(array));
  });
}

static_assert(sizeof(CUDA_RESOURCE_VIEW_DESC) == sizeof(cudaResourceViewDesc));
CUresult cuTexObjectCreate(CUtexObject* out, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view) {
  return forward_to_runtime("cuTexObjectCreate", [&] {
    if (!out || !resource || !texture) return cudaErrorInvalidValue;
    cudaResourceDesc same;
    if (const cudaError_t e = runtime_resource_of(*resource, &same)) return e;
    auto texels = texel_format_read_by(same);
    if (!texels) return cudaErrorInvalidResourceHandle;
    cudaResourceViewDesc of{};
    if (view) {
      std::memcpy(&of, view, sizeof of);
      if (const auto seen = lab32::cudart::format_of_view(of.format)) texels = seen;
    }
    const cudaTextureDesc sampler = runtime_texture_of(*texture, *texels);
    using namespace lab32::cudart;
    return create_texture_object(out, &same, &sampler, view ? &of : nullptr, Fractions::of_view);
  });
}
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* out, CUtexObject texture) {
  return forward_to_runtime("cuTexObjectGetResourceViewDesc", [&] {
    return cudaGetTextureObjectResourceViewDesc(reinterpret_cast<cudaResourceViewDesc*>(out),
                                                texture);
  });
}
CUresult cuTexObjectDestroy(CUtexObject texture) {
  return forward_to_runtime("cuTexObjectDestroy",
                            [&] { return cudaDestroyTextureObject(texture); });
}
CUresult cuSurfObjectCreate(CUsurfObject* out, const CUDA_RESOURCE_DESC* resource) {
  return forward_to_runtime("cuSurfObjectCreate", [&] {
    if (!out || !resource) return cudaErrorInvalidValue;
    cudaResourceDesc same;
    if (const cudaError_t e = runtime_resource_of(*resource, &same)) return e;
    return cudaCreateSurfaceObject(out, &same);
  });
}
CUresult cuSurfObjectDestroy(CUsurfObject surface) {
  return forward_to_runtime("cuSurfObjectDestroy",
                            [&] { return cudaDestroySurfaceObject(surface); });
}
