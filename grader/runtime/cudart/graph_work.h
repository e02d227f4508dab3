// What nodes of graphs do.
#pragma once

#include <functional>
#include <memory>

#include "runtime/cudart/call.h"
#include "runtime/cudart/runtime.h"

namespace lab32::cudart {

// What is done on the device that is current now, whichever is when the graph is launched.
Work on_this_device(const std::function<cudaError_t(Runtime&)>& body);

Work record_work(cudaEvent_t event);
Work wait_work(cudaEvent_t event);  // what was recorded is done
Work host_work(const cudaHostNodeParams& parameters);
Work copy_work(const cudaMemcpy3DParms& parameters);
Work copy_work(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
Work fill_work(const cudaMemsetParams& parameters);
Work child_work(std::vector<Step> steps);
cudaError_t child_work(const CUgraph_st& graph, Work* work);
Work launch_work(std::shared_ptr<KernelCall> call);
// Throws Error for what a launch would. Work without `kernel`: no kernel.
Work kernel_work(Runtime& runtime, const cudaKernelNodeParams& parameters);

// Nodes of graphs that allocate and free memory: an address from when the node is added on, memory
// there from one node to the other.

// As an H100 takes it; the address goes to `parameters`.
cudaError_t alloc_work(Runtime& runtime, cudaMemAllocNodeParams* parameters, Work* work);
// Of what a node allocates, in this graph or another; once in a graph.
cudaError_t free_work(Runtime& runtime, const CUgraph_st& graph, void* pointer, Work* work);

bool uses_memory(const std::vector<Step>& steps);
// Before a launch: what it allocates must not be there (but what it frees first), what it frees
// must be, unless it allocates it. cudaErrorInvalidValue.
cudaError_t begin_memory(Runtime& runtime, const CUgraphExec_st& exec);

// What the functions of graphs have in common.

using GraphBody = std::function<cudaError_t(Runtime&)>;

// cudaErrorInvalidValue for what is none.
cudaError_t with_graph(const char* name, cudaGraph_t graph, const GraphBody& body);
cudaError_t with_node(const char* name, cudaGraphNode_t node, const GraphBody& body);
cudaError_t with_exec(const char* name, cudaGraphExec_t exec, const GraphBody& body);

// `make` may find that its arguments are wrong.
cudaError_t add_node(const char* name, cudaGraphNode_t* out, cudaGraph_t graph,
                     const cudaGraphNode_t* from, size_t count, cudaGraphNodeType type,
                     const std::function<cudaError_t(Runtime&, Work*)>& make);

// A node that does what this graph, of which it has a copy, did then.
cudaError_t add_child(const char* name, cudaGraphNode_t* out, cudaGraph_t graph,
                      const cudaGraphNode_t* from, size_t count, cudaGraph_t child);

// All of a list, or as many as fit, as cudaGraphGetNodes gives them.
cudaError_t give_nodes(const std::vector<cudaGraphNode_t>& all, cudaGraphNode_t* out,
                       size_t* count);

// Nodes of the same kinds with the same edges.
bool same_shape(const std::vector<Step>& a, const std::vector<Step>& b);

// Of a node; nullptr: it has none, or is of another graph.
Step* step_of(cudaGraphExec_t exec, cudaGraphNode_t node);
// Its work made anew. cudaErrorInvalidValue: there is no such step, or it is of another kind.
cudaError_t set_work(Step* step, cudaGraphNodeType type, Work work);

}  // namespace lab32::cudart
