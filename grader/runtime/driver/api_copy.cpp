// The driver's functions that copy and fill.

#include "runtime/cudart/copy.h"
#include "runtime/cudart/graph_work.h"
#include "runtime/driver/call.h"

using namespace lab32::driver;
using lab32::cudart::Body;
using lab32::cudart::CopyExtent;
using lab32::cudart::DriverCallScope;
using lab32::cudart::PitchedAddress;

namespace {

CUresult run_synchronously(const char* name, Waits waits, const Body& body) {
  return forward_to_runtime(name, [&] { return lab32::cudart::call(name, waits, body); });
}

CUresult run_or_capture_as_driver(const char* name, CUstream stream, const Body& body,
                                  cudaGraphNodeType type = cudaGraphNodeTypeMemcpy) {
  return forward_to_runtime(
      name, [&] { return lab32::cudart::run_or_capture_in_stream(name, stream, body, type); });
}

Body copy_bytes(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return [=](Runtime& r) { return lab32::cudart::copy(r, to, from, bytes, kind); };
}

// Checks that both contexts exist. The addresses alone determine which memory is meant.
Body wrap_with_context_check(CUcontext to, CUcontext from, const Body& body) {
  return [=](Runtime& r) {
    return r.contexts.knows(to) && r.contexts.knows(from) ? body(r) : cudaErrorDeviceUninitialized;
  };
}

// One side of a two- or three-dimensional copy; both kinds of descriptions are converted to it.
struct CopySide {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  size_t x, y, z, pitch, rows;  // x and pitch in bytes; `rows`: of a slice
};

// The box's array is null if the side is memory.
cudaError_t box_of_side(Runtime& r, const CopySide& s, const CopyExtent& e, PitchedAddress* box) {
  if (s.type == CU_MEMORYTYPE_ARRAY) {
    const auto* array = r.arrays.find(reinterpret_cast<cudaArray_const_t>(s.array));
    if (!array) return cudaErrorInvalidResourceHandle;
    if (!array->contains_box(s.x, s.y, s.z, e)) return cudaErrorInvalidValue;
    *box = array->box_from_element(s.x, s.y, s.z);
    return cudaSuccess;
  }
  if (s.type != CU_MEMORYTYPE_HOST && s.type != CU_MEMORYTYPE_DEVICE &&
      s.type != CU_MEMORYTYPE_UNIFIED)
    return cudaErrorInvalidValue;
  const uint64_t begin =
      s.type == CU_MEMORYTYPE_HOST ? reinterpret_cast<uint64_t>(s.host) : uint64_t{s.device};
  const uint64_t pitch = s.pitch ? s.pitch : s.x + e.width;
  if (pitch < s.x + e.width) return cudaErrorInvalidValue;
  const uint64_t slice = pitch * (s.rows ? s.rows : s.y + e.height);
  *box = {begin + s.z * slice + s.y * pitch + s.x, pitch, slice};
  return cudaSuccess;
}

bool is_host(CUmemorytype type) { return type == CU_MEMORYTYPE_HOST; }

cudaMemcpyKind copy_kind_of(CUmemorytype to, CUmemorytype from) {
  if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  if (is_host(to)) return is_host(from) ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
  return is_host(from) ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

Body copy_boxes(const CopySide& to, const CopySide& from, const CopyExtent& extent) {
  return [=](Runtime& r) {
    PitchedAddress target, source;
    if (const cudaError_t e = box_of_side(r, to, extent, &target)) return e;
    if (const cudaError_t e = box_of_side(r, from, extent, &source)) return e;
    return lab32::cudart::copy(r, target, source, extent, copy_kind_of(to.type, from.type));
  };
}

Body copy_rows(const CUDA_MEMCPY2D* p) {
  if (!p) return [](Runtime&) { return cudaErrorInvalidValue; };
  return copy_boxes({p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes,
                     p->dstY, 0, p->dstPitch, 0},
                    {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes,
                     p->srcY, 0, p->srcPitch, 0},
                    {p->WidthInBytes, p->Height, 1});
}

Body copy_slices(const CUDA_MEMCPY3D* p) {
  if (!p || p->srcLOD || p->dstLOD) return [](Runtime&) { return cudaErrorInvalidValue; };
  return copy_boxes({p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes,
                     p->dstY, p->dstZ, p->dstPitch, p->dstHeight},
                    {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes,
                     p->srcY, p->srcZ, p->srcPitch, p->srcHeight},
                    {p->WidthInBytes, p->Height, p->Depth});
}

// Copies bytes between an array and memory, where the array's bytes continue from row to row.
Body copy_array_bytes(CUarray array, size_t offset, void* other, size_t bytes, bool to_array,
                      cudaMemcpyKind kind) {
  return [=](Runtime& r) {
    const auto* own = r.arrays.find(reinterpret_cast<cudaArray_const_t>(array));
    if (!own) return cudaErrorInvalidResourceHandle;
    const uint64_t all = own->row_bytes() * std::max<uint64_t>(1, own->grid.height);
    if (offset > all || bytes > all - offset) return cudaErrorInvalidValue;
    void* at = pointer(own->box_from_element(0, 0, 0).begin + offset);
    return to_array ? lab32::cudart::copy(r, at, other, bytes, kind)
                    : lab32::cudart::copy(r, other, at, bytes, kind);
  };
}

// Fills with elements of 1, 2 or 4 bytes. The pitch is in bytes, the width in elements.
Body fill_box(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width,
              size_t height) {
  return [=](Runtime& r) {
    if (to % element != 0 || (height > 1 && pitch % element != 0)) return cudaErrorInvalidValue;
    return lab32::cudart::fill(r, {to, pitch, 0}, {width * element, height, 1}, value, element);
  };
}

}  // namespace

#define LAB32_COPY(name, symbol, waits, parameters, ...)                                    \
  CUresult symbol parameters { return run_synchronously(name, Waits::waits, __VA_ARGS__); } \
  LAB32_PER_THREAD(symbol, _ptds)
#define LAB32_COPY_ASYNC(name, symbol, parameters, ...)                                      \
  CUresult symbol parameters { return run_or_capture_as_driver(name, stream, __VA_ARGS__); } \
  LAB32_PER_THREAD(symbol, _ptsz)
#define LAB32_FILL(name, symbol, parameters, ...)                                        \
  CUresult symbol parameters { return run_synchronously(name, Waits::no, __VA_ARGS__); } \
  LAB32_PER_THREAD(symbol, _ptds)
#define LAB32_FILL_ASYNC(name, symbol, parameters, ...)                                  \
  CUresult symbol parameters {                                                           \
    return run_or_capture_as_driver(name, stream, __VA_ARGS__, cudaGraphNodeTypeMemset); \
  }                                                                                      \
  LAB32_PER_THREAD(symbol, _ptsz)

LAB32_COPY("cuMemcpy", cuMemcpy, yes, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
           copy_bytes(pointer(to), pointer(from), bytes, cudaMemcpyDefault));
LAB32_COPY("cuMemcpyHtoD", cuMemcpyHtoD_v2, yes, (CUdeviceptr to, const void* from, size_t bytes),
           copy_bytes(pointer(to), from, bytes, cudaMemcpyHostToDevice));
LAB32_COPY("cuMemcpyDtoH", cuMemcpyDtoH_v2, yes, (void* to, CUdeviceptr from, size_t bytes),
           copy_bytes(to, pointer(from), bytes, cudaMemcpyDeviceToHost));
// A copy within the device does not wait.
LAB32_COPY("cuMemcpyDtoD", cuMemcpyDtoD_v2, no, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
           copy_bytes(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice));
LAB32_COPY("cuMemcpyPeer", cuMemcpyPeer, no,
           (CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here, size_t bytes),
           wrap_with_context_check(there, here,
                                   copy_bytes(pointer(to), pointer(from), bytes,
                                              cudaMemcpyDeviceToDevice)));
LAB32_COPY("cuMemcpy2D", cuMemcpy2D_v2, yes, (const CUDA_MEMCPY2D* p), copy_rows(p));
LAB32_COPY("cuMemcpy2DUnaligned", cuMemcpy2DUnaligned_v2, yes, (const CUDA_MEMCPY2D* p),
           copy_rows(p));
LAB32_COPY("cuMemcpy3D", cuMemcpy3D_v2, yes, (const CUDA_MEMCPY3D* p), copy_slices(p));
LAB32_COPY("cuMemcpyHtoA", cuMemcpyHtoA_v2, yes,
           (CUarray to, size_t offset, const void* from, size_t bytes),
           copy_array_bytes(to, offset, const_cast<void*>(from), bytes, true,
                            cudaMemcpyHostToDevice));
LAB32_COPY("cuMemcpyAtoH", cuMemcpyAtoH_v2, yes,
           (void* to, CUarray from, size_t offset, size_t bytes),
           copy_array_bytes(from, offset, to, bytes, false, cudaMemcpyDeviceToHost));
LAB32_COPY("cuMemcpyDtoA", cuMemcpyDtoA_v2, no,
           (CUarray to, size_t offset, CUdeviceptr from, size_t bytes),
           copy_array_bytes(to, offset, pointer(from), bytes, true, cudaMemcpyDeviceToDevice));
LAB32_COPY("cuMemcpyAtoD", cuMemcpyAtoD_v2, no,
           (CUdeviceptr to, CUarray from, size_t offset, size_t bytes),
           copy_array_bytes(from, offset, pointer(to), bytes, false, cudaMemcpyDeviceToDevice));

LAB32_COPY_ASYNC("cuMemcpyAsync", cuMemcpyAsync,
                 (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
                 copy_bytes(pointer(to), pointer(from), bytes, cudaMemcpyDefault));
LAB32_COPY_ASYNC("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync_v2,
                 (CUdeviceptr to, const void* from, size_t bytes, CUstream stream),
                 copy_bytes(pointer(to), from, bytes, cudaMemcpyHostToDevice));
LAB32_COPY_ASYNC("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync_v2,
                 (void* to, CUdeviceptr from, size_t bytes, CUstream stream),
                 copy_bytes(to, pointer(from), bytes, cudaMemcpyDeviceToHost));
LAB32_COPY_ASYNC("cuMemcpyDtoDAsync", cuMemcpyDtoDAsync_v2,
                 (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
                 copy_bytes(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice));
LAB32_COPY_ASYNC("cuMemcpyPeerAsync", cuMemcpyPeerAsync,
                 (CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here, size_t bytes,
                  CUstream stream),
                 wrap_with_context_check(there, here,
                                         copy_bytes(pointer(to), pointer(from), bytes,
                                                    cudaMemcpyDeviceToDevice)));
LAB32_COPY_ASYNC("cuMemcpy2DAsync", cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D* p, CUstream stream),
                 copy_rows(p));
LAB32_COPY_ASYNC("cuMemcpy3DAsync", cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D* p, CUstream stream),
                 copy_slices(p));
LAB32_COPY_ASYNC("cuMemcpyHtoAAsync", cuMemcpyHtoAAsync_v2,
                 (CUarray to, size_t offset, const void* from, size_t bytes, CUstream stream),
                 copy_array_bytes(to, offset, const_cast<void*>(from), bytes, true,
                                  cudaMemcpyHostToDevice));
LAB32_COPY_ASYNC("cuMemcpyAtoHAsync", cuMemcpyAtoHAsync_v2,
                 (void* to, CUarray from, size_t offset, size_t bytes, CUstream stream),
                 copy_array_bytes(from, offset, to, bytes, false, cudaMemcpyDeviceToHost));

LAB32_FILL("cuMemsetD8", cuMemsetD8_v2, (CUdeviceptr to, unsigned char value, size_t count),
           fill_box(to, 0, value, 1, count, 1));
LAB32_FILL("cuMemsetD16", cuMemsetD16_v2, (CUdeviceptr to, unsigned short value, size_t count),
           fill_box(to, 0, value, 2, count, 1));
LAB32_FILL("cuMemsetD32", cuMemsetD32_v2, (CUdeviceptr to, unsigned value, size_t count),
           fill_box(to, 0, value, 4, count, 1));
LAB32_FILL("cuMemsetD2D8", cuMemsetD2D8_v2,
           (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height),
           fill_box(to, pitch, value, 1, width, height));
LAB32_FILL("cuMemsetD2D16", cuMemsetD2D16_v2,
           (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height),
           fill_box(to, pitch, value, 2, width, height));
LAB32_FILL("cuMemsetD2D32", cuMemsetD2D32_v2,
           (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height),
           fill_box(to, pitch, value, 4, width, height));
LAB32_FILL_ASYNC("cuMemsetD8Async", cuMemsetD8Async,
                 (CUdeviceptr to, unsigned char value, size_t count, CUstream stream),
                 fill_box(to, 0, value, 1, count, 1));
LAB32_FILL_ASYNC("cuMemsetD16Async", cuMemsetD16Async,
                 (CUdeviceptr to, unsigned short value, size_t count, CUstream stream),
                 fill_box(to, 0, value, 2, count, 1));
LAB32_FILL_ASYNC("cuMemsetD32Async", cuMemsetD32Async,
                 (CUdeviceptr to, unsigned value, size_t count, CUstream stream),
                 fill_box(to, 0, value, 4, count, 1));
LAB32_FILL_ASYNC("cuMemsetD2D8Async", cuMemsetD2D8Async,
                 (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                  CUstream stream),
                 fill_box(to, pitch, value, 1, width, height));
LAB32_FILL_ASYNC("cuMemsetD2D16Async", cuMemsetD2D16Async,
                 (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                  CUstream stream),
                 fill_box(to, pitch, value, 2, width, height));
LAB32_FILL_ASYNC("cuMemsetD2D32Async", cuMemsetD2D32Async,
                 (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                  CUstream stream),
                 fill_box(to, pitch, value, 4, width, height));

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                              size_t count, const CUDA_MEMCPY3D* p, CUcontext) {
  constexpr const char* kName = "cuGraphAddMemcpyNode";
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  return forward_to_runtime(kName, [&] {
    return lab32::cudart::add_node(kName, node, graph, from, count, cudaGraphNodeTypeMemcpy,
                                   [&](Runtime&, lab32::cudart::NodeWork* work) {
                                     *work = lab32::cudart::work_on_current_device(copy_slices(p));
                                     return cudaSuccess;
                                   });
  });
}
