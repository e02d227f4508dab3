// What the functions of graphs have in common.
#pragma once

#include <functional>

#include "runtime/cudart/call.h"

namespace lab32::cudart {

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
