// Streams whose work becomes a graph.

#include "runtime/cudart/call.h"

using namespace lab32::cudart;

namespace {

cudaError_t with_stream(const char* name, cudaStream_t stream,
                        const std::function<cudaError_t(Runtime&)>& body) {
  return call(name, Waits::no, [&](Runtime& r) {
    return r.streams.knows(stream) ? body(r) : cudaErrorInvalidResourceHandle;
  });
}

}  // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return with_stream("cudaStreamBeginCapture", stream, [&](Runtime& r) {
    if (stream == nullptr || stream == cudaStreamLegacy) return cudaErrorStreamCaptureUnsupported;
    return r.captures.begin(stream, mode);
  });
}
LAB32_PER_THREAD(cudaStreamBeginCapture, _ptsz);

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return with_stream("cudaStreamEndCapture", stream, [&](Runtime& r) {
    cudaGraph_t ended = nullptr;
    // Who has the graph already needs not be given it.
    if (!graph && !r.captures.is_into_given(stream)) return cudaErrorInvalidValue;
    return r.captures.end(stream, graph ? graph : &ended);
  });
}
LAB32_PER_THREAD(cudaStreamEndCapture, _ptsz);

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return with_stream("cudaStreamIsCapturing", stream, [&](Runtime& r) {
    if (!status) return cudaErrorInvalidValue;
    *status = r.captures.status(stream);
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaStreamIsCapturing, _ptsz);

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  return with_stream("cudaStreamGetCaptureInfo", stream, [&](Runtime& r) {
    if (!status) return cudaErrorInvalidValue;
    *status = r.captures.status(stream);
    if (*status == cudaStreamCaptureStatusNone) return cudaSuccess;
    const auto& last = r.captures.last(stream);
    if (id) *id = r.captures.id(stream);
    if (graph) *graph = r.captures.graph(stream);
    if (dependencies) *dependencies = last.data();
    if (edges) *edges = nullptr;
    if (count) *count = last.size();
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaStreamGetCaptureInfo, _ptsz);

// Which calls are unsafe while another thread captures: here none is, since work is done at once.
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call("cudaThreadExchangeStreamCaptureMode", Waits::no, [&](Runtime&) {
    thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    if (!mode) return cudaErrorInvalidValue;
    std::swap(current, *mode);
    return cudaSuccess;
  });
}
