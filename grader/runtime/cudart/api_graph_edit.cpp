// Graph functions that change the parameters of existing nodes, and that disable nodes of an
// executable graph.

#include <cstdio>
#include <map>
#include <string>

#include "base/error.h"
#include "runtime/cudart/copy.h"
#include "runtime/cudart/graph_work.h"

using namespace lab32::cudart;

namespace {

// Replaces the work of a node. cudaErrorInvalidValue: the node is of another kind.
cudaError_t set_node_work(cudaGraphNode_t node, cudaGraphNodeType type, NodeWork work) {
  if (node->type != type) return cudaErrorInvalidValue;
  node->work = std::move(work);
  return cudaSuccess;
}

bool is_element(unsigned bytes) { return bytes == 1 || bytes == 2 || bytes == 4; }

// Resolves the address of a variable's bytes when the node is made.
cudaError_t find_symbol_address(Runtime& r, const void* symbol, size_t bytes, size_t offset,
                                void** at) {
  const VariableEntry* variable = r.registry.find_variable(symbol);
  if (!variable) return cudaErrorInvalidSymbol;
  const lab32::device::DeviceAddressRange where = r.registry.locate_variable(*variable);
  if (offset > where.bytes || bytes > where.bytes - offset) return cudaErrorInvalidValue;
  *at = reinterpret_cast<void*>(where.address + offset);
  return cudaSuccess;
}

cudaError_t make_copy_to_symbol_work(Runtime& r, const void* symbol, const void* from, size_t bytes,
                                     size_t offset, cudaMemcpyKind kind, NodeWork* work) {
  if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
    return cudaErrorInvalidMemcpyDirection;
  void* at = nullptr;
  if (const cudaError_t e = find_symbol_address(r, symbol, bytes, offset, &at)) return e;
  if (!from) return cudaErrorInvalidValue;
  *work = copy_work(at, from, bytes, kind);
  return cudaSuccess;
}

cudaError_t make_copy_from_symbol_work(Runtime& r, void* to, const void* symbol, size_t bytes,
                                       size_t offset, cudaMemcpyKind kind, NodeWork* work) {
  if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
    return cudaErrorInvalidMemcpyDirection;
  void* at = nullptr;
  if (const cudaError_t e = find_symbol_address(r, symbol, bytes, offset, &at)) return e;
  if (!to) return cudaErrorInvalidValue;
  *work = copy_work(to, at, bytes, kind);
  return cudaSuccess;
}

// The event that a node records or waits for.
cudaError_t get_node_event(const char* name, cudaGraphNode_t node, cudaGraphNodeType type,
                           cudaEvent_t* out) {
  return with_node(name, node, [&](Runtime&) {
    if (!out || node->type != type) return cudaErrorInvalidValue;
    const auto* event = std::get_if<cudaEvent_t>(&node->work.given);
    if (!event) throw lab32::Error("the event of a captured node is not known");
    *out = *event;
    return cudaSuccess;
  });
}

cudaError_t make_event_work(Runtime& r, cudaGraphNodeType type, cudaEvent_t event, NodeWork* work) {
  if (!r.streams.knows(event)) return cudaErrorInvalidValue;
  *work = type == cudaGraphNodeTypeEventRecord ? event_record_work(event) : event_wait_work(event);
  return cudaSuccess;
}

cudaError_t set_node_event(const char* name, cudaGraphNode_t node, cudaGraphNodeType type,
                           cudaEvent_t event) {
  return with_node(name, node, [&](Runtime& r) {
    NodeWork work;
    const cudaError_t error = make_event_work(r, type, event, &work);
    return error ? error : set_node_work(node, type, std::move(work));
  });
}

cudaError_t set_node_event(const char* name, cudaGraphExec_t exec, cudaGraphNode_t node,
                           cudaGraphNodeType type, cudaEvent_t event) {
  return with_exec(name, exec, [&](Runtime& r) {
    NodeWork work;
    const cudaError_t error = make_event_work(r, type, event, &work);
    return error ? error : set_step_work(step_of(exec, node), type, std::move(work));
  });
}

// Whether the step is of a kind that a program can disable and enable.
bool can_be_disabled(const GraphStep* step) {
  return step && (step->type == cudaGraphNodeTypeKernel || step->type == cudaGraphNodeTypeMemcpy ||
                  step->type == cudaGraphNodeTypeMemset);
}

cudaError_t with_kernel_node(const char* name, cudaGraphNode_t node,
                             const std::function<cudaError_t(DeferredKernelLaunch&)>& body) {
  return with_node(name, node, [&](Runtime&) {
    if (node->type != cudaGraphNodeTypeKernel || !node->work.kernel) return cudaErrorInvalidValue;
    return body(*node->work.kernel);
  });
}

const char* node_kind_name(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "kernel";
    case cudaGraphNodeTypeMemcpy:
      return "memcpy";
    case cudaGraphNodeTypeMemset:
      return "memset";
    case cudaGraphNodeTypeHost:
      return "host";
    case cudaGraphNodeTypeGraph:
      return "graph";
    case cudaGraphNodeTypeEmpty:
      return "empty";
    case cudaGraphNodeTypeWaitEvent:
      return "event wait";
    case cudaGraphNodeTypeEventRecord:
      return "event record";
    case cudaGraphNodeTypeMemAlloc:
      return "allocation";
    case cudaGraphNodeTypeMemFree:
      return "free";
    case cudaGraphNodeTypeConditional:
      return "conditional";
    default:
      return "node";
  }
}

}  // namespace

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return with_node("cudaGraphMemcpyNodeSetParams", node, [&](Runtime&) {
    return p ? set_node_work(node, cudaGraphNodeTypeMemcpy, copy_work(*p)) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           size_t bytes, cudaMemcpyKind kind) {
  return with_node("cudaGraphMemcpyNodeSetParams1D", node, [&](Runtime&) {
    if (!to || !from) return cudaErrorInvalidValue;
    return set_node_work(node, cudaGraphNodeTypeMemcpy, copy_work(to, from, bytes, kind));
  });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return with_node("cudaGraphMemsetNodeSetParams", node, [&](Runtime&) {
    if (!p || !is_element(p->elementSize)) return cudaErrorInvalidValue;
    return set_node_work(node, cudaGraphNodeTypeMemset, fill_work(*p));
  });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return with_node("cudaGraphHostNodeSetParams", node, [&](Runtime&) {
    if (!p || !p->fn) return cudaErrorInvalidValue;
    return set_node_work(node, cudaGraphNodeTypeHost, host_function_work(*p));
  });
}

// ---- copies of variables -----------------------------------------------------------------------

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                           const cudaGraphNode_t* from, size_t count,
                                           const void* symbol, const void* source, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind) {
  return add_node("cudaGraphAddMemcpyNodeToSymbol", out, graph, from, count,
                  cudaGraphNodeTypeMemcpy, [&](Runtime& r, NodeWork* work) {
                    return make_copy_to_symbol_work(r, symbol, source, bytes, offset, kind, work);
                  });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                             const cudaGraphNode_t* from, size_t count, void* to,
                                             const void* symbol, size_t bytes, size_t offset,
                                             cudaMemcpyKind kind) {
  return add_node("cudaGraphAddMemcpyNodeFromSymbol", out, graph, from, count,
                  cudaGraphNodeTypeMemcpy, [&](Runtime& r, NodeWork* work) {
                    return make_copy_from_symbol_work(r, to, symbol, bytes, offset, kind, work);
                  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* from, size_t bytes, size_t offset,
                                                 cudaMemcpyKind kind) {
  return with_node("cudaGraphMemcpyNodeSetParamsToSymbol", node, [&](Runtime& r) {
    NodeWork work;
    const cudaError_t error = make_copy_to_symbol_work(r, symbol, from, bytes, offset, kind, &work);
    return error ? error : set_node_work(node, cudaGraphNodeTypeMemcpy, std::move(work));
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                   const void* symbol, size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind) {
  return with_node("cudaGraphMemcpyNodeSetParamsFromSymbol", node, [&](Runtime& r) {
    NodeWork work;
    const cudaError_t error = make_copy_from_symbol_work(r, to, symbol, bytes, offset, kind, &work);
    return error ? error : set_node_work(node, cudaGraphNodeTypeMemcpy, std::move(work));
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void* symbol, const void* from,
                                                     size_t bytes, size_t offset,
                                                     cudaMemcpyKind kind) {
  return with_exec("cudaGraphExecMemcpyNodeSetParamsToSymbol", exec, [&](Runtime& r) {
    NodeWork work;
    const cudaError_t error = make_copy_to_symbol_work(r, symbol, from, bytes, offset, kind, &work);
    return error ? error
                 : set_step_work(step_of(exec, node), cudaGraphNodeTypeMemcpy, std::move(work));
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void* to, const void* symbol, size_t bytes,
                                                       size_t offset, cudaMemcpyKind kind) {
  return with_exec("cudaGraphExecMemcpyNodeSetParamsFromSymbol", exec, [&](Runtime& r) {
    NodeWork work;
    const cudaError_t error = make_copy_from_symbol_work(r, to, symbol, bytes, offset, kind, &work);
    return error ? error
                 : set_step_work(step_of(exec, node), cudaGraphNodeTypeMemcpy, std::move(work));
  });
}

// ---- events ------------------------------------------------------------------------------------

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
  return get_node_event("cudaGraphEventRecordNodeGetEvent", node, cudaGraphNodeTypeEventRecord,
                        out);
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
  return get_node_event("cudaGraphEventWaitNodeGetEvent", node, cudaGraphNodeTypeWaitEvent, out);
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set_node_event("cudaGraphEventRecordNodeSetEvent", node, cudaGraphNodeTypeEventRecord,
                        event);
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set_node_event("cudaGraphEventWaitNodeSetEvent", node, cudaGraphNodeTypeWaitEvent, event);
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return set_node_event("cudaGraphExecEventRecordNodeSetEvent", exec, node,
                        cudaGraphNodeTypeEventRecord, event);
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return set_node_event("cudaGraphExecEventWaitNodeSetEvent", exec, node,
                        cudaGraphNodeTypeWaitEvent, event);
}

// ---- executable graphs -------------------------------------------------------------------------

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  return with_exec("cudaGraphNodeSetEnabled", exec, [&](Runtime&) {
    GraphStep* step = step_of(exec, node);
    if (!can_be_disabled(step)) return cudaErrorInvalidValue;
    step->enabled = enabled != 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  return with_exec("cudaGraphNodeGetEnabled", exec, [&](Runtime&) {
    const GraphStep* step = step_of(exec, node);
    if (!can_be_disabled(step) || !enabled) return cudaErrorInvalidValue;
    *enabled = step->enabled;
    return cudaSuccess;
  });
}

// Node priorities are not among the flags, as on an H100.
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  return with_exec("cudaGraphExecGetFlags", exec, [&](Runtime&) {
    if (!flags) return cudaErrorInvalidValue;
    *flags = exec->frees_first ? cudaGraphInstantiateFlagAutoFreeOnLaunch : 0;
    return cudaSuccess;
  });
}

// ---- child graphs ------------------------------------------------------------------------------

// Returns the graph that the node holds, not a copy, so changes to it change the node.
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* out) {
  return with_node("cudaGraphChildGraphNodeGetGraph", node, [&](Runtime&) {
    if (!out || node->type != cudaGraphNodeTypeGraph) return cudaErrorInvalidValue;
    if (node->bodies.empty()) throw lab32::Error("the graph of a captured node is not known");
    *out = node->bodies.front();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return with_exec("cudaGraphExecChildGraphNodeSetParams", exec, [&](Runtime& r) {
    GraphStep* step = step_of(exec, node);
    if (!r.graphs.knows(child) || !step || step->type != cudaGraphNodeTypeGraph)
      return cudaErrorInvalidValue;
    NodeWork work;
    if (const cudaError_t error = child_graph_work(*child, &work)) return error;
    if (!have_same_topology(*step->work.child, *work.child)) return cudaErrorGraphExecUpdateFailure;
    step->work = std::move(work);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* out, cudaGraphNode_t node,
                                     cudaGraph_t clone) {
  return with_graph("cudaGraphNodeFindInClone", clone, [&](Runtime& r) {
    if (!out || !r.graphs.knows(node)) return cudaErrorInvalidValue;
    for (const auto& copy : clone->nodes)
      if (copy->copy_of == node) {
        *out = copy.get();
        return cudaSuccess;
      }
    return cudaErrorInvalidValue;
  });
}

// ---- attributes of kernels, and a picture ------------------------------------------------------

// Stores attributes that have no effect on the simulation. Other attributes would change the launch
// and are refused.
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID which,
                                            const cudaLaunchAttributeValue* value) {
  return with_kernel_node(
      "cudaGraphKernelNodeSetAttribute", node, [&](DeferredKernelLaunch& kernel) {
        if (!value) return cudaErrorInvalidValue;
        if (which != cudaLaunchAttributePriority && which != cudaLaunchAttributeAccessPolicyWindow)
          throw lab32::Error("launch attribute " + std::to_string(which) +
                             " of a graph's node is not simulated");
        kernel.hints[which] = *value;
        return cudaSuccess;
      });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID which,
                                            cudaLaunchAttributeValue* value) {
  return with_kernel_node(
      "cudaGraphKernelNodeGetAttribute", node, [&](DeferredKernelLaunch& kernel) {
        if (!value) return cudaErrorInvalidValue;
        if (which != cudaLaunchAttributePriority && which != cudaLaunchAttributeAccessPolicyWindow)
          throw lab32::Error("launch attribute " + std::to_string(which) +
                             " of a graph's node is not simulated");
        *value = kernel.hints[which];
        return cudaSuccess;
      });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return with_kernel_node("cudaGraphKernelNodeCopyAttributes", to,
                          [&](DeferredKernelLaunch& kernel) {
                            if (from->type != cudaGraphNodeTypeKernel || !from->work.kernel)
                              return cudaErrorInvalidValue;
                            kernel.hints = from->work.kernel->hints;
                            return cudaSuccess;
                          });
}

// Writes each node with its kind and kernel name, and the edges. NVIDIA's runtime writes more about
// each node.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  return with_graph("cudaGraphDebugDotPrint", graph, [&](Runtime&) {
    std::FILE* const file = path ? std::fopen(path, "w") : nullptr;
    if (!file) return path ? cudaErrorOperatingSystem : cudaErrorInvalidValue;
    std::map<cudaGraphNode_t, size_t> number;
    std::fputs("digraph dot {\n", file);
    for (const auto& node : graph->nodes) {
      const size_t n = number.emplace(node.get(), number.size()).first->second;
      const auto& kernel = node->work.kernel;
      std::fprintf(file, "  node_%zu [shape=\"record\" label=\"{%zu | %s%s%s}\"];\n", n, n,
                   node_kind_name(node->type), kernel ? " " : "",
                   kernel ? kernel->entry->symbol.c_str() : "");
    }
    for (const auto& node : graph->nodes)
      for (cudaGraphNode_t from : node->from)
        std::fprintf(file, "  node_%zu -> node_%zu;\n", number.at(from), number.at(node.get()));
    std::fputs("}\n", file);
    std::fclose(file);
    return cudaSuccess;
  });
}
