// The driver's functions of graphs, streams, events and captures. Almost all call the runtime's
// functions.

#include <cstddef>
#include <cstring>

#include "base/error.h"
#include "runtime/driver/call.h"

using namespace lab32::driver;

namespace {

template <class Parameters>
cudaKernelNodeParams runtime_kernel_params(const Parameters& p, const void* kernel) {
  return {const_cast<void*>(kernel),
          {p.gridDimX, p.gridDimY, p.gridDimZ},
          {p.blockDimX, p.blockDimY, p.blockDimZ},
          p.sharedMemBytes,
          p.kernelParams,
          p.extra};
}

const void* kernel_handle_of(const CUDA_KERNEL_NODE_PARAMS_v2& p) {
  return p.func ? static_cast<const void*>(p.func) : p.kern;
}

CUresult add_kernel_node(CUgraphNode* node, CUgraph graph, const CUgraphNode* from, size_t count,
                         const cudaKernelNodeParams& same) {
  return forward_to_runtime("cuGraphAddKernelNode", [&] {
    return cudaGraphAddKernelNode(node, graph, from, count, &same);
  });
}

// The parameters have the same layout in both APIs, except for copies and a kernel's second handle.
static_assert(sizeof(CUgraphNodeParams) == sizeof(cudaGraphNodeParams) &&
              offsetof(CUgraphNodeParams, kernel) == offsetof(cudaGraphNodeParams, kernel) &&
              offsetof(CUDA_KERNEL_NODE_PARAMS_v3, kernelParams) ==
                  offsetof(cudaKernelNodeParamsV2, kernelParams) &&
              offsetof(CUDA_MEM_ALLOC_NODE_PARAMS_v2, dptr) ==
                  offsetof(cudaMemAllocNodeParamsV2, dptr) &&
              offsetof(CUDA_MEMSET_NODE_PARAMS_v2, height) ==
                  offsetof(cudaMemsetParamsV2, height) &&
              offsetof(CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out) ==
                  offsetof(cudaConditionalNodeParams, phGraph_out));

cudaGraphNodeParams runtime_node_params(const CUgraphNodeParams& p) {
  cudaGraphNodeParams same{};
  std::memcpy(static_cast<void*>(&same), &p, sizeof same);
  if (p.type == CU_GRAPH_NODE_TYPE_KERNEL && !p.kernel.func) same.kernel.func = p.kernel.kern;
  if (p.type == CU_GRAPH_NODE_TYPE_MEMCPY)
    throw lab32::Error("new parameters for nodes that copy are not simulated in the driver's API");
  return same;
}

CUresult add_node_of_any_type(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                              const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if (p->type == CU_GRAPH_NODE_TYPE_MEMCPY)
    return cuGraphAddMemcpyNode(node, graph, from, count, &p->memcpy.copyParams, p->memcpy.copyCtx);
  if (p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL && !p->conditional.ctx)
    return CUDA_ERROR_INVALID_VALUE;
  return forward_to_runtime("cuGraphAddNode", [&] {
    cudaGraphNodeParams same = runtime_node_params(*p);
    const cudaError_t e = cudaGraphAddNode(
        node, graph, from, reinterpret_cast<const cudaGraphEdgeData*>(edges), count, &same);
    if (!e && p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
      p->conditional.phGraph_out = same.conditional.phGraph_out;
    if (!e && p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
      p->alloc.dptr = reinterpret_cast<CUdeviceptr>(same.alloc.dptr);
    return e;
  });
}

}  // namespace

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                           const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* p) {
  return add_node_of_any_type(node, graph, from, edges, count, p);
}
CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* from, size_t count,
                        CUgraphNodeParams* p) {
  return add_node_of_any_type(node, graph, from, nullptr, count, p);
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  return call("cuGraphNodeSetParams", [&](Runtime&) {
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    cudaGraphNodeParams same = runtime_node_params(*p);
    return driver_result_of(cudaGraphNodeSetParams(node, &same));
  });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* p) {
  return call("cuGraphExecNodeSetParams", [&](Runtime&) {
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    cudaGraphNodeParams same = runtime_node_params(*p);
    return driver_result_of(cudaGraphExecNodeSetParams(exec, node, &same));
  });
}
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* out, CUgraph graph,
                                        CUcontext context, unsigned otherwise, unsigned flags) {
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  return forward_to_runtime("cuGraphConditionalHandleCreate", [&] {
    return cudaGraphConditionalHandleCreate(reinterpret_cast<cudaGraphConditionalHandle*>(out),
                                            graph, otherwise, flags);
  });
}
LAB32_SAME_PER_THREAD(
    "cuGraphInstantiate", cuGraphInstantiateWithParams,
    (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* p),
    cudaGraphInstantiateWithParams(exec, graph, reinterpret_cast<cudaGraphInstantiateParams*>(p)));

LAB32_SAME("cuGraphCreate", cuGraphCreate, (CUgraph * graph, unsigned flags),
           cudaGraphCreate(graph, flags));
LAB32_SAME("cuGraphDestroy", cuGraphDestroy, (CUgraph graph), cudaGraphDestroy(graph));
LAB32_SAME("cuGraphClone", cuGraphClone, (CUgraph * out, CUgraph graph),
           cudaGraphClone(out, graph));
LAB32_SAME("cuGraphInstantiate", cuGraphInstantiateWithFlags,
           (CUgraphExec * exec, CUgraph graph, unsigned long long flags),
           cudaGraphInstantiateWithFlags(exec, graph, flags));
LAB32_SAME("cuGraphExecDestroy", cuGraphExecDestroy, (CUgraphExec exec),
           cudaGraphExecDestroy(exec));
LAB32_SAME_PER_THREAD("cuGraphLaunch", cuGraphLaunch, (CUgraphExec exec, CUstream stream),
                      cudaGraphLaunch(exec, stream));
LAB32_SAME_PER_THREAD("cuGraphUpload", cuGraphUpload, (CUgraphExec exec, CUstream stream),
                      cudaGraphUpload(exec, stream));
LAB32_SAME("cuGraphGetNodes", cuGraphGetNodes, (CUgraph graph, CUgraphNode* nodes, size_t* count),
           cudaGraphGetNodes(graph, nodes, count));
LAB32_SAME("cuGraphGetRootNodes", cuGraphGetRootNodes,
           (CUgraph graph, CUgraphNode* nodes, size_t* count),
           cudaGraphGetRootNodes(graph, nodes, count));
LAB32_SAME("cuGraphNodeGetType", cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType* type),
           cudaGraphNodeGetType(node, reinterpret_cast<cudaGraphNodeType*>(type)));
LAB32_SAME("cuGraphAddEmptyNode", cuGraphAddEmptyNode,
           (CUgraphNode * node, CUgraph graph, const CUgraphNode* from, size_t count),
           cudaGraphAddEmptyNode(node, graph, from, count));
LAB32_SAME("cuGraphAddChildGraphNode", cuGraphAddChildGraphNode,
           (CUgraphNode * node, CUgraph graph, const CUgraphNode* from, size_t count,
            CUgraph child),
           cudaGraphAddChildGraphNode(node, graph, from, count, child));
LAB32_SAME("cuGraphAddEventRecordNode", cuGraphAddEventRecordNode,
           (CUgraphNode * node, CUgraph graph, const CUgraphNode* from, size_t count,
            CUevent event),
           cudaGraphAddEventRecordNode(node, graph, from, count, event));
LAB32_SAME("cuGraphAddEventWaitNode", cuGraphAddEventWaitNode,
           (CUgraphNode * node, CUgraph graph, const CUgraphNode* from, size_t count,
            CUevent event),
           cudaGraphAddEventWaitNode(node, graph, from, count, event));
// CUDA_HOST_NODE_PARAMS is the runtime's type under another name.
LAB32_SAME("cuGraphAddHostNode", cuGraphAddHostNode,
           (CUgraphNode * node, CUgraph graph, const CUgraphNode* from, size_t count,
            const CUDA_HOST_NODE_PARAMS* p),
           cudaGraphAddHostNode(node, graph, from, count,
                                reinterpret_cast<const cudaHostNodeParams*>(p)));
LAB32_SAME("cuGraphAddDependencies", cuGraphAddDependencies,
           (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count),
           cudaGraphAddDependencies(graph, from, to, nullptr, count));
LAB32_SAME("cuGraphAddDependencies", cuGraphAddDependencies_v2,
           (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
            const CUgraphEdgeData* edges, size_t count),
           cudaGraphAddDependencies(graph, from, to,
                                    reinterpret_cast<const cudaGraphEdgeData*>(edges), count));
LAB32_SAME("cuGraphExecUpdate", cuGraphExecUpdate_v2,
           (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* result),
           cudaGraphExecUpdate(exec, graph,
                               reinterpret_cast<cudaGraphExecUpdateResultInfo*>(result)));

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  return add_kernel_node(node, graph, from, count, runtime_kernel_params(*p, kernel_handle_of(*p)));
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  return add_kernel_node(node, graph, from, count, runtime_kernel_params(*p, p->func));
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const cudaKernelNodeParams same = runtime_kernel_params(*p, kernel_handle_of(*p));
  return forward_to_runtime("cuGraphKernelNodeSetParams",
                            [&] { return cudaGraphKernelNodeSetParams(node, &same); });
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const cudaKernelNodeParams same = runtime_kernel_params(*p, kernel_handle_of(*p));
  return forward_to_runtime("cuGraphExecKernelNodeSetParams",
                            [&] { return cudaGraphExecKernelNodeSetParams(exec, node, &same); });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const cudaMemsetParams same{pointer(p->dst), p->pitch, p->value,
                              p->elementSize,  p->width, p->height};
  return forward_to_runtime("cuGraphAddMemsetNode", [&] {
    return cudaGraphAddMemsetNode(node, graph, from, count, &same);
  });
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return forward_to_runtime("cuDeviceGraphMemTrim", Needs::init,
                            [&] { return cudaDeviceGraphMemTrim(device); });
}
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute which, void* value) {
  return forward_to_runtime("cuDeviceGetGraphMemAttribute", Needs::init, [&] {
    return cudaDeviceGetGraphMemAttribute(device, static_cast<cudaGraphMemAttributeType>(which),
                                          value);
  });
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute which, void* value) {
  return forward_to_runtime("cuDeviceSetGraphMemAttribute", Needs::init, [&] {
    return cudaDeviceSetGraphMemAttribute(device, static_cast<cudaGraphMemAttributeType>(which),
                                          value);
  });
}

LAB32_SAME("cuUserObjectCreate", cuUserObjectCreate,
           (CUuserObject * out, void* pointer, CUhostFn destroy, unsigned count, unsigned flags),
           cudaUserObjectCreate(out, pointer, destroy, count, flags));
LAB32_SAME("cuUserObjectRetain", cuUserObjectRetain, (CUuserObject object, unsigned count),
           cudaUserObjectRetain(object, count));
LAB32_SAME("cuUserObjectRelease", cuUserObjectRelease, (CUuserObject object, unsigned count),
           cudaUserObjectRelease(object, count));
LAB32_SAME("cuGraphRetainUserObject", cuGraphRetainUserObject,
           (CUgraph graph, CUuserObject object, unsigned count, unsigned flags),
           cudaGraphRetainUserObject(graph, object, count, flags));
LAB32_SAME("cuGraphReleaseUserObject", cuGraphReleaseUserObject,
           (CUgraph graph, CUuserObject object, unsigned count),
           cudaGraphReleaseUserObject(graph, object, count));

// Streams, events, captures. Flags and kinds have the same numbers in both APIs.

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
// CUstreamAttrValue and cudaStreamAttrValue are the same type.
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
