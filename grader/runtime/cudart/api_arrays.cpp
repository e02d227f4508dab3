// CUDA arrays, texture and surface objects.

#include <algorithm>

#include "base/error.h"
#include "runtime/cudart/call.h"

using namespace lab32::cudart;

cudaError_t cudaMallocArray(cudaArray_t* out, const cudaChannelFormatDesc* format, size_t width,
                            size_t height, unsigned flags) {
  return call("cudaMallocArray", Waits::no, [&](Runtime& r) {
    if (flags & (cudaArrayLayered | cudaArrayCubemap)) return cudaErrorInvalidValue;
    return r.arrays.make(out, format, {width, height, 0}, flags, "cudaMallocArray");
  });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* out, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags) {
  return call("cudaMalloc3DArray", Waits::no, [&](Runtime& r) {
    return r.arrays.make(out, format, extent, flags, "cudaMalloc3DArray");
  });
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* format,
                                     cudaExtent extent, unsigned levels, unsigned flags) {
  return call("cudaMallocMipmappedArray", Waits::no,
              [&](Runtime& r) { return r.arrays.make(out, format, extent, levels, flags); });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* out, cudaMipmappedArray_const_t from,
                                       unsigned level) {
  return call("cudaGetMipmappedArrayLevel", Waits::no, [&](Runtime& r) {
    const Mipmap* mipmap = r.arrays.find(from);
    if (!mipmap) return cudaErrorInvalidResourceHandle;
    if (!out || level >= mipmap->levels.size()) return cudaErrorInvalidValue;
    *out = Arrays::handle(mipmap->levels[level]);
    return cudaSuccess;
  });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return call("cudaFreeArray", Waits::yes, [&](Runtime& r) {
    if (!array) return cudaSuccess;
    Array* own = r.arrays.find(array);
    if (!own) return cudaErrorInvalidResourceHandle;
    r.arrays.release(*own);
    return cudaSuccess;
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap) {
  return call("cudaFreeMipmappedArray", Waits::yes, [&](Runtime& r) {
    if (!mipmap) return cudaSuccess;
    Mipmap* own = r.arrays.find(mipmap);
    if (!own) return cudaErrorInvalidResourceHandle;
    r.arrays.release(*own);
    return cudaSuccess;
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  return call("cudaArrayGetInfo", Waits::no, [&](Runtime& r) {
    const Array* own = r.arrays.find(array);
    if (format) *format = own ? own->format : cudaChannelFormatDesc{};
    if (extent) *extent = own ? own->extent : cudaExtent{};
    if (flags) *flags = own ? own->flags : 0;
    return own ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return call("cudaGetChannelDesc", Waits::no, [&](Runtime& r) {
    const Array* own = r.arrays.find(array);
    if (!format) return cudaErrorInvalidValue;
    if (!own) return cudaErrorInvalidResourceHandle;
    *format = own->format;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* out, const cudaChannelFormatDesc* format,
                                                 int device) {
  return call("cudaDeviceGetTexture1DLinearMaxWidth", Waits::no, [&](Runtime&) {
    lab32::sim::TexelFormat texels;
    if (device != 0) return cudaErrorInvalidDevice;
    if (!out || !format) return cudaErrorInvalidValue;
    if (!read_format(*format, &texels)) return cudaErrorInvalidChannelDescriptor;
    *out = std::min(size_t{1} << 30, (size_t{1} << 32) / texels.bytes());
    return cudaSuccess;
  });
}

cudaError_t lab32::cudart::create_texture_object(cudaTextureObject_t* out,
                                                 const cudaResourceDesc* resource,
                                                 const cudaTextureDesc* texture,
                                                 const cudaResourceViewDesc* view,
                                                 Fractions fractions) {
  return call("cudaCreateTextureObject", Waits::no, [&](Runtime& r) {
    if (!out || !resource) return cudaErrorInvalidValue;
    if (!texture) return cudaErrorInvalidResourceHandle;
    lab32::sim::TextureObject object;
    if (const cudaError_t error =
            texture_object(r.arrays, r.memory, *resource, *texture, view, fractions, &object))
      return error;
    object.device = static_cast<unsigned>(acting_device());
    *out = r.memory.textures().add(std::move(object));
    r.textures[*out] = {*resource, *texture};
    if (view) r.textures[*out].view = *view;
    return cudaSuccess;
  });
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  return create_texture_object(out, resource, texture, view, Fractions::of_array);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* out, const cudaResourceDesc* resource) {
  return call("cudaCreateSurfaceObject", Waits::no, [&](Runtime& r) {
    if (!out || !resource || resource->resType != cudaResourceTypeArray)
      return cudaErrorInvalidValue;
    const Array* array = r.arrays.find(resource->res.array.array);
    if (!array) return cudaErrorInvalidResourceHandle;
    lab32::sim::TextureObject object;
    object.surface = true;
    object.array = Arrays::texels(*array);
    object.device = static_cast<unsigned>(acting_device());
    *out = r.memory.textures().add(std::move(object));
    r.textures[*out] = {*resource, {}};
    return cudaSuccess;
  });
}

namespace {

// Of an object of that kind; it stays known, so that its use is found.
cudaError_t destroy(const char* name, unsigned long long number, bool surface) {
  return call(name, Waits::no, [&](Runtime& r) {
    if (number == 0) return cudaSuccess;
    lab32::sim::TextureObject* object = r.memory.textures().find(number);
    if (!object || object->destroyed || object->surface != surface) return cudaErrorInvalidValue;
    object->destroyed = true;
    r.textures.erase(number);
    return cudaSuccess;
  });
}

template <class Description>
cudaError_t describe(const char* name, unsigned long long number, Description* out,
                     Description TextureDescriptions::*part) {
  return call(name, Waits::no, [&](Runtime& r) {
    const auto at = r.textures.find(number);
    if (!out || at == r.textures.end()) return cudaErrorInvalidValue;
    *out = at->second.*part;
    return cudaSuccess;
  });
}

}  // namespace

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return destroy("cudaDestroyTextureObject", texture, false);
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return destroy("cudaDestroySurfaceObject", surface, true);
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t texture) {
  return describe("cudaGetTextureObjectResourceDesc", texture, out, &TextureDescriptions::resource);
}
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* out,
                                                 cudaTextureObject_t texture) {
  return call("cudaGetTextureObjectResourceViewDesc", Waits::no, [&](Runtime& r) {
    const auto at = r.textures.find(texture);
    if (!out || at == r.textures.end()) return cudaErrorInvalidValue;
    *out = at->second.view.value_or(cudaResourceViewDesc{});
    return cudaSuccess;
  });
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t texture) {
  return describe("cudaGetTextureObjectTextureDesc", texture, out, &TextureDescriptions::texture);
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t surface) {
  return describe("cudaGetSurfaceObjectResourceDesc", surface, out, &TextureDescriptions::resource);
}
