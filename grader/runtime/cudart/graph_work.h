// Makes the work of each kind of graph node, and changes it later. The functions that add nodes and
// check arguments are here, too.
#pragma once

#include <functional>
#include <memory>

#include "runtime/cudart/call.h"
#include "runtime/cudart/runtime.h"

namespace lab32::cudart {

// Work that runs on the device that is current now, whichever device is current when the graph is
// launched.
Work on_this_device(const std::function<cudaError_t(Runtime&)>& body);

Work record_work(cudaEvent_t event);
Work wait_work(cudaEvent_t event);  // wait until the recorded work is done
Work host_work(const cudaHostNodeParams& parameters);
Work copy_work(const cudaMemcpy3DParms& parameters);
Work copy_work(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
Work fill_work(const cudaMemsetParams& parameters);
Work child_work(std::vector<Step> steps);
cudaError_t child_work(const CUgraph_st& graph, Work* work);
Work launch_work(std::shared_ptr<KernelCall> call);
// Throws Error for features that a launch would refuse. If the result has no `kernel`, there is no
// kernel to launch.
Work kernel_work(Runtime& runtime, const cudaKernelNodeParams& parameters);

// Nodes that allocate and free memory. The address is fixed when the node is added; the memory
// exists between the allocating and the freeing node.

// Accepts the parameters that an H100 accepts, and writes the address to `parameters`.
cudaError_t alloc_work(Runtime& runtime, cudaMemAllocNodeParams* parameters, Work* work);
// Frees an address that a node of this or another graph allocates. A graph may free it once.
cudaError_t free_work(Runtime& runtime, const CUgraph_st& graph, void* pointer, Work* work);

bool uses_memory(const std::vector<Step>& steps);
// Checks before a launch that memory which the graph allocates is not allocated (except if the
// graph frees it first), and that memory which it frees is allocated, by the graph itself or
// before. Otherwise returns cudaErrorInvalidValue.
cudaError_t check_memory(Runtime& runtime, const CUgraphExec_st& exec);

// Checks that the functions of graphs share.

using GraphBody = std::function<cudaError_t(Runtime&)>;

// Calls `body` with the runtime locked. Returns cudaErrorInvalidValue for a null or destroyed
// graph.
cudaError_t with_graph(const char* name, cudaGraph_t graph, const GraphBody& body);
cudaError_t with_node(const char* name, cudaGraphNode_t node, const GraphBody& body);
cudaError_t with_exec(const char* name, cudaGraphExec_t exec, const GraphBody& body);

// `make` may find wrong arguments and return an error.
cudaError_t add_node(const char* name, cudaGraphNode_t* out, cudaGraph_t graph,
                     const cudaGraphNode_t* from, size_t count, cudaGraphNodeType type,
                     const std::function<cudaError_t(Runtime&, Work*)>& make);

// Adds a node that executes a copy of `graph`, as the graph is now.
cudaError_t add_child(const char* name, cudaGraphNode_t* out, cudaGraph_t graph,
                      const cudaGraphNode_t* from, size_t count, cudaGraph_t child);

// Returns all elements, or as many as fit, as cudaGraphGetNodes does.
cudaError_t store_nodes(const std::vector<cudaGraphNode_t>& all, cudaGraphNode_t* out,
                        size_t* count);

// Whether the steps have the same kinds and the same edges.
bool same_shape(const std::vector<Step>& a, const std::vector<Step>& b);

// The step of a node; nullptr: the node has none or belongs to another graph.
Step* step_of(cudaGraphExec_t exec, cudaGraphNode_t node);
// Replaces a step's work. cudaErrorInvalidValue: no such step, or another kind.
cudaError_t set_work(Step* step, cudaGraphNodeType type, Work work);

}  // namespace lab32::cudart
