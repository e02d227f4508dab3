#include "runtime/cudart/graph_work.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "runtime/cudart/copy.h"
#include "runtime/cudart/launch.h"

namespace lab32::cudart {

NodeWork work_on_current_device(const std::function<cudaError_t(Runtime&)>& body) {
  return {[body, device = static_cast<int>(device_of_current_call())](Runtime& r, cudaStream_t) {
            const DeviceScope on(r, device);
            return body(r);
          },
          {},
          {}};
}

NodeWork event_record_work(cudaEvent_t event) {
  NodeWork work;
  work.device = [event](Runtime& r, cudaStream_t) {
    if (!r.streams.knows(event)) return cudaErrorInvalidResourceHandle;
    r.streams.record(event, r.gpu(event->device).timeline.now());
    return cudaSuccess;
  };
  work.given = event;
  return work;
}

NodeWork event_wait_work(cudaEvent_t event) {
  NodeWork work;
  work.given = event;
  return work;
}

NodeWork host_function_work(const cudaHostNodeParams& p) {
  NodeWork work{{}, [p] { p.fn(p.userData); }, {}};
  work.given = p;
  return work;
}

NodeWork copy_work(const cudaMemcpy3DParms& p) {
  NodeWork work = work_on_current_device([p](Runtime& r) { return copy(r, p); });
  work.given = p;
  return work;
}

NodeWork copy_work(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  NodeWork work =
      work_on_current_device([=](Runtime& r) { return copy(r, to, from, bytes, kind); });
  // The copy is a single row, for which the pitch has no meaning.
  cudaMemcpy3DParms given{};
  given.dstPtr.ptr = to;
  given.srcPtr.ptr = const_cast<void*>(from);
  given.extent = {bytes, 1, 1};
  given.kind = kind;
  work.given = given;
  return work;
}

NodeWork fill_work(const cudaMemsetParams& p) {
  NodeWork work = work_on_current_device([p](Runtime& r) {
    const uint64_t row = uint64_t{p.width} * p.elementSize;
    const auto at = reinterpret_cast<uint64_t>(p.dst);
    return fill(r, {at, p.pitch, 0}, {row, p.height, 1}, p.value, p.elementSize);
  });
  work.given = p;
  return work;
}

NodeWork child_graph_work(std::vector<GraphStep> steps) {
  return {{}, {}, std::make_shared<std::vector<GraphStep>>(std::move(steps))};
}

cudaError_t child_graph_work(const CUgraph_st& graph, NodeWork* work) {
  if (has_conditional_nodes(graph) || has_memory_nodes(graph)) return cudaErrorNotSupported;
  std::vector<GraphStep> steps;
  if (!build_steps(graph, &steps)) return cudaErrorInvalidValue;
  *work = child_graph_work(std::move(steps));
  return cudaSuccess;
}

NodeWork launch_work(std::shared_ptr<DeferredKernelLaunch> call) {
  NodeWork work;
  work.kernel = std::move(call);
  return work;
}

NodeWork kernel_work(Runtime& r, const cudaKernelNodeParams& p) {
  KernelEntry* entry = r.registry.find_kernel(p.func);
  if (!entry) return {};
  if (!p.kernelParams && p.extra) throw Error("arguments in the `extra` form are not simulated");
  const RequestedLaunchConfig request{p.gridDim, p.blockDim, p.sharedMemBytes, nullptr, false, {}};
  return launch_work(make_deferred_launch(r, *entry, p.func, request, p.kernelParams));
}

namespace {

bool is_allocated_at(Runtime& r, uint64_t begin) {
  const AllocationInfo* held = r.allocations.find(reinterpret_cast<void*>(begin));
  return held && held->begin == begin;
}

}  // namespace

cudaError_t make_alloc_node_work(Runtime& r, cudaMemAllocNodeParams* p, NodeWork* work) {
  p->dptr = nullptr;
  const cudaMemLocation& where = p->poolProps.location;
  if (p->bytesize == 0 || p->poolProps.allocType != cudaMemAllocationTypePinned)
    return cudaErrorInvalidValue;
  if (where.type != cudaMemLocationTypeDevice) return cudaErrorNotSupported;
  if (!r.has_device(where.id)) return cudaErrorInvalidValue;
  if (p->poolProps.handleTypes != cudaMemHandleTypeNone)
    throw Error("memory of a graph's node that is shared with other processes is not simulated");
  for (size_t i = 0; i < p->accessDescCount; ++i)
    if (p->accessDescs[i].location.id != where.id)
      throw Error("memory of a graph's node that other devices reach is not simulated");
  const DeviceScope on(r, where.id);
  const uint64_t begin = r.allocations.reserve_address(p->bytesize, "memory of a graph's node");
  if (begin == 0) return cudaErrorMemoryAllocation;
  p->dptr = reinterpret_cast<void*>(begin);
  cudaMemAllocNodeParams& kept = r.graphs.memory()[begin] = *p;
  kept.accessDescs = nullptr;
  kept.accessDescCount = 0;
  work->allocates = begin;
  work->device = [begin, bytes = p->bytesize, device = where.id](Runtime& now, cudaStream_t) {
    const DeviceScope there(now, device);
    now.allocations.allocate_graph_memory_at_address(begin, bytes);
    return cudaSuccess;
  };
  return cudaSuccess;
}

cudaError_t make_free_node_work(Runtime& r, const CUgraph_st& graph, void* pointer,
                                NodeWork* work) {
  const auto begin = reinterpret_cast<uint64_t>(pointer);
  if (r.graphs.memory().count(begin) == 0) return cudaErrorInvalidValue;
  for (const auto& node : graph.nodes)
    if (node->work.frees == begin) return cudaErrorInvalidValue;
  work->frees = begin;
  work->device = [begin](Runtime& now, cudaStream_t) {
    if (!is_allocated_at(now, begin)) return cudaErrorInvalidValue;
    now.allocations.release(begin);
    return cudaSuccess;
  };
  return cudaSuccess;
}

bool allocates_or_frees_memory(const std::vector<GraphStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const GraphStep& step) {
    return step.work.allocates != 0 || step.work.frees != 0;
  });
}

namespace {

// Whether several allocations of the graph may exist at once. How a GPU distributes the pieces of
// memory among them is not known.
bool may_hold_several_allocations(const CUgraphExec_st& exec) {
  std::set<uint64_t> there;
  for (const GraphStep& step : exec.steps) {
    if (step.work.allocates) there.insert(step.work.allocates);
    there.erase(step.work.frees);
    if (there.size() > 1) return true;
  }
  return false;
}

}  // namespace

cudaError_t check_graph_allocation_states(Runtime& r, const CUgraphExec_st& exec) {
  if (may_hold_several_allocations(exec))
    r.allocations.graph_memory(r.gpu().number).is_known = false;
  std::set<uint64_t> own;
  for (const GraphStep& step : exec.steps) {
    const uint64_t begin = step.work.allocates;
    if (begin == 0) continue;
    own.insert(begin);
    if (!is_allocated_at(r, begin)) continue;
    if (!exec.frees_first) return cudaErrorInvalidValue;
    r.allocations.release(begin);
  }
  for (const GraphStep& step : exec.steps)
    if (const uint64_t begin = step.work.frees;
        begin && !own.count(begin) && !is_allocated_at(r, begin))
      return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t with_graph(const char* name, cudaGraph_t graph, const RuntimeAction& body) {
  return call(name, Waits::no,
              [&](Runtime& r) { return r.graphs.knows(graph) ? body(r) : cudaErrorInvalidValue; });
}

cudaError_t with_node(const char* name, cudaGraphNode_t node, const RuntimeAction& body) {
  return call(name, Waits::no,
              [&](Runtime& r) { return r.graphs.knows(node) ? body(r) : cudaErrorInvalidValue; });
}

cudaError_t add_node(const char* name, cudaGraphNode_t* out, cudaGraph_t graph,
                     const cudaGraphNode_t* from, size_t count, cudaGraphNodeType type,
                     const std::function<cudaError_t(Runtime&, NodeWork*)>& make) {
  return with_graph(name, graph, [&](Runtime& r) {
    if (!out || (count && !from)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (!r.graphs.knows(from[i]) || from[i]->graph != graph) return cudaErrorInvalidValue;
    NodeWork work;
    if (const cudaError_t error = make(r, &work)) return error;
    *out = r.graphs.add(graph, type, {from, from + count}, std::move(work));
    return cudaSuccess;
  });
}

cudaError_t add_child(const char* name, cudaGraphNode_t* out, cudaGraph_t graph,
                      const cudaGraphNode_t* from, size_t count, cudaGraph_t child) {
  return with_graph(name, graph, [&](Runtime& r) {
    const cudaError_t error = add_node(name, out, graph, from, count, cudaGraphNodeTypeGraph,
                                       [&](Runtime&, NodeWork* work) {
                                         if (!r.graphs.knows(child) || child == graph)
                                           return cudaErrorInvalidValue;
                                         return child_graph_work(*child, work);
                                       });
    if (error) return error;
    cudaGraph_t const own = r.graphs.clone(child);
    own->parent = graph;
    (*out)->bodies.push_back(own);
    return cudaSuccess;
  });
}

cudaError_t store_nodes(const std::vector<cudaGraphNode_t>& all, cudaGraphNode_t* out,
                        size_t* count) {
  if (!count) return cudaErrorInvalidValue;
  if (out)
    for (size_t i = 0; i < *count; ++i) out[i] = i < all.size() ? all[i] : nullptr;
  *count = out ? std::min(*count, all.size()) : all.size();
  return cudaSuccess;
}

bool have_same_topology(const std::vector<GraphStep>& a, const std::vector<GraphStep>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const GraphStep& x, const GraphStep& y) {
                      const auto bodies = [](const GraphStep& step) {
                        return step.work.branch ? step.work.branch->bodies.size() : 0;
                      };
                      if (x.type != y.type || x.from != y.from || !x.work.child != !y.work.child ||
                          bodies(x) != bodies(y))
                        return false;
                      for (size_t i = 0; i < bodies(x); ++i)
                        if (!have_same_topology(x.work.branch->bodies[i], y.work.branch->bodies[i]))
                          return false;
                      return !x.work.child || have_same_topology(*x.work.child, *y.work.child);
                    });
}

cudaError_t set_step_work(GraphStep* step, cudaGraphNodeType type, NodeWork work) {
  if (!step || step->type != type) return cudaErrorInvalidValue;
  step->work = std::move(work);
  return cudaSuccess;
}

namespace {

GraphStep* find_step(std::vector<GraphStep>& steps, cudaGraphNode_t node) {
  for (GraphStep& step : steps) {
    if (step.origin == node) return &step;
    if (!step.work.branch) continue;
    for (std::vector<GraphStep>& body : step.work.branch->bodies)
      if (GraphStep* found = find_step(body, node)) return found;
  }
  return nullptr;
}

}  // namespace

GraphStep* step_of(cudaGraphExec_t exec, cudaGraphNode_t node) {
  return find_step(exec->steps, node);
}

cudaError_t with_exec(const char* name, cudaGraphExec_t exec, const RuntimeAction& body) {
  return call(name, Waits::no,
              [&](Runtime& r) { return r.graphs.knows(exec) ? body(r) : cudaErrorInvalidValue; });
}

}  // namespace lab32::cudart
