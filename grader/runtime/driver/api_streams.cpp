// Streams, events, captures: the runtime's functions under the driver's names. Flags and kinds have
// the same numbers in both.

#include "runtime/driver/same.h"

using namespace lab32::driver;

LAB32_SAME("cuStreamCreate", cuStreamCreate, (CUstream * out, unsigned flags),
           cudaStreamCreateWithFlags(out, flags));
LAB32_SAME("cuStreamCreateWithPriority", cuStreamCreateWithPriority,
           (CUstream * out, unsigned flags, int priority),
           cudaStreamCreateWithPriority(out, flags, priority));
LAB32_SAME("cuStreamDestroy", cuStreamDestroy_v2, (CUstream stream), cudaStreamDestroy(stream));
LAB32_SAME("cuStreamDestroy", cuStreamDestroy, (CUstream stream), cudaStreamDestroy(stream));
LAB32_SAME_PER_THREAD("cuStreamSynchronize", cuStreamSynchronize, (CUstream stream),
                      cudaStreamSynchronize(stream));
LAB32_SAME_PER_THREAD("cuStreamQuery", cuStreamQuery, (CUstream stream), cudaStreamQuery(stream));
LAB32_SAME_PER_THREAD("cuStreamWaitEvent", cuStreamWaitEvent,
                      (CUstream stream, CUevent event, unsigned flags),
                      cudaStreamWaitEvent(stream, event, flags));
LAB32_SAME_PER_THREAD("cuStreamGetFlags", cuStreamGetFlags, (CUstream stream, unsigned* flags),
                      cudaStreamGetFlags(stream, flags));
LAB32_SAME_PER_THREAD("cuStreamGetPriority", cuStreamGetPriority, (CUstream stream, int* priority),
                      cudaStreamGetPriority(stream, priority));
LAB32_SAME_PER_THREAD("cuStreamGetId", cuStreamGetId, (CUstream stream, unsigned long long* id),
                      cudaStreamGetId(stream, id));
LAB32_SAME_PER_THREAD("cuStreamGetDevice", cuStreamGetDevice, (CUstream stream, CUdevice* device),
                      cudaStreamGetDevice(stream, device));
// CUstreamAttrValue and cudaStreamAttrValue are one type under two names.
static_assert(sizeof(CUstreamAttrValue) == sizeof(cudaStreamAttrValue));
LAB32_SAME_PER_THREAD("cuStreamSetAttribute", cuStreamSetAttribute,
                      (CUstream stream, CUstreamAttrID id, const CUstreamAttrValue* value),
                      cudaStreamSetAttribute(stream, static_cast<cudaStreamAttrID>(id),
                                             reinterpret_cast<const cudaStreamAttrValue*>(value)));
LAB32_SAME_PER_THREAD("cuStreamGetAttribute", cuStreamGetAttribute,
                      (CUstream stream, CUstreamAttrID id, CUstreamAttrValue* value),
                      cudaStreamGetAttribute(stream, static_cast<cudaStreamAttrID>(id),
                                             reinterpret_cast<cudaStreamAttrValue*>(value)));
LAB32_SAME_PER_THREAD("cuStreamCopyAttributes", cuStreamCopyAttributes,
                      (CUstream to, CUstream from), cudaStreamCopyAttributes(to, from));
LAB32_SAME_PER_THREAD("cuStreamAttachMemAsync", cuStreamAttachMemAsync,
                      (CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags),
                      cudaStreamAttachMemAsync(stream, reinterpret_cast<void*>(address), bytes,
                                               flags));
LAB32_SAME_PER_THREAD("cuLaunchHostFunc", cuLaunchHostFunc,
                      (CUstream stream, CUhostFn function, void* data),
                      cudaLaunchHostFunc(stream, function, data));
// CUresult and cudaError_t are both an int with the same numbers.
LAB32_SAME_PER_THREAD("cuStreamAddCallback", cuStreamAddCallback,
                      (CUstream stream, CUstreamCallback function, void* data, unsigned flags),
                      cudaStreamAddCallback(stream,
                                            reinterpret_cast<cudaStreamCallback_t>(function), data,
                                            flags));

CUresult cuStreamGetCtx(CUstream stream, CUcontext* out) {
  return call("cuStreamGetCtx", [&](Runtime& r) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!r.streams.knows(stream)) return CUDA_ERROR_INVALID_HANDLE;
    *out = r.streams.is_default(stream) ? lab32::cudart::Contexts::current() : stream->context;
    return CUDA_SUCCESS;
  });
}
LAB32_PER_THREAD(cuStreamGetCtx, _ptsz);

LAB32_SAME("cuEventCreate", cuEventCreate, (CUevent * out, unsigned flags),
           cudaEventCreateWithFlags(out, flags));
LAB32_SAME("cuEventDestroy", cuEventDestroy_v2, (CUevent event), cudaEventDestroy(event));
LAB32_SAME("cuEventDestroy", cuEventDestroy, (CUevent event), cudaEventDestroy(event));
LAB32_SAME_PER_THREAD("cuEventRecord", cuEventRecord, (CUevent event, CUstream stream),
                      cudaEventRecord(event, stream));
LAB32_SAME_PER_THREAD("cuEventRecordWithFlags", cuEventRecordWithFlags,
                      (CUevent event, CUstream stream, unsigned flags),
                      cudaEventRecordWithFlags(event, stream, flags));
LAB32_SAME("cuEventQuery", cuEventQuery, (CUevent event), cudaEventQuery(event));
LAB32_SAME("cuEventSynchronize", cuEventSynchronize, (CUevent event), cudaEventSynchronize(event));
LAB32_SAME("cuEventElapsedTime", cuEventElapsedTime, (float* ms, CUevent start, CUevent end),
           cudaEventElapsedTime(ms, start, end));
LAB32_SAME("cuEventElapsedTime", cuEventElapsedTime_v2, (float* ms, CUevent start, CUevent end),
           cudaEventElapsedTime(ms, start, end));

LAB32_SAME_PER_THREAD("cuStreamBeginCapture", cuStreamBeginCapture_v2,
                      (CUstream stream, CUstreamCaptureMode mode),
                      cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode)));
LAB32_SAME_PER_THREAD("cuStreamEndCapture", cuStreamEndCapture, (CUstream stream, CUgraph* graph),
                      cudaStreamEndCapture(stream, graph));
LAB32_SAME_PER_THREAD("cuStreamIsCapturing", cuStreamIsCapturing,
                      (CUstream stream, CUstreamCaptureStatus* status),
                      cudaStreamIsCapturing(stream,
                                            reinterpret_cast<cudaStreamCaptureStatus*>(status)));
LAB32_SAME_PER_THREAD(
    "cuStreamGetCaptureInfo", cuStreamGetCaptureInfo_v3,
    (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
     const CUgraphNode** dependencies, const CUgraphEdgeData** edges, size_t* count),
    cudaStreamGetCaptureInfo(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status),
                             reinterpret_cast<unsigned long long*>(id), graph, dependencies,
                             reinterpret_cast<const cudaGraphEdgeData**>(edges), count));
LAB32_SAME_PER_THREAD("cuStreamGetCaptureInfo", cuStreamGetCaptureInfo_v2,
                      (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                       CUgraph* graph, const CUgraphNode** dependencies, size_t* count),
                      cudaStreamGetCaptureInfo(stream,
                                               reinterpret_cast<cudaStreamCaptureStatus*>(status),
                                               reinterpret_cast<unsigned long long*>(id), graph,
                                               dependencies, nullptr, count));
LAB32_SAME_PER_THREAD("cuStreamBeginCaptureToGraph", cuStreamBeginCaptureToGraph,
                      (CUstream stream, CUgraph graph, const CUgraphNode* nodes,
                       const CUgraphEdgeData* edges, size_t count, CUstreamCaptureMode mode),
                      cudaStreamBeginCaptureToGraph(
                          stream, graph, nodes, reinterpret_cast<const cudaGraphEdgeData*>(edges),
                          count, static_cast<cudaStreamCaptureMode>(mode)));
LAB32_SAME_PER_THREAD("cuStreamUpdateCaptureDependencies", cuStreamUpdateCaptureDependencies_v2,
                      (CUstream stream, CUgraphNode* nodes, const CUgraphEdgeData* edges,
                       size_t count, unsigned flags),
                      cudaStreamUpdateCaptureDependencies(
                          stream, nodes, reinterpret_cast<const cudaGraphEdgeData*>(edges), count,
                          flags));
LAB32_SAME_PER_THREAD("cuStreamUpdateCaptureDependencies", cuStreamUpdateCaptureDependencies,
                      (CUstream stream, CUgraphNode* nodes, size_t count, unsigned flags),
                      cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags));
LAB32_SAME("cuThreadExchangeStreamCaptureMode", cuThreadExchangeStreamCaptureMode,
           (CUstreamCaptureMode * mode),
           cudaThreadExchangeStreamCaptureMode(reinterpret_cast<cudaStreamCaptureMode*>(mode)));
