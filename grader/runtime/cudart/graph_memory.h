// Nodes of graphs that allocate and free memory: an address from when the node is added on, memory
// there from one node to the other.
#pragma once

#include "runtime/cudart/runtime.h"

namespace lab32::cudart {

// As an H100 takes it; the address goes to `parameters`.
cudaError_t alloc_work(Runtime& runtime, cudaMemAllocNodeParams* parameters, Work* work);
// Of what a node allocates, in this graph or another; once in a graph.
cudaError_t free_work(Runtime& runtime, const CUgraph_st& graph, void* pointer, Work* work);

bool uses_memory(const std::vector<Step>& steps);
// Before a launch: what it allocates must not be there (but what it frees first), what it frees
// must be, unless it allocates it. cudaErrorInvalidValue.
cudaError_t begin_memory(Runtime& runtime, const CUgraphExec_st& exec);

}  // namespace lab32::cudart
