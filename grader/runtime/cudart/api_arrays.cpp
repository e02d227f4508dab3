// CUDA arrays, texture and surface objects.

#include <algorithm>

#include "base/error.h"
#include "runtime/cudart/call.h"
#include "runtime/cudart/copy.h"

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
    const MipmappedArray* mipmap = r.arrays.find(from);
    if (!mipmap) return cudaErrorInvalidResourceHandle;
    if (!out || level >= mipmap->levels.size()) return cudaErrorInvalidValue;
    *out = CudaArrays::handle(mipmap->levels[level]);
    return cudaSuccess;
  });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return call("cudaFreeArray", Waits::yes, [&](Runtime& r) {
    if (!array) return cudaSuccess;
    CudaArray* own = r.arrays.find(array);
    if (!own) return cudaErrorInvalidResourceHandle;
    r.arrays.release(*own);
    return cudaSuccess;
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap) {
  return call("cudaFreeMipmappedArray", Waits::yes, [&](Runtime& r) {
    if (!mipmap) return cudaSuccess;
    MipmappedArray* own = r.arrays.find(mipmap);
    if (!own) return cudaErrorInvalidResourceHandle;
    r.arrays.release(*own);
    return cudaSuccess;
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  return call("cudaArrayGetInfo", Waits::no, [&](Runtime& r) {
    const CudaArray* own = r.arrays.find(array);
    if (format) *format = own ? own->format : cudaChannelFormatDesc{};
    if (extent) *extent = own ? own->extent : cudaExtent{};
    if (flags) *flags = own ? own->flags : 0;
    return own ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return call("cudaGetChannelDesc", Waits::no, [&](Runtime& r) {
    const CudaArray* own = r.arrays.find(array);
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
    if (!convert_to_texel_format(*format, &texels)) return cudaErrorInvalidChannelDescriptor;
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
            build_texture_object(r.arrays, r.memory, *resource, *texture, view, fractions, &object))
      return error;
    object.device = static_cast<unsigned>(device_of_current_call());
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
    const CudaArray* array = r.arrays.find(resource->res.array.array);
    if (!array) return cudaErrorInvalidResourceHandle;
    lab32::sim::TextureObject object;
    object.surface = true;
    object.array = CudaArrays::texel_array_of(*array);
    object.device = static_cast<unsigned>(device_of_current_call());
    *out = r.memory.textures().add(std::move(object));
    r.textures[*out] = {*resource, {}};
    return cudaSuccess;
  });
}

namespace {

// Destroys an object of that kind. Its number remains known, so that a later use is recognised.
cudaError_t destroy_texture_or_surface(const char* name, unsigned long long number, bool surface) {
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
cudaError_t store_texture_description(const char* name, unsigned long long number, Description* out,
                                      Description TextureObjectCreateInfo::*part) {
  return call(name, Waits::no, [&](Runtime& r) {
    const auto at = r.textures.find(number);
    if (!out || at == r.textures.end()) return cudaErrorInvalidValue;
    *out = at->second.*part;
    return cudaSuccess;
  });
}

}  // namespace

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return destroy_texture_or_surface("cudaDestroyTextureObject", texture, false);
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return destroy_texture_or_surface("cudaDestroySurfaceObject", surface, true);
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t texture) {
  return store_texture_description("cudaGetTextureObjectResourceDesc", texture, out,
                                   &TextureObjectCreateInfo::resource);
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
  return store_texture_description("cudaGetTextureObjectTextureDesc", texture, out,
                                   &TextureObjectCreateInfo::texture);
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t surface) {
  return store_texture_description("cudaGetSurfaceObjectResourceDesc", surface, out,
                                   &TextureObjectCreateInfo::resource);
}

// Copies to, from and between CUDA arrays.

// The toolkit declares the functions without a pitch deprecated, but programs still call them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace {

// A position in an array: bytes along x, rows along y.
struct CudaArrayOffset {
  cudaArray_const_t array;
  size_t x, y;
};

bool is_copy_to_host(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
}
bool is_copy_from_host(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
}

PitchedAddress memory_box(const void* pointer, size_t pitch = 0) {
  return {reinterpret_cast<uint64_t>(pointer), pitch, 0};
}

// Copies rows between an array and memory.
Body copy_array_rows(CudaArrayOffset place, void* pointer, size_t pitch, size_t width,
                     size_t height, cudaMemcpyKind kind, bool to_array) {
  return [=](Runtime& r) {
    if (to_array ? is_copy_to_host(kind) : is_copy_from_host(kind))
      return cudaErrorInvalidMemcpyDirection;
    const CudaArray* a = r.arrays.find(place.array);
    if (!a) return cudaErrorInvalidResourceHandle;
    if (width > pitch) return cudaErrorInvalidPitchValue;
    const CopyExtent extent{width, height, 1};
    if (!a->contains_box(place.x, place.y, 0, extent)) return cudaErrorInvalidValue;
    const PitchedAddress box = a->box_from_element(place.x, place.y, 0),
                         other = memory_box(pointer, pitch);
    return to_array ? copy(r, box, other, extent, kind) : copy(r, other, box, extent, kind);
  };
}

// Copies bytes between an array and memory; the bytes continue from the end of a row at the next
// row.
Body copy_array_bytes_across_rows(CudaArrayOffset place, void* pointer, size_t count,
                                  cudaMemcpyKind kind, bool to_array) {
  return [=](Runtime& r) {
    if (to_array ? is_copy_to_host(kind) : is_copy_from_host(kind))
      return cudaErrorInvalidMemcpyDirection;
    const CudaArray* a = r.arrays.find(place.array);
    if (!a) return cudaErrorInvalidResourceHandle;
    if (!a->contains_bytes_from(place.x, place.y, count)) return cudaErrorInvalidValue;
    // The rows of an array have no gaps between them.
    const PitchedAddress box = a->box_from_element(place.x, place.y, 0),
                         other = memory_box(pointer);
    const CopyExtent extent{count, 1, 1};
    return to_array ? copy(r, box, other, extent, kind) : copy(r, other, box, extent, kind);
  };
}

Body copy_between_arrays(CudaArrayOffset to, CudaArrayOffset from, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return [=](Runtime& r) {
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    const CudaArray *target = r.arrays.find(to.array), *source = r.arrays.find(from.array);
    if (!target || !source) return cudaErrorInvalidResourceHandle;
    const CopyExtent extent{width, height, 1};
    if (!target->contains_box(to.x, to.y, 0, extent) ||
        !source->contains_box(from.x, from.y, 0, extent))
      return cudaErrorInvalidValue;
    return copy(r, target->box_from_element(to.x, to.y, 0),
                source->box_from_element(from.x, from.y, 0), extent, kind);
  };
}

}  // namespace

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                              cudaMemcpyKind kind) {
  return call("cudaMemcpyToArray", Waits::yes,
              copy_array_bytes_across_rows({to, x, y}, const_cast<void*>(from), bytes, kind, true));
}
LAB32_PER_THREAD(cudaMemcpyToArray, _ptds);

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind) {
  return call("cudaMemcpyFromArray", Waits::yes,
              copy_array_bytes_across_rows({from, x, y}, to, bytes, kind, false));
}
LAB32_PER_THREAD(cudaMemcpyFromArray, _ptds);

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                   size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return run_or_capture_in_stream(
      "cudaMemcpyToArrayAsync", stream,
      copy_array_bytes_across_rows({to, x, y}, const_cast<void*>(from), bytes, kind, true));
}
LAB32_PER_THREAD(cudaMemcpyToArrayAsync, _ptsz);

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return run_or_capture_in_stream(
      "cudaMemcpyFromArrayAsync", stream,
      copy_array_bytes_across_rows({from, x, y}, to, bytes, kind, false));
}
LAB32_PER_THREAD(cudaMemcpyFromArrayAsync, _ptsz);

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                   size_t x, size_t y, size_t bytes, cudaMemcpyKind kind) {
  return call("cudaMemcpyArrayToArray", Waits::yes, [&](Runtime& r) {
    const CudaArray* source = r.arrays.find(from);
    if (!source) return cudaErrorInvalidResourceHandle;
    const PitchedAddress box = source->box_from_element(x, y, 0);
    if (!source->contains_bytes_from(x, y, bytes)) return cudaErrorInvalidValue;
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    return copy_array_bytes_across_rows({to, to_x, to_y}, reinterpret_cast<void*>(box.begin), bytes,
                                        kind, true)(r);
  });
}
LAB32_PER_THREAD(cudaMemcpyArrayToArray, _ptds);

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
  return call(
      "cudaMemcpy2DToArray", Waits::yes,
      copy_array_rows({to, x, y}, const_cast<void*>(from), pitch, width, height, kind, true));
}
LAB32_PER_THREAD(cudaMemcpy2DToArray, _ptds);

cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  return call("cudaMemcpy2DFromArray", Waits::yes,
              copy_array_rows({from, x, y}, to, pitch, width, height, kind, false));
}
LAB32_PER_THREAD(cudaMemcpy2DFromArray, _ptds);

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return run_or_capture_in_stream(
      "cudaMemcpy2DToArrayAsync", stream,
      copy_array_rows({to, x, y}, const_cast<void*>(from), pitch, width, height, kind, true));
}
LAB32_PER_THREAD(cudaMemcpy2DToArrayAsync, _ptsz);

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return run_or_capture_in_stream(
      "cudaMemcpy2DFromArrayAsync", stream,
      copy_array_rows({from, x, y}, to, pitch, width, height, kind, false));
}
LAB32_PER_THREAD(cudaMemcpy2DFromArrayAsync, _ptsz);

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t x, size_t y, size_t width,
                                     size_t height, cudaMemcpyKind kind) {
  return call("cudaMemcpy2DArrayToArray", Waits::yes,
              copy_between_arrays({to, to_x, to_y}, {from, x, y}, width, height, kind));
}
LAB32_PER_THREAD(cudaMemcpy2DArrayToArray, _ptds);
