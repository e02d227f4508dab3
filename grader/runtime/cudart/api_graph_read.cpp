// Graph functions that read nodes' parameters and edges, that remove nodes and edges, and that
// query memory of nodes which allocate and free.

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "runtime/cudart/graph_work.h"

using namespace lab32::cudart;

namespace {

// The parameters of a copy, fill or host function node.
template <class Parameters>
cudaError_t read_node_parameters(const char* name, cudaGraphNode_t node, cudaGraphNodeType type,
                                 Parameters* out) {
  return with_node(name, node, [&](Runtime&) {
    if (!out || node->type != type) return cudaErrorInvalidValue;
    const auto* given = std::get_if<Parameters>(&node->work.given);
    if (!given) throw lab32::Error("the parameters of a captured node are not known");
    *out = *given;
    return cudaSuccess;
  });
}

struct GraphEdge {
  cudaGraphNode_t from, to;
};

// Edges in the order of their first nodes, then of their second nodes.
std::vector<GraphEdge> edges_of(const CUgraph_st& graph) {
  std::vector<GraphEdge> all;
  for (const auto& from : graph.nodes)
    for (const auto& to : graph.nodes)
      if (std::count(to->from.begin(), to->from.end(), from.get()))
        all.push_back({from.get(), to.get()});
  return all;
}

void set_default_edge_data(cudaGraphEdgeData* data, size_t count) {
  if (data) std::fill_n(data, count, cudaGraphEdgeData{});
}

}  // namespace

// The result points to the arguments that the node stores, so the program can change them there.
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* out) {
  return with_node("cudaGraphKernelNodeGetParams", node, [&](Runtime& r) {
    if (!out || node->type != cudaGraphNodeTypeKernel) return cudaErrorInvalidValue;
    if (!node->work.kernel)
      throw lab32::Error("the node is a library's call, which has no kernel parameters");
    DeferredKernelLaunch& k = *node->work.kernel;
    // A launch that was captured from a stream names its kernel by the handle.
    const void* host = r.registry.host_function_of(*k.entry);
    *out = {const_cast<void*>(host ? host : k.function),
            k.grid,
            k.block,
            static_cast<unsigned>(k.shared),
            k.arguments(),
            nullptr};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* out) {
  return read_node_parameters("cudaGraphMemcpyNodeGetParams", node, cudaGraphNodeTypeMemcpy, out);
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* out) {
  return read_node_parameters("cudaGraphMemsetNodeGetParams", node, cudaGraphNodeTypeMemset, out);
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* out) {
  return read_node_parameters("cudaGraphHostNodeGetParams", node, cudaGraphNodeTypeHost, out);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, size_t* count) {
  return with_graph("cudaGraphGetEdges", graph, [&](Runtime&) {
    if (!count || !from != !to) return cudaErrorInvalidValue;
    std::vector<cudaGraphNode_t> begins, ends;
    for (const GraphEdge& edge : edges_of(*graph)) {
      begins.push_back(edge.from);
      ends.push_back(edge.to);
    }
    size_t room = *count;
    if (from) set_default_edge_data(data, std::min(room, begins.size()));
    const cudaError_t error = store_nodes(begins, from, count);
    return error ? error : store_nodes(ends, to, &room);
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out,
                                         cudaGraphEdgeData* data, size_t* count) {
  return with_node("cudaGraphNodeGetDependencies", node, [&](Runtime&) {
    const cudaError_t error = store_nodes(node->from, out, count);
    if (!error && out) set_default_edge_data(data, *count);
    return error;
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* out,
                                           cudaGraphEdgeData* data, size_t* count) {
  return with_node("cudaGraphNodeGetDependentNodes", node, [&](Runtime&) {
    std::vector<cudaGraphNode_t> all;
    for (const GraphEdge& edge : edges_of(*node->graph))
      if (edge.from == node) all.push_back(edge.to);
    const cudaError_t error = store_nodes(all, out, count);
    if (!error && out) set_default_edge_data(data, *count);
    return error;
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                        size_t count) {
  return with_graph("cudaGraphRemoveDependencies", graph, [&](Runtime& r) {
    if (count && (!from || !to)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (!r.graphs.knows(to[i]) || to[i]->graph != graph ||
          !std::count(to[i]->from.begin(), to[i]->from.end(), from[i]))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      auto& before = to[i]->from;
      before.erase(std::remove(before.begin(), before.end(), from[i]), before.end());
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return with_node("cudaGraphDestroyNode", node, [&](Runtime& r) {
    if (r.captures.any())
      throw lab32::Error("removing a node while a stream is captured is not simulated");
    if (node->type == cudaGraphNodeTypeConditional || node->work.allocates || node->work.frees)
      throw lab32::Error(
          "removing a conditional node, or one that allocates or frees, is not simulated");
    r.graphs.remove(node);
    return cudaSuccess;
  });
}

// ---- nodes that allocate and free --------------------------------------------------------------

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                     const cudaGraphNode_t* from, size_t count,
                                     cudaMemAllocNodeParams* p) {
  return add_node("cudaGraphAddMemAllocNode", out, graph, from, count, cudaGraphNodeTypeMemAlloc,
                  [&](Runtime& r, NodeWork* work) {
                    return p ? make_alloc_node_work(r, p, work) : cudaErrorInvalidValue;
                  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                    const cudaGraphNode_t* from, size_t count, void* pointer) {
  return add_node(
      "cudaGraphAddMemFreeNode", out, graph, from, count, cudaGraphNodeTypeMemFree,
      [&](Runtime& r, NodeWork* work) { return make_free_node_work(r, *graph, pointer, work); });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* out) {
  return with_node("cudaGraphMemAllocNodeGetParams", node, [&](Runtime& r) {
    if (!out || node->type != cudaGraphNodeTypeMemAlloc) return cudaErrorInvalidValue;
    *out = r.graphs.memory().at(node->work.allocates);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* out) {
  return with_node("cudaGraphMemFreeNodeGetParams", node, [&](Runtime&) {
    if (!out || node->type != cudaGraphNodeTypeMemFree) return cudaErrorInvalidValue;
    *static_cast<void**>(out) = reinterpret_cast<void*>(node->work.frees);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return call("cudaDeviceGraphMemTrim", Waits::no, [&](Runtime& r) {
    if (!r.has_device(device)) return cudaErrorInvalidDevice;
    r.allocations.graph_memory(device).trim();
    return cudaSuccess;
  });
}

// As on an H100, used and reserved memory are equal.
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType which, void* out) {
  return call("cudaDeviceGetGraphMemAttribute", Waits::no, [&](Runtime& r) {
    if (!r.has_device(device)) return cudaErrorInvalidDevice;
    const bool is_most =
        which == cudaGraphMemAttrUsedMemHigh || which == cudaGraphMemAttrReservedMemHigh;
    if (!out || which > cudaGraphMemAttrReservedMemHigh) return cudaErrorInvalidValue;
    const GraphMemoryUsage& memory = r.allocations.graph_memory(device);
    if (!memory.is_known)
      throw lab32::Error(
          "how much memory graphs with several allocations at once hold is not known");
    const uint64_t value = is_most ? memory.most : memory.now();
    std::memcpy(out, &value, sizeof value);
    return cudaSuccess;
  });
}

// The program can set only the maxima, and only to 0, which resets them to the current values.
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType which,
                                           void* value) {
  return call("cudaDeviceSetGraphMemAttribute", Waits::no, [&](Runtime& r) {
    if (!r.has_device(device)) return cudaErrorInvalidDevice;
    uint64_t to = 1;
    if (value) std::memcpy(&to, value, sizeof to);
    if ((which != cudaGraphMemAttrUsedMemHigh && which != cudaGraphMemAttrReservedMemHigh) || to)
      return cudaErrorInvalidValue;
    GraphMemoryUsage& memory = r.allocations.graph_memory(device);
    memory.most = memory.now();
    return cudaSuccess;
  });
}
