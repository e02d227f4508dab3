// Graph functions: create, add nodes one by one, instantiate, update, launch, destroy.

#include <algorithm>

#include "base/error.h"
#include "runtime/cudart/call.h"
#include "runtime/cudart/graph_work.h"
#include "runtime/cudart/launch.h"

using namespace lab32::cudart;

namespace {

cudaError_t run_steps(const std::vector<GraphStep>& steps, cudaStream_t stream);

// Reads the condition's value. `any_gpu_faulted` becomes true if a kernel was stopped by a fault,
// because no later kernel will then set the condition.
cudaError_t read_condition(const GraphConditionalNode& branch, unsigned* value,
                           bool* any_gpu_faulted) {
  return call("cudaGraphLaunch", Waits::no, [&](Runtime& r) {
    r.memory.download(value, branch.condition->word, sizeof *value);
    *any_gpu_faulted = std::any_of(r.gpus.begin(), r.gpus.end(),
                                   [](const auto& gpu) { return gpu->fault.has_value(); });
    return cudaSuccess;
  });
}

cudaError_t run_branch(const GraphConditionalNode& branch, cudaStream_t stream) {
  for (;;) {
    unsigned value = 0;
    bool faulty = false;
    if (const cudaError_t error = read_condition(branch, &value, &faulty)) return error;
    size_t chosen = value;
    if (branch.type == cudaGraphCondTypeIf) chosen = value != 0 ? 0 : 1;
    if (branch.type == cudaGraphCondTypeWhile) chosen = value != 0 ? 0 : branch.bodies.size();
    if (faulty || chosen >= branch.bodies.size()) return cudaSuccess;
    const cudaError_t error = run_steps(branch.bodies[chosen], stream);
    if (error || branch.type != cudaGraphCondTypeWhile) return error;
  }
}

// Runs the steps one after another, in an order that the edges allow. Host functions run without
// the runtime's lock.
cudaError_t run_steps(const std::vector<GraphStep>& steps, cudaStream_t stream) {
  for (const GraphStep& step : steps) {
    if (!step.enabled) continue;
    bool faulty = false;
    const char* const name = step.work.kernel ? kKernelNode : "cudaGraphLaunch";
    cudaError_t error = call(name, Waits::no, [&](Runtime& r) {
      faulty = r.gpu().fault.has_value();
      if (step.work.host) r.unfinished.clear();
      if (step.work.kernel) return launch(r, *step.work.kernel, stream);
      return step.work.device ? step.work.device(r, stream) : cudaSuccess;
    });
    if (!error && step.work.host && !faulty) step.work.host();
    if (!error && step.work.child) error = run_steps(*step.work.child, stream);
    if (!error && step.work.branch) error = run_branch(*step.work.branch, stream);
    if (error) return error;
  }
  return cudaSuccess;
}

void initialise_conditions(Runtime& r, const std::vector<GraphCondition*>& conditions) {
  for (const GraphCondition* c : conditions)
    r.memory.upload(c->word, &c->otherwise, sizeof c->otherwise);
}

cudaError_t instantiate(Runtime& r, cudaGraphExec_t* exec, cudaGraph_t graph,
                        unsigned long long flags, cudaGraphInstantiateResult* result) {
  constexpr unsigned long long kHints = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                        cudaGraphInstantiateFlagUpload |
                                        cudaGraphInstantiateFlagUseNodePriority;
  if (!exec) return cudaErrorInvalidValue;
  if (flags & ~kHints) throw lab32::Error("graphs launched by the device are not simulated");
  const cudaError_t error = r.graphs.instantiate(exec, graph, result);
  if (error) return error;
  (*exec)->frees_first = (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0;
  initialise_conditions(r, (*exec)->conditions);
  return cudaSuccess;
}

// Lets the graph's kernels set its conditions from here until the graph ends.
void let_kernels_set_conditions(Runtime& r, const std::vector<GraphCondition*>& conditions) {
  for (GraphCondition* c : conditions) {
    if (c->reset_at_launch) r.memory.upload(c->word, &c->otherwise, sizeof c->otherwise);
    c->reached_by = ~uint64_t{0};
  }
}

}  // namespace

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call("cudaGraphCreate", Waits::no, [&](Runtime& r) {
    if (!graph || flags != 0) return cudaErrorInvalidValue;
    *graph = r.graphs.make();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return with_graph("cudaGraphDestroy", graph, [&](Runtime& r) {
    if (graph->parent) return cudaErrorInvalidValue;
    r.graphs.drop(graph);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* out, cudaGraph_t graph) {
  return with_graph("cudaGraphClone", graph, [&](Runtime& r) {
    if (!out) return cudaErrorInvalidValue;
    if (has_conditional_nodes(*graph) || has_memory_nodes(*graph)) return cudaErrorNotSupported;
    *out = r.graphs.clone(graph);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                   const cudaGraphNode_t* from, size_t count,
                                   const cudaKernelNodeParams* p) {
  return add_node("cudaGraphAddKernelNode", out, graph, from, count, cudaGraphNodeTypeKernel,
                  [&](Runtime& r, NodeWork* work) {
                    if (!p) return cudaErrorInvalidValue;
                    *work = kernel_work(r, *p);
                    return work->kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
                  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                   const cudaGraphNode_t* from, size_t count,
                                   const cudaMemcpy3DParms* p) {
  return add_node("cudaGraphAddMemcpyNode", out, graph, from, count, cudaGraphNodeTypeMemcpy,
                  [&](Runtime&, NodeWork* work) {
                    if (!p) return cudaErrorInvalidValue;
                    *work = copy_work(*p);
                    return cudaSuccess;
                  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph,
                                     const cudaGraphNode_t* from, size_t count, void* to,
                                     const void* source, size_t bytes, cudaMemcpyKind kind) {
  return add_node("cudaGraphAddMemcpyNode1D", out, graph, from, count, cudaGraphNodeTypeMemcpy,
                  [&](Runtime&, NodeWork* work) {
                    if (!to || !source) return cudaErrorInvalidValue;
                    *work = copy_work(to, source, bytes, kind);
                    return cudaSuccess;
                  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                   const cudaGraphNode_t* from, size_t count,
                                   const cudaMemsetParams* p) {
  return add_node("cudaGraphAddMemsetNode", out, graph, from, count, cudaGraphNodeTypeMemset,
                  [&](Runtime&, NodeWork* work) {
                    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
                      return cudaErrorInvalidValue;
                    *work = fill_work(*p);
                    return cudaSuccess;
                  });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                 const cudaGraphNode_t* from, size_t count,
                                 const cudaHostNodeParams* p) {
  return add_node("cudaGraphAddHostNode", out, graph, from, count, cudaGraphNodeTypeHost,
                  [&](Runtime&, NodeWork* work) {
                    if (!p || !p->fn) return cudaErrorInvalidValue;
                    *work = host_function_work(*p);
                    return cudaSuccess;
                  });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                  const cudaGraphNode_t* from, size_t count) {
  return add_node("cudaGraphAddEmptyNode", out, graph, from, count, cudaGraphNodeTypeEmpty,
                  [](Runtime&, NodeWork*) { return cudaSuccess; });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                        const cudaGraphNode_t* from, size_t count,
                                        cudaEvent_t event) {
  return add_node("cudaGraphAddEventRecordNode", out, graph, from, count,
                  cudaGraphNodeTypeEventRecord, [&](Runtime& r, NodeWork* work) {
                    if (!r.streams.knows(event)) return cudaErrorInvalidValue;
                    *work = event_record_work(event);
                    return cudaSuccess;
                  });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                      const cudaGraphNode_t* from, size_t count,
                                      cudaEvent_t event) {
  return add_node("cudaGraphAddEventWaitNode", out, graph, from, count, cudaGraphNodeTypeWaitEvent,
                  [&](Runtime& r, NodeWork* work) {
                    if (!r.streams.knows(event)) return cudaErrorInvalidValue;
                    *work = event_wait_work(event);
                    return cudaSuccess;
                  });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                       const cudaGraphNode_t* from, size_t count,
                                       cudaGraph_t child) {
  return add_child("cudaGraphAddChildGraphNode", out, graph, from, count, child);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                     size_t count) {
  return with_graph("cudaGraphAddDependencies", graph, [&](Runtime& r) {
    if (count && (!from || !to)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      for (cudaGraphNode_t node : {from[i], to[i]})
        if (!r.graphs.knows(node) || node->graph != graph) return cudaErrorInvalidValue;
      if (edges && edges[i].type != cudaGraphDependencyTypeDefault)
        throw lab32::Error("programmatic dependencies are not simulated");
    }
    for (size_t i = 0; i < count; ++i) to[i]->from.push_back(from[i]);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return with_graph("cudaGraphGetNodes", graph, [&](Runtime&) {
    std::vector<cudaGraphNode_t> all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    return store_nodes(all, nodes, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return with_graph("cudaGraphGetRootNodes", graph, [&](Runtime&) {
    std::vector<cudaGraphNode_t> all;
    for (const auto& node : graph->nodes)
      if (node->from.empty()) all.push_back(node.get());
    return store_nodes(all, nodes, count);
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return with_node("cudaGraphNodeGetType", node, [&](Runtime&) {
    if (!type) return cudaErrorInvalidValue;
    *type = node->type;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return with_node("cudaGraphKernelNodeSetParams", node, [&](Runtime& r) {
    if (!p || node->type != cudaGraphNodeTypeKernel) return cudaErrorInvalidValue;
    NodeWork work = kernel_work(r, *p);
    if (!work.kernel) return cudaErrorInvalidDeviceFunction;
    node->work = std::move(work);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return with_graph("cudaGraphInstantiate", graph, [&](Runtime& r) {
    cudaGraphInstantiateResult result;
    return instantiate(r, exec, graph, flags, &result);
  });
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* p) {
  return with_graph("cudaGraphInstantiateWithParams", graph, [&](Runtime& r) {
    if (!p) return cudaErrorInvalidValue;
    p->errNode_out = nullptr;
    p->result_out = cudaGraphInstantiateError;
    return instantiate(r, exec, graph, p->flags, &p->result_out);
  });
}
LAB32_PER_THREAD(cudaGraphInstantiateWithParams, _ptsz);

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return with_exec("cudaGraphExecDestroy", exec, [&](Runtime& r) {
    r.graphs.drop(exec);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* p) {
  return with_exec("cudaGraphExecKernelNodeSetParams", exec, [&](Runtime& r) {
    if (!p) return cudaErrorInvalidValue;
    NodeWork work = kernel_work(r, *p);
    if (!work.kernel) return cudaErrorInvalidDeviceFunction;
    return set_step_work(step_of(exec, node), cudaGraphNodeTypeKernel, std::move(work));
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes,
                                               cudaMemcpyKind kind) {
  return with_exec("cudaGraphExecMemcpyNodeSetParams1D", exec, [&](Runtime&) {
    if (!to || !from) return cudaErrorInvalidValue;
    return set_step_work(step_of(exec, node), cudaGraphNodeTypeMemcpy,
                         copy_work(to, from, bytes, kind));
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* p) {
  return with_exec("cudaGraphExecMemcpyNodeSetParams", exec, [&](Runtime&) {
    if (!p) return cudaErrorInvalidValue;
    return set_step_work(step_of(exec, node), cudaGraphNodeTypeMemcpy, copy_work(*p));
  });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* p) {
  return with_exec("cudaGraphExecMemsetNodeSetParams", exec, [&](Runtime&) {
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
      return cudaErrorInvalidValue;
    return set_step_work(step_of(exec, node), cudaGraphNodeTypeMemset, fill_work(*p));
  });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* p) {
  return with_exec("cudaGraphExecHostNodeSetParams", exec, [&](Runtime&) {
    if (!p || !p->fn) return cudaErrorInvalidValue;
    return set_step_work(step_of(exec, node), cudaGraphNodeTypeHost, host_function_work(*p));
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  return with_exec("cudaGraphExecUpdate", exec, [&](Runtime& r) {
    if (!r.graphs.knows(graph)) return cudaErrorInvalidValue;
    if (allocates_or_frees_memory(exec->steps) || has_memory_nodes(*graph))
      throw lab32::Error("updating graphs whose nodes allocate or free is not simulated");
    std::vector<GraphStep> steps;
    const bool same = build_steps(*graph, &steps) && have_same_topology(exec->steps, steps);
    if (result)
      *result = {same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged,
                 nullptr, nullptr};
    if (!same) return cudaErrorGraphExecUpdateFailure;
    for (size_t i = 0; i < steps.size(); ++i) exec->steps[i].work = std::move(steps[i].work);
    exec->conditions = conditions_of(*graph);
    initialise_conditions(r, exec->conditions);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return with_exec("cudaGraphUpload", exec, [&](Runtime& r) {
    return r.streams.knows(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
LAB32_PER_THREAD(cudaGraphUpload, _ptsz);

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  std::vector<GraphStep> steps;
  std::vector<GraphCondition*> conditions;
  const cudaError_t error = with_exec("cudaGraphLaunch", exec, [&](Runtime& r) {
    if (!r.streams.knows(stream)) return cudaErrorInvalidResourceHandle;
    if (r.captures.captures(stream)) {
      if (!exec->conditions.empty() || allocates_or_frees_memory(exec->steps))
        return cudaErrorNotSupported;
      return r.captures.add(stream, cudaGraphNodeTypeGraph, child_graph_work(exec->steps));
    }
    if (const cudaError_t wrong = check_graph_allocation_states(r, *exec)) return wrong;
    steps = exec->steps;
    conditions = exec->conditions;
    let_kernels_set_conditions(r, conditions);
    return cudaSuccess;
  });
  if (error) return error;
  const cudaError_t done = run_steps(steps, stream);
  for (GraphCondition* c : conditions) c->reached_by = 0;
  return done;
}
LAB32_PER_THREAD(cudaGraphLaunch, _ptsz);
