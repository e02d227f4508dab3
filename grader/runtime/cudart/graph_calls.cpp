#include "runtime/cudart/graph_calls.h"

#include <algorithm>

#include "runtime/cudart/graph_work.h"

namespace lab32::cudart {

cudaError_t with_graph(const char* name, cudaGraph_t graph, const GraphBody& body) {
  return call(name, Waits::no,
              [&](Runtime& r) { return r.graphs.knows(graph) ? body(r) : cudaErrorInvalidValue; });
}

cudaError_t with_node(const char* name, cudaGraphNode_t node, const GraphBody& body) {
  return call(name, Waits::no,
              [&](Runtime& r) { return r.graphs.knows(node) ? body(r) : cudaErrorInvalidValue; });
}

cudaError_t add_node(const char* name, cudaGraphNode_t* out, cudaGraph_t graph,
                     const cudaGraphNode_t* from, size_t count, cudaGraphNodeType type,
                     const std::function<cudaError_t(Runtime&, Work*)>& make) {
  return with_graph(name, graph, [&](Runtime& r) {
    if (!out || (count && !from)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (!r.graphs.knows(from[i]) || from[i]->graph != graph) return cudaErrorInvalidValue;
    Work work;
    if (const cudaError_t error = make(r, &work)) return error;
    *out = r.graphs.add(graph, type, {from, from + count}, std::move(work));
    return cudaSuccess;
  });
}

cudaError_t add_child(const char* name, cudaGraphNode_t* out, cudaGraph_t graph,
                      const cudaGraphNode_t* from, size_t count, cudaGraph_t child) {
  return with_graph(name, graph, [&](Runtime& r) {
    const cudaError_t error =
        add_node(name, out, graph, from, count, cudaGraphNodeTypeGraph, [&](Runtime&, Work* work) {
          if (!r.graphs.knows(child) || child == graph) return cudaErrorInvalidValue;
          return child_work(*child, work);
        });
    if (error) return error;
    cudaGraph_t const own = r.graphs.clone(child);
    own->parent = graph;
    (*out)->bodies.push_back(own);
    return cudaSuccess;
  });
}

cudaError_t give_nodes(const std::vector<cudaGraphNode_t>& all, cudaGraphNode_t* out,
                       size_t* count) {
  if (!count) return cudaErrorInvalidValue;
  if (out)
    for (size_t i = 0; i < *count; ++i) out[i] = i < all.size() ? all[i] : nullptr;
  *count = out ? std::min(*count, all.size()) : all.size();
  return cudaSuccess;
}

bool same_shape(const std::vector<Step>& a, const std::vector<Step>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Step& x, const Step& y) {
    const auto bodies = [](const Step& step) {
      return step.work.branch ? step.work.branch->bodies.size() : 0;
    };
    if (x.type != y.type || x.from != y.from || !x.work.child != !y.work.child ||
        bodies(x) != bodies(y))
      return false;
    for (size_t i = 0; i < bodies(x); ++i)
      if (!same_shape(x.work.branch->bodies[i], y.work.branch->bodies[i])) return false;
    return !x.work.child || same_shape(*x.work.child, *y.work.child);
  });
}

cudaError_t set_work(Step* step, cudaGraphNodeType type, Work work) {
  if (!step || step->type != type) return cudaErrorInvalidValue;
  step->work = std::move(work);
  return cudaSuccess;
}

namespace {

Step* find_step(std::vector<Step>& steps, cudaGraphNode_t node) {
  for (Step& step : steps) {
    if (step.origin == node) return &step;
    if (!step.work.branch) continue;
    for (std::vector<Step>& body : step.work.branch->bodies)
      if (Step* found = find_step(body, node)) return found;
  }
  return nullptr;
}

}  // namespace

Step* step_of(cudaGraphExec_t exec, cudaGraphNode_t node) { return find_step(exec->steps, node); }

cudaError_t with_exec(const char* name, cudaGraphExec_t exec, const GraphBody& body) {
  return call(name, Waits::no,
              [&](Runtime& r) { return r.graphs.knows(exec) ? body(r) : cudaErrorInvalidValue; });
}

}  // namespace lab32::cudart
