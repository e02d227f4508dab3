// Graphs: the runtime's functions under the driver's names.

#include "driver/same.h"

using namespace lab32::driver;

namespace {

template <class Parameters>
cudaKernelNodeParams kernel_of(const Parameters& p, const void* kernel) {
  return {const_cast<void*>(kernel),
          {p.gridDimX, p.gridDimY, p.gridDimZ},
          {p.blockDimX, p.blockDimY, p.blockDimZ},
          p.sharedMemBytes,
          p.kernelParams,
          p.extra};
}

const void* handle_of(const CUDA_KERNEL_NODE_PARAMS_v2& p) {
  return p.func ? static_cast<const void*>(p.func) : p.kern;
}

CUresult add_kernel(CUgraphNode* node, CUgraph graph, const CUgraphNode* from, size_t count,
                    const cudaKernelNodeParams& same) {
  return forward("cuGraphAddKernelNode",
                 [&] { return cudaGraphAddKernelNode(node, graph, from, count, &same); });
}

}  // namespace

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
  return add_kernel(node, graph, from, count, kernel_of(*p, handle_of(*p)));
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  return add_kernel(node, graph, from, count, kernel_of(*p, p->func));
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const cudaKernelNodeParams same = kernel_of(*p, handle_of(*p));
  return forward("cuGraphKernelNodeSetParams",
                 [&] { return cudaGraphKernelNodeSetParams(node, &same); });
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const cudaKernelNodeParams same = kernel_of(*p, handle_of(*p));
  return forward("cuGraphExecKernelNodeSetParams",
                 [&] { return cudaGraphExecKernelNodeSetParams(exec, node, &same); });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const cudaMemsetParams same{pointer(p->dst), p->pitch, p->value,
                              p->elementSize,  p->width, p->height};
  return forward("cuGraphAddMemsetNode",
                 [&] { return cudaGraphAddMemsetNode(node, graph, from, count, &same); });
}
