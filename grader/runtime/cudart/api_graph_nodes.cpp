// Graph functions that take nodes of all kinds in one structure, including conditional nodes; user
// objects.

#include <algorithm>
#include <climits>

#include "base/error.h"
#include "runtime/cudart/call.h"
#include "runtime/cudart/graph_work.h"

using namespace lab32::cudart;

namespace {

bool has_zero_reserved_fields(const cudaGraphNodeParams& p) {
  return p.reserved2 == 0 &&
         std::all_of(p.reserved0, p.reserved0 + 3, [](int word) { return word == 0; });
}

// The work of a node with these parameters. add_conditional_node() makes conditional nodes.
cudaError_t make_node_work(Runtime& r, const cudaGraphNodeParams& p, NodeWork* work) {
  switch (p.type) {
    case cudaGraphNodeTypeKernel: {
      const auto& k = p.kernel;
      if (!k.func) return cudaErrorInvalidValue;
      *work = kernel_work(
          r, {k.func, k.gridDim, k.blockDim, k.sharedMemBytes, k.kernelParams, k.extra});
      return work->kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
    }
    case cudaGraphNodeTypeMemcpy:
      if (p.memcpy.flags != 0) return cudaErrorInvalidValue;
      *work = copy_work(p.memcpy.copyParams);
      return cudaSuccess;
    case cudaGraphNodeTypeMemset: {
      const auto& m = p.memset;
      if (m.elementSize != 1 && m.elementSize != 2 && m.elementSize != 4)
        return cudaErrorInvalidValue;
      *work = fill_work({m.dst, m.pitch, m.value, m.elementSize, m.width, m.height});
      return cudaSuccess;
    }
    case cudaGraphNodeTypeHost:
      if (!p.host.fn) return cudaErrorInvalidValue;
      *work = host_function_work({p.host.fn, p.host.userData});
      return cudaSuccess;
    case cudaGraphNodeTypeGraph:
      if (!r.graphs.knows(p.graph.graph)) return cudaErrorInvalidValue;
      if (p.graph.ownership != cudaGraphChildGraphOwnershipClone)
        throw lab32::Error("child graphs that are moved into their parent are not simulated");
      return child_graph_work(*p.graph.graph, work);
    case cudaGraphNodeTypeEmpty:
      return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
      if (!r.streams.knows(p.eventRecord.event)) return cudaErrorInvalidValue;
      *work = event_record_work(p.eventRecord.event);
      return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
      if (!r.streams.knows(p.eventWait.event)) return cudaErrorInvalidValue;
      *work = event_wait_work(p.eventWait.event);
      return cudaSuccess;
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
      throw lab32::Error("nodes of graphs that use semaphores are not simulated");
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
      throw lab32::Error("new parameters for nodes that allocate or free are not simulated");
    default:
      return cudaErrorInvalidValue;
  }
}

bool has_valid_body_count(const cudaConditionalNodeParams& p) {
  switch (p.type) {
    case cudaGraphCondTypeIf:
      return p.size == 1 || p.size == 2;
    case cudaGraphCondTypeWhile:
      return p.size == 1;
    case cudaGraphCondTypeSwitch:
      return p.size > 0;
  }
  return false;
}

cudaError_t add_conditional_node(const char* name, cudaGraphNode_t* out, cudaGraph_t graph,
                                 const cudaGraphNode_t* from, size_t count,
                                 cudaConditionalNodeParams* p) {
  return with_graph(name, graph, [&](Runtime& r) {
    GraphCondition* condition = r.graphs.find_condition(graph, p->handle);
    if (!condition || condition->used || !has_valid_body_count(*p)) return cudaErrorInvalidValue;
    const cudaError_t error = add_node(
        name, out, graph, from, count, cudaGraphNodeTypeConditional, [&](Runtime&, NodeWork* work) {
          work->branch =
              std::make_shared<GraphConditionalNode>(GraphConditionalNode{condition, p->type, {}});
          return cudaSuccess;
        });
    if (error) return error;
    condition->used = true;
    for (unsigned i = 0; i < p->size; ++i)
      (*out)->bodies.push_back(r.graphs.make_body_graph(graph));
    p->phGraph_out = (*out)->bodies.data();
    return cudaSuccess;
  });
}

void refuse_programmatic_edges(const cudaGraphEdgeData* edges, size_t count) {
  for (size_t i = 0; edges && i < count; ++i)
    if (edges[i].type != cudaGraphDependencyTypeDefault)
      throw lab32::Error("programmatic dependencies are not simulated");
}

bool are_in_graph(Runtime& r, cudaGraph_t graph, const cudaGraphNode_t* nodes, size_t count) {
  return std::all_of(nodes, nodes + count, [&](cudaGraphNode_t node) {
    return r.graphs.knows(node) && node->graph == graph;
  });
}

}  // namespace

// The handle that the program gets is the address of the GraphCondition.
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* out, cudaGraph_t graph,
                                             unsigned otherwise, unsigned flags) {
  return with_graph("cudaGraphConditionalHandleCreate", graph, [&](Runtime& r) {
    if (!out || (flags & ~static_cast<unsigned>(cudaGraphCondAssignDefault)) != 0)
      return cudaErrorInvalidValue;
    GraphCondition& made =
        r.graphs.add_condition(graph, otherwise, (flags & cudaGraphCondAssignDefault) != 0);
    lab32::sim::Allocation* word =
        r.memory.allocate_small(sizeof otherwise, "the condition of a graph's node");
    word->condition = true;
    word->reached_by = &made.reached_by;
    *out = made.word = word->begin;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* from,
                             const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* p) {
  constexpr const char* kName = "cudaGraphAddNode";
  if (!p || !has_zero_reserved_fields(*p)) return store_last_error(cudaErrorInvalidValue);
  if (p->type == cudaGraphNodeTypeConditional)
    return add_conditional_node(kName, out, graph, from, count, &p->conditional);
  if (p->type == cudaGraphNodeTypeGraph && p->graph.ownership == cudaGraphChildGraphOwnershipClone)
    return add_child(kName, out, graph, from, count, p->graph.graph);
  return add_node(kName, out, graph, from, count, p->type, [&](Runtime& r, NodeWork* work) {
    refuse_programmatic_edges(edges, count);
    if (p->type == cudaGraphNodeTypeMemAlloc) {
      auto& a = p->alloc;
      cudaMemAllocNodeParams same{a.poolProps, a.accessDescs, a.accessDescCount, a.bytesize, {}};
      const cudaError_t error = make_alloc_node_work(r, &same, work);
      a.dptr = same.dptr;
      return error;
    }
    if (p->type == cudaGraphNodeTypeMemFree)
      return make_free_node_work(r, *graph, p->free.dptr, work);
    return make_node_work(r, *p, work);
  });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return with_node("cudaGraphNodeSetParams", node, [&](Runtime& r) {
    if (!p || !has_zero_reserved_fields(*p) || p->type != node->type) return cudaErrorInvalidValue;
    NodeWork work;
    if (const cudaError_t error = make_node_work(r, *p, &work)) return error;
    node->work = std::move(work);
    if (node->type == cudaGraphNodeTypeGraph) {
      for (cudaGraph_t own : node->bodies) r.graphs.drop(own);
      node->bodies = {r.graphs.clone(p->graph.graph)};
      node->bodies.front()->parent = node->graph;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* p) {
  return with_exec("cudaGraphExecNodeSetParams", exec, [&](Runtime& r) {
    if (!p || !has_zero_reserved_fields(*p)) return cudaErrorInvalidValue;
    NodeWork work;
    if (const cudaError_t error = make_node_work(r, *p, &work)) return error;
    return set_step_work(step_of(exec, node), p->type, std::move(work));
  });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* from,
                                          const cudaGraphEdgeData* edges, size_t count,
                                          cudaStreamCaptureMode) {
  return with_graph("cudaStreamBeginCaptureToGraph", graph, [&](Runtime& r) {
    if (!r.streams.knows(stream)) return cudaErrorInvalidResourceHandle;
    if (stream == nullptr || stream == cudaStreamLegacy) return cudaErrorStreamCaptureUnsupported;
    if ((count && !from) || !are_in_graph(r, graph, from, count)) return cudaErrorInvalidValue;
    refuse_programmatic_edges(edges, count);
    return r.captures.begin(stream, graph, {from, from + count});
  });
}
LAB32_PER_THREAD(cudaStreamBeginCaptureToGraph, _ptsz);

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData* edges, size_t count,
                                                unsigned flags) {
  return call("cudaStreamUpdateCaptureDependencies", Waits::no, [&](Runtime& r) {
    if (!r.streams.knows(stream)) return cudaErrorInvalidResourceHandle;
    if (!r.captures.captures(stream)) return cudaErrorIllegalState;
    if (flags > cudaStreamSetCaptureDependencies || (count && !nodes) ||
        !are_in_graph(r, r.captures.graph(stream), nodes, count))
      return cudaErrorInvalidValue;
    refuse_programmatic_edges(edges, count);
    std::vector<cudaGraphNode_t> last(nodes, nodes + count);
    if (flags == cudaStreamAddCaptureDependencies) {
      const auto& before = r.captures.last_nodes(stream);
      last.insert(last.begin(), before.begin(), before.end());
    }
    r.captures.set_last_nodes(stream, std::move(last));
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaStreamUpdateCaptureDependencies, _ptsz);

// User objects: objects of the program that live while graphs hold references to them.

namespace {

bool is_count(unsigned count) { return count != 0 && count <= INT_MAX; }

cudaError_t with_object(const char* name, cudaUserObject_t object, unsigned count,
                        const RuntimeAction& body) {
  return call(name, Waits::no, [&](Runtime& r) {
    if (!r.graphs.objects().knows(object) || !is_count(count)) return cudaErrorInvalidValue;
    return body(r);
  });
}

}  // namespace

cudaError_t cudaUserObjectCreate(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy,
                                 unsigned references, unsigned flags) {
  return call("cudaUserObjectCreate", Waits::no, [&](Runtime& r) {
    if (!out || !destroy || !is_count(references) || flags != cudaUserObjectNoDestructorSync)
      return cudaErrorInvalidValue;
    *out = r.graphs.objects().make(pointer, destroy, references);
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return with_object("cudaUserObjectRetain", object, count, [&](Runtime& r) {
    r.graphs.objects().retain(object, count);
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return with_object("cudaUserObjectRelease", object, count, [&](Runtime& r) {
    return r.graphs.objects().release(object, count) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return with_object("cudaGraphRetainUserObject", object, count, [&](Runtime& r) {
    if (!r.graphs.knows(graph) || (flags & ~unsigned{cudaGraphUserObjectMove}) != 0)
      return cudaErrorInvalidValue;
    if (flags == 0) r.graphs.objects().retain(object, count);
    graph->objects[object] += count;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return with_object("cudaGraphReleaseUserObject", object, count, [&](Runtime& r) {
    if (!r.graphs.knows(graph)) return cudaErrorInvalidValue;
    // As on an H100, a graph may release references that it does not hold.
    const auto owned = graph->objects.find(object);
    if (owned != graph->objects.end()) {
      owned->second -= std::min<uint64_t>(owned->second, count);
      if (owned->second == 0) graph->objects.erase(owned);
    }
    return r.graphs.objects().release(object, count) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
