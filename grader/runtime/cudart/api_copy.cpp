// Copies and fills in one to three dimensions, and copies to and from symbols.

#include <utility>

#include "base/error.h"
#include "runtime/cudart/call.h"
#include "runtime/cudart/copy.h"
#include "runtime/cudart/graph_work.h"

using namespace lab32::cudart;

namespace {

PitchedAddress box_at(const void* begin, size_t pitch = 0, size_t slice = 0) {
  return {reinterpret_cast<uint64_t>(begin), pitch, slice};
}

Body copy_bytes(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return [=](Runtime& r) { return copy(r, to, from, bytes, kind); };
}

Body copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
               size_t height, cudaMemcpyKind kind) {
  return [=](Runtime& r) {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    return copy(r, box_at(to, to_pitch), box_at(from, from_pitch), {width, height, 1}, kind);
  };
}

Body copy_slices(const cudaMemcpy3DParms* p) {
  if (!p) return [](Runtime&) { return cudaErrorInvalidValue; };
  return [p = *p](Runtime& r) { return copy(r, p); };
}

// Checks the device numbers and calls `body`. The numbers have no other effect, because addresses
// alone determine which memory is meant.
Body with_valid_devices(int to, int from, const Body& body) {
  return [=](Runtime& r) {
    return r.has_device(to) && r.has_device(from) ? body(r) : cudaErrorInvalidDevice;
  };
}

Body copy_bytes_between_devices(void* to, const void* from, size_t bytes) {
  return copy_bytes(to, from, bytes, cudaMemcpyDeviceToDevice);
}

Body copy_slices(const cudaMemcpy3DPeerParms* p) {
  if (!p) return [](Runtime&) { return cudaErrorInvalidValue; };
  const cudaMemcpy3DParms same{p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                               p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
  return with_valid_devices(p->dstDevice, p->srcDevice, copy_slices(&same));
}

Body fill_box(void* to, size_t pitch, size_t slice, int value, const CopyExtent& extent) {
  return [=](Runtime& r) {
    return fill(r, box_at(to, pitch, slice), extent, static_cast<unsigned>(value));
  };
}

// Calls `body` with the address of the symbol's bytes.
Body with_symbol_address(const void* symbol, size_t bytes, size_t offset,
                         const std::function<cudaError_t(Runtime&, void*)>& body) {
  return [=](Runtime& r) {
    const VariableEntry* variable = r.registry.find_variable(symbol);
    if (!variable) return cudaErrorInvalidSymbol;
    const lab32::device::DeviceAddressRange where = r.registry.locate_variable(*variable);
    if (offset > where.bytes || bytes > where.bytes - offset) return cudaErrorInvalidValue;
    return body(r, reinterpret_cast<void*>(where.address + offset));
  };
}

Body copy_to_symbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                    cudaMemcpyKind kind) {
  return with_symbol_address(symbol, bytes, offset, [=](Runtime& r, void* at) {
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
      return cudaErrorInvalidMemcpyDirection;
    return copy(r, at, from, bytes, kind);
  });
}

Body copy_from_symbol(void* to, const void* symbol, size_t bytes, size_t offset,
                      cudaMemcpyKind kind) {
  return with_symbol_address(symbol, bytes, offset, [=](Runtime& r, void* at) {
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
      return cudaErrorInvalidMemcpyDirection;
    return copy(r, to, at, bytes, kind);
  });
}

}  // namespace

namespace lab32::cudart {

cudaError_t run_or_capture_in_stream(const char* name, cudaStream_t stream, const Body& body,
                                     cudaGraphNodeType type, NodeWork::NodeParameters given) {
  return call(name, Waits::no, [&](Runtime& r) {
    if (!r.streams.knows(stream)) return cudaErrorInvalidResourceHandle;
    if (!r.captures.captures(stream)) {
      // A fill runs on the stream's device; a copy resolves its addresses on the current device.
      const bool fills = type == cudaGraphNodeTypeMemset;
      const DeviceScope on(r, fills ? r.streams.device(stream) : r.gpu().number);
      return body(r);
    }
    NodeWork work = work_on_current_device(body);
    work.given = std::move(given);
    return r.captures.add(stream, type, std::move(work));
  });
}

}  // namespace lab32::cudart

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return call("cudaMemcpy", Waits::yes, copy_bytes(to, from, bytes, kind));
}
LAB32_PER_THREAD(cudaMemcpy, _ptds);

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return run_or_capture_in_stream("cudaMemcpyAsync", stream, copy_bytes(to, from, bytes, kind));
}
LAB32_PER_THREAD(cudaMemcpyAsync, _ptsz);

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t bytes) {
  return call(
      "cudaMemcpyPeer", Waits::yes,
      with_valid_devices(to_device, from_device, copy_bytes_between_devices(to, from, bytes)));
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t bytes, cudaStream_t stream) {
  return run_or_capture_in_stream(
      "cudaMemcpyPeerAsync", stream,
      with_valid_devices(to_device, from_device, copy_bytes_between_devices(to, from, bytes)));
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
  return call("cudaMemcpy3DPeer", Waits::yes, copy_slices(p));
}
LAB32_PER_THREAD(cudaMemcpy3DPeer, _ptds);

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return run_or_capture_in_stream("cudaMemcpy3DPeerAsync", stream, copy_slices(p));
}
LAB32_PER_THREAD(cudaMemcpy3DPeerAsync, _ptsz);

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return call("cudaMemcpy2D", Waits::yes,
              copy_rows(to, to_pitch, from, from_pitch, width, height, kind));
}
LAB32_PER_THREAD(cudaMemcpy2D, _ptds);

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return run_or_capture_in_stream("cudaMemcpy2DAsync", stream,
                                  copy_rows(to, to_pitch, from, from_pitch, width, height, kind));
}
LAB32_PER_THREAD(cudaMemcpy2DAsync, _ptsz);

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  return call("cudaMemcpy3D", Waits::yes, copy_slices(p));
}
LAB32_PER_THREAD(cudaMemcpy3D, _ptds);

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return run_or_capture_in_stream("cudaMemcpy3DAsync", stream, copy_slices(p));
}
LAB32_PER_THREAD(cudaMemcpy3DAsync, _ptsz);

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  return call("cudaMemcpyToSymbol", Waits::yes, copy_to_symbol(symbol, from, bytes, offset, kind));
}
LAB32_PER_THREAD(cudaMemcpyToSymbol, _ptds);

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return run_or_capture_in_stream("cudaMemcpyToSymbolAsync", stream,
                                  copy_to_symbol(symbol, from, bytes, offset, kind));
}
LAB32_PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz);

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind) {
  return call("cudaMemcpyFromSymbol", Waits::yes,
              copy_from_symbol(to, symbol, bytes, offset, kind));
}
LAB32_PER_THREAD(cudaMemcpyFromSymbol, _ptds);

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return run_or_capture_in_stream("cudaMemcpyFromSymbolAsync", stream,
                                  copy_from_symbol(to, symbol, bytes, offset, kind));
}
LAB32_PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz);

cudaError_t cudaGetSymbolAddress(void** out, const void* symbol) {
  return call("cudaGetSymbolAddress", Waits::no,
              with_symbol_address(symbol, 0, 0, [=](Runtime&, void* at) {
                if (!out) return cudaErrorInvalidValue;
                *out = at;
                return cudaSuccess;
              }));
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return call("cudaGetSymbolSize", Waits::no, [&](Runtime& r) {
    const VariableEntry* variable = r.registry.find_variable(symbol);
    if (!variable) return cudaErrorInvalidSymbol;
    if (!bytes) return cudaErrorInvalidValue;
    *bytes = variable->bytes;
    return cudaSuccess;
  });
}

// cudaMemset of device memory does not wait, although its name has no Async.
cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return call("cudaMemset", Waits::no, fill_box(to, 0, 0, value, {bytes, 1, 1}));
}
LAB32_PER_THREAD(cudaMemset, _ptds);

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  const cudaMemsetParams given{to, 0, static_cast<unsigned char>(value), 1, bytes, 1};
  return run_or_capture_in_stream("cudaMemsetAsync", stream,
                                  fill_box(to, 0, 0, value, {bytes, 1, 1}), cudaGraphNodeTypeMemset,
                                  given);
}
LAB32_PER_THREAD(cudaMemsetAsync, _ptsz);

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return call("cudaMemset2D", Waits::no, fill_box(to, pitch, 0, value, {width, height, 1}));
}
LAB32_PER_THREAD(cudaMemset2D, _ptds);

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return run_or_capture_in_stream("cudaMemset2DAsync", stream,
                                  fill_box(to, pitch, 0, value, {width, height, 1}),
                                  cudaGraphNodeTypeMemset);
}
LAB32_PER_THREAD(cudaMemset2DAsync, _ptsz);

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent e) {
  return call("cudaMemset3D", Waits::no,
              fill_box(to.ptr, to.pitch, to.pitch * to.ysize, value, {e.width, e.height, e.depth}));
}
LAB32_PER_THREAD(cudaMemset3D, _ptds);

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent e, cudaStream_t stream) {
  return run_or_capture_in_stream(
      "cudaMemset3DAsync", stream,
      fill_box(to.ptr, to.pitch, to.pitch * to.ysize, value, {e.width, e.height, e.depth}),
      cudaGraphNodeTypeMemset);
}
LAB32_PER_THREAD(cudaMemset3DAsync, _ptsz);
