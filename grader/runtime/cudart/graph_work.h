// Makes the work of each kind of graph node, and changes it later. The functions that add nodes and
// check arguments are here, too.
#pragma once

#include <functional>
#include <memory>

#include "runtime/cudart/call.h"
#include "runtime/cudart/runtime.h"

namespace lab32::cudart {

// NodeWork that runs on the device that is current now, whichever device is current when the graph
// is launched.
NodeWork work_on_current_device(const std::function<cudaError_t(Runtime&)>& body);

NodeWork event_record_work(cudaEvent_t event);
NodeWork event_wait_work(cudaEvent_t event);  // wait until the recorded work is done
NodeWork host_function_work(const cudaHostNodeParams& parameters);
NodeWork copy_work(const cudaMemcpy3DParms& parameters);
NodeWork copy_work(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
NodeWork fill_work(const cudaMemsetParams& parameters);
NodeWork child_graph_work(std::vector<GraphStep> steps);
cudaError_t child_graph_work(const CUgraph_st& graph, NodeWork* work);
NodeWork launch_work(std::shared_ptr<DeferredKernelLaunch> call);
// Throws Error for features that a launch would refuse. If the result has no `kernel`, there is no
// kernel to launch.
NodeWork kernel_work(Runtime& runtime, const cudaKernelNodeParams& parameters);

// Nodes that allocate and free memory. The address is fixed when the node is added; the memory
// exists between the allocating and the freeing node.

// Accepts the parameters that an H100 accepts, and writes the address to `parameters`.
cudaError_t make_alloc_node_work(Runtime& runtime, cudaMemAllocNodeParams* parameters,
                                 NodeWork* work);
// Frees an address that a node of this or another graph allocates. A graph may free it once.
cudaError_t make_free_node_work(Runtime& runtime, const CUgraph_st& graph, void* pointer,
                                NodeWork* work);

bool allocates_or_frees_memory(const std::vector<GraphStep>& steps);
// Checks before a launch that memory which the graph allocates is not allocated (except if the
// graph frees it first), and that memory which it frees is allocated, by the graph itself or
// before. Otherwise returns cudaErrorInvalidValue.
cudaError_t check_graph_allocation_states(Runtime& runtime, const CUgraphExec_st& exec);

// Checks that the functions of graphs share.

using RuntimeAction = std::function<cudaError_t(Runtime&)>;

// Calls `body` with the runtime locked. Returns cudaErrorInvalidValue for a null or destroyed
// graph.
cudaError_t with_graph(const char* name, cudaGraph_t graph, const RuntimeAction& body);
cudaError_t with_node(const char* name, cudaGraphNode_t node, const RuntimeAction& body);
cudaError_t with_exec(const char* name, cudaGraphExec_t exec, const RuntimeAction& body);

// `make` may find wrong arguments and return an error.
cudaError_t add_node(const char* name, cudaGraphNode_t* out, cudaGraph_t graph,
                     const cudaGraphNode_t* from, size_t count, cudaGraphNodeType type,
                     const std::function<cudaError_t(Runtime&, NodeWork*)>& make);

// Adds a node that executes a copy of `graph`, as the graph is now.
cudaError_t add_child(const char* name, cudaGraphNode_t* out, cudaGraph_t graph,
                      const cudaGraphNode_t* from, size_t count, cudaGraph_t child);

// Returns all elements, or as many as fit, as cudaGraphGetNodes does.
cudaError_t store_nodes(const std::vector<cudaGraphNode_t>& all, cudaGraphNode_t* out,
                        size_t* count);

// Whether the steps have the same kinds and the same edges.
bool have_same_topology(const std::vector<GraphStep>& a, const std::vector<GraphStep>& b);

// The step of a node; nullptr: the node has none or belongs to another graph.
GraphStep* step_of(cudaGraphExec_t exec, cudaGraphNode_t node);
// Replaces a step's work. cudaErrorInvalidValue: no such step, or another kind.
cudaError_t set_step_work(GraphStep* step, cudaGraphNodeType type, NodeWork work);

}  // namespace lab32::cudart
