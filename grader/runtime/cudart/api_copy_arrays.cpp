// Copies to, from and between CUDA arrays.

#include <algorithm>

#include "runtime/cudart/call.h"
#include "runtime/cudart/copy.h"

// The toolkit calls those without a pitch deprecated; programs call them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace lab32::cudart;

namespace {

// A place in an array: bytes along x, rows.
struct Place {
  cudaArray_const_t array;
  size_t x, y;
};

bool to_host(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
}
bool from_host(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
}

Box plain(const void* pointer, size_t pitch = 0) {
  return {reinterpret_cast<uint64_t>(pointer), pitch, 0};
}

// Rows between an array and memory.
Body rows(Place place, void* pointer, size_t pitch, size_t width, size_t height,
          cudaMemcpyKind kind, bool to_array) {
  return [=](Runtime& r) {
    if (to_array ? to_host(kind) : from_host(kind)) return cudaErrorInvalidMemcpyDirection;
    const Array* a = r.arrays.find(place.array);
    if (!a) return cudaErrorInvalidResourceHandle;
    if (width > pitch) return cudaErrorInvalidPitchValue;
    const Extent extent{width, height, 1};
    if (!a->holds(place.x, place.y, 0, extent)) return cudaErrorInvalidValue;
    const Box box = a->box(place.x, place.y, 0), other = plain(pointer, pitch);
    return to_array ? copy(r, box, other, extent, kind) : copy(r, other, box, extent, kind);
  };
}

// Bytes one behind the other, from row to row, between an array and memory.
Body bytes_of(Place place, void* pointer, size_t count, cudaMemcpyKind kind, bool to_array) {
  return [=](Runtime& r) {
    if (to_array ? to_host(kind) : from_host(kind)) return cudaErrorInvalidMemcpyDirection;
    const Array* a = r.arrays.find(place.array);
    if (!a) return cudaErrorInvalidResourceHandle;
    if (!a->holds_from(place.x, place.y, count)) return cudaErrorInvalidValue;
    // The rows of an array lie without gaps.
    const Box box = a->box(place.x, place.y, 0), other = plain(pointer);
    const Extent extent{count, 1, 1};
    return to_array ? copy(r, box, other, extent, kind) : copy(r, other, box, extent, kind);
  };
}

Body between(Place to, Place from, size_t width, size_t height, cudaMemcpyKind kind) {
  return [=](Runtime& r) {
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    const Array *target = r.arrays.find(to.array), *source = r.arrays.find(from.array);
    if (!target || !source) return cudaErrorInvalidResourceHandle;
    const Extent extent{width, height, 1};
    if (!target->holds(to.x, to.y, 0, extent) || !source->holds(from.x, from.y, 0, extent))
      return cudaErrorInvalidValue;
    return copy(r, target->box(to.x, to.y, 0), source->box(from.x, from.y, 0), extent, kind);
  };
}

}  // namespace

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                              cudaMemcpyKind kind) {
  return call("cudaMemcpyToArray", Waits::yes,
              bytes_of({to, x, y}, const_cast<void*>(from), bytes, kind, true));
}
LAB32_PER_THREAD(cudaMemcpyToArray, _ptds);

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind) {
  return call("cudaMemcpyFromArray", Waits::yes, bytes_of({from, x, y}, to, bytes, kind, false));
}
LAB32_PER_THREAD(cudaMemcpyFromArray, _ptds);

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                   size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return in_stream("cudaMemcpyToArrayAsync", stream,
                   bytes_of({to, x, y}, const_cast<void*>(from), bytes, kind, true));
}
LAB32_PER_THREAD(cudaMemcpyToArrayAsync, _ptsz);

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return in_stream("cudaMemcpyFromArrayAsync", stream,
                   bytes_of({from, x, y}, to, bytes, kind, false));
}
LAB32_PER_THREAD(cudaMemcpyFromArrayAsync, _ptsz);

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                   size_t x, size_t y, size_t bytes, cudaMemcpyKind kind) {
  return call("cudaMemcpyArrayToArray", Waits::yes, [&](Runtime& r) {
    const Array* source = r.arrays.find(from);
    if (!source) return cudaErrorInvalidResourceHandle;
    const Box box = source->box(x, y, 0);
    if (!source->holds_from(x, y, bytes)) return cudaErrorInvalidValue;
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    return bytes_of({to, to_x, to_y}, reinterpret_cast<void*>(box.begin), bytes, kind, true)(r);
  });
}
LAB32_PER_THREAD(cudaMemcpyArrayToArray, _ptds);

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
  return call("cudaMemcpy2DToArray", Waits::yes,
              rows({to, x, y}, const_cast<void*>(from), pitch, width, height, kind, true));
}
LAB32_PER_THREAD(cudaMemcpy2DToArray, _ptds);

cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  return call("cudaMemcpy2DFromArray", Waits::yes,
              rows({from, x, y}, to, pitch, width, height, kind, false));
}
LAB32_PER_THREAD(cudaMemcpy2DFromArray, _ptds);

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return in_stream("cudaMemcpy2DToArrayAsync", stream,
                   rows({to, x, y}, const_cast<void*>(from), pitch, width, height, kind, true));
}
LAB32_PER_THREAD(cudaMemcpy2DToArrayAsync, _ptsz);

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return in_stream("cudaMemcpy2DFromArrayAsync", stream,
                   rows({from, x, y}, to, pitch, width, height, kind, false));
}
LAB32_PER_THREAD(cudaMemcpy2DFromArrayAsync, _ptsz);

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t x, size_t y, size_t width,
                                     size_t height, cudaMemcpyKind kind) {
  return call("cudaMemcpy2DArrayToArray", Waits::yes,
              between({to, to_x, to_y}, {from, x, y}, width, height, kind));
}
LAB32_PER_THREAD(cudaMemcpy2DArrayToArray, _ptds);
