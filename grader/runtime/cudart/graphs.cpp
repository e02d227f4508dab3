#include "runtime/cudart/graphs.h"

#include <algorithm>

namespace lab32::cudart {

cudaUserObject_t UserObjects::make(void* pointer, cudaHostFn_t destroy, uint64_t references) {
  auto made = std::make_unique<CUuserObject_st>(CUuserObject_st{pointer, destroy, references});
  cudaUserObject_t const object = made.get();
  objects_[object] = std::move(made);
  return object;
}

bool UserObjects::release(cudaUserObject_t object, uint64_t count) {
  if (count > object->references) return false;
  object->references -= count;
  if (object->references != 0) return true;
  unreferenced_.emplace_back(object->destroy, object->pointer);
  objects_.erase(object);
  return true;
}

void UserObjects::retain(const OwnedObjects& owned) {
  for (const auto& [object, count] : owned) retain(object, count);
}

void UserObjects::release(const OwnedObjects& owned) {
  for (const auto& [object, count] : owned)
    if (knows(object)) release(object, count);
}

namespace {

// Copies the work. Each node and each step of an executable graph has its own copy of a kernel's
// arguments.
NodeWork copy_of_work(const NodeWork& work) {
  NodeWork copy = work;
  if (work.kernel) copy.kernel = std::make_shared<DeferredKernelLaunch>(*work.kernel);
  return copy;
}

// Collects the user objects of a graph and of the graphs in it.
void gather_user_objects(const CUgraph_st& graph, OwnedObjects* all) {
  for (const auto& [object, count] : graph.objects) (*all)[object] += count;
  for (const auto& node : graph.nodes)
    for (const CUgraph_st* body : node->bodies) gather_user_objects(*body, all);
}

}  // namespace

cudaGraph_t Graphs::make() { return *graphs_.insert(new CUgraph_st).first; }

cudaGraph_t Graphs::clone(cudaGraph_t graph) {
  cudaGraph_t made = make();
  std::map<cudaGraphNode_t, cudaGraphNode_t> copies;
  for (const auto& node : graph->nodes) {
    cudaGraphNode_t copy = copies[node.get()] =
        add(made, node->type, node->from, copy_of_work(node->work));
    copy->copy_of = node.get();
    if (node->type == cudaGraphNodeTypeGraph)
      for (cudaGraph_t body : node->bodies) copy->bodies.push_back(clone(body));
  }
  for (const auto& node : made->nodes)
    for (cudaGraphNode_t& from : node->from) from = copies.at(from);
  made->objects = graph->objects;
  objects_.retain(made->objects);
  return made;
}

void Graphs::drop(cudaGraph_t graph) {
  for (const auto& node : graph->nodes)
    for (cudaGraph_t body : node->bodies) drop(body);
  for (cudaGraphExec_t exec : execs_)
    if (exec->of == graph) exec->of = nullptr;
  objects_.release(graph->objects);
  graphs_.erase(graph);
  delete graph;
}

GraphCondition& Graphs::add_condition(cudaGraph_t graph, unsigned otherwise, bool reset_at_launch) {
  conditions_.push_back(std::make_unique<GraphCondition>());
  GraphCondition& made = *conditions_.back();
  made.otherwise = otherwise;
  made.reset_at_launch = reset_at_launch;
  graph->conditions.push_back(&made);
  return made;
}

GraphCondition* Graphs::find_condition(cudaGraph_t graph, uint64_t handle) const {
  for (; graph; graph = graph->parent)
    for (GraphCondition* condition : graph->conditions)
      if (condition->word == handle) return condition;
  return nullptr;
}

cudaGraph_t Graphs::make_body_graph(cudaGraph_t parent) {
  cudaGraph_t body = make();
  body->parent = parent;
  return body;
}

bool Graphs::knows(cudaGraphNode_t node) const {
  for (cudaGraph_t graph : graphs_)
    for (const auto& known : graph->nodes)
      if (known.get() == node) return true;
  return false;
}

cudaGraphNode_t Graphs::add(cudaGraph_t graph, cudaGraphNodeType type,
                            std::vector<cudaGraphNode_t> from, NodeWork work) {
  auto node = std::make_unique<CUgraphNode_st>();
  node->graph = graph;
  node->type = type;
  node->from = std::move(from);
  node->work = std::move(work);
  graph->nodes.push_back(std::move(node));
  return graph->nodes.back().get();
}

namespace {

// The other kinds of nodes that a body may contain, besides kernels and copies
// (cudaConditionalNodeParams in the toolkit's header of driver types).
bool may_be_in_conditional_body(cudaGraphNodeType type) {
  return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
         type == cudaGraphNodeTypeMemset || type == cudaGraphNodeTypeEmpty ||
         type == cudaGraphNodeTypeGraph || type == cudaGraphNodeTypeConditional;
}

bool may_be_conditional_body(const std::vector<GraphStep>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const GraphStep& step) {
    return may_be_in_conditional_body(step.type) &&
           (!step.work.child || may_be_conditional_body(*step.work.child));
  });
}

bool build_body_steps(const CUgraphNode_st& node, GraphStep* step) {
  if (node.bodies.empty()) return true;
  if (node.type == cudaGraphNodeTypeGraph) {
    step->work.child = std::make_shared<std::vector<GraphStep>>();
    return build_steps(*node.bodies.front(), step->work.child.get());
  }
  step->work.branch = std::make_shared<GraphConditionalNode>(*node.work.branch);
  for (cudaGraph_t body : node.bodies) {
    std::vector<GraphStep> steps;
    if (!build_steps(*body, &steps) || !may_be_conditional_body(steps)) return false;
    step->work.branch->bodies.push_back(std::move(steps));
  }
  return true;
}

void collect_conditions(const CUgraph_st& graph, std::vector<GraphCondition*>* all) {
  all->insert(all->end(), graph.conditions.begin(), graph.conditions.end());
  for (const auto& node : graph.nodes)
    for (cudaGraph_t body : node->bodies) collect_conditions(*body, all);
}

}  // namespace

std::vector<GraphCondition*> conditions_of(const CUgraph_st& graph) {
  std::vector<GraphCondition*> all;
  collect_conditions(graph, &all);
  return all;
}

bool has_conditional_nodes(const CUgraph_st& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const auto& node) { return node->type == cudaGraphNodeTypeConditional; });
}

bool has_memory_nodes(const CUgraph_st& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
    return node->type == cudaGraphNodeTypeMemAlloc || node->type == cudaGraphNodeTypeMemFree;
  });
}

bool build_steps(const CUgraph_st& graph, std::vector<GraphStep>* all) {
  std::vector<GraphStep>& steps = *all;
  std::map<cudaGraphNode_t, size_t> done;
  while (steps.size() < graph.nodes.size()) {
    const size_t before = steps.size();
    for (const auto& node : graph.nodes) {
      const bool ready = std::all_of(node->from.begin(), node->from.end(),
                                     [&](cudaGraphNode_t f) { return done.count(f) != 0; });
      if (!ready || done.count(node.get())) continue;
      GraphStep step{node.get(), node->type, {}, copy_of_work(node->work)};
      if (!build_body_steps(*node, &step)) return false;
      for (cudaGraphNode_t from : node->from) step.from.push_back(done.at(from));
      std::sort(step.from.begin(), step.from.end());
      done[node.get()] = steps.size();
      steps.push_back(std::move(step));
    }
    if (steps.size() == before) return false;
  }
  return true;
}

cudaError_t Graphs::instantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                cudaGraphInstantiateResult* result) {
  std::vector<GraphStep> steps;
  std::vector<GraphCondition*> conditions = conditions_of(*graph);
  const bool all_used =
      std::all_of(conditions.begin(), conditions.end(), [](GraphCondition* c) { return c->used; });
  *result = !all_used                      ? cudaGraphInstantiateConditionalHandleUnused
            : !build_steps(*graph, &steps) ? cudaGraphInstantiateInvalidStructure
                                           : cudaGraphInstantiateSuccess;
  if (*result != cudaGraphInstantiateSuccess) return cudaErrorInvalidValue;
  // Conditions and memory belong to the graph, so two executable graphs would conflict.
  const bool single = !conditions.empty() || has_memory_nodes(*graph);
  if (single)
    for (cudaGraphExec_t other : execs_)
      if (other->of == graph) return cudaErrorNotSupported;
  cudaGraph_t const of = single ? graph : nullptr;
  *exec =
      *execs_.insert(new CUgraphExec_st{std::move(steps), std::move(conditions), of, false}).first;
  gather_user_objects(*graph, &(*exec)->objects);
  objects_.retain((*exec)->objects);
  return cudaSuccess;
}

void Graphs::remove(cudaGraphNode_t node) {
  for (cudaGraph_t body : node->bodies) drop(body);
  for (const auto& other : node->graph->nodes) {
    auto& from = other->from;
    from.erase(std::remove(from.begin(), from.end(), node), from.end());
  }
  auto& nodes = node->graph->nodes;
  nodes.erase(std::find_if(nodes.begin(), nodes.end(),
                           [&](const auto& known) { return known.get() == node; }));
}

void Graphs::drop(cudaGraphExec_t exec) {
  objects_.release(exec->objects);
  execs_.erase(exec);
  delete exec;
}

cudaError_t Captures::begin(cudaStream_t stream, cudaStreamCaptureMode) {
  if (captures(stream)) return cudaErrorIllegalState;
  streams_[stream] = {
      std::make_shared<Capture>(Capture{graphs_.make(), stream, ++serial_, true, true}), {}};
  return cudaSuccess;
}

cudaError_t Captures::begin(cudaStream_t stream, cudaGraph_t graph,
                            std::vector<cudaGraphNode_t> last) {
  if (captures(stream)) return cudaErrorIllegalState;
  streams_[stream] = {std::make_shared<Capture>(Capture{graph, stream, ++serial_, true, false}),
                      std::move(last)};
  return cudaSuccess;
}

void Captures::set_last_nodes(cudaStream_t stream, std::vector<cudaGraphNode_t> last) {
  streams_.at(stream).last = std::move(last);
}

// Whether the first stream's last node depends on everything that the other streams have added.
bool Captures::all_streams_have_joined(const Capture& capture) const {
  std::vector<cudaGraphNode_t> work = streams_.at(capture.origin).last;
  std::set<cudaGraphNode_t> before(work.begin(), work.end());
  while (!work.empty()) {
    cudaGraphNode_t node = work.back();
    work.pop_back();
    for (cudaGraphNode_t from : node->from)
      if (before.insert(from).second) work.push_back(from);
  }
  for (const auto& [stream, place] : streams_)
    if (place.capture.get() == &capture)
      for (cudaGraphNode_t node : place.last)
        if (!before.count(node)) return false;
  return true;
}

cudaError_t Captures::end(cudaStream_t stream, cudaGraph_t* graph) {
  const auto at = streams_.find(stream);
  if (at == streams_.end()) return cudaErrorIllegalState;
  const std::shared_ptr<Capture> capture = at->second.capture;
  if (capture->origin != stream) return cudaErrorStreamCaptureUnmatched;
  const cudaError_t error = !capture->valid                      ? cudaErrorStreamCaptureInvalidated
                            : !all_streams_have_joined(*capture) ? cudaErrorStreamCaptureUnjoined
                                                                 : cudaSuccess;
  const auto forget = [&](auto& places) {
    for (auto place = places.begin(); place != places.end();)
      place = place->second.capture == capture ? places.erase(place) : std::next(place);
  };
  forget(streams_);
  forget(events_);
  *graph = error ? nullptr : capture->graph;
  if (error && capture->own) graphs_.drop(capture->graph);
  return error;
}

bool Captures::extends_program_graph(cudaStream_t stream) const {
  const auto at = streams_.find(stream);
  return at != streams_.end() && !at->second.capture->own;
}

cudaStreamCaptureStatus Captures::status(cudaStream_t stream) const {
  const auto at = streams_.find(stream);
  if (at == streams_.end()) return cudaStreamCaptureStatusNone;
  return at->second.capture->valid ? cudaStreamCaptureStatusActive
                                   : cudaStreamCaptureStatusInvalidated;
}

unsigned long long Captures::id(cudaStream_t stream) const {
  return streams_.at(stream).capture->id;
}
cudaGraph_t Captures::graph(cudaStream_t stream) const {
  return streams_.at(stream).capture->graph;
}
const std::vector<cudaGraphNode_t>& Captures::last_nodes(cudaStream_t stream) const {
  return streams_.at(stream).last;
}

cudaError_t Captures::add(cudaStream_t stream, cudaGraphNodeType type, NodeWork work) {
  CapturePosition& place = streams_.at(stream);
  if (!place.capture->valid) return cudaErrorStreamCaptureInvalidated;
  place.last = {graphs_.add(place.capture->graph, type, place.last, std::move(work))};
  return cudaSuccess;
}

void Captures::record(cudaEvent_t event, cudaStream_t stream) {
  const auto at = streams_.find(stream);
  if (at == streams_.end())
    events_.erase(event);
  else
    events_[event] = at->second;
}

cudaError_t Captures::wait(cudaStream_t stream, cudaEvent_t event) {
  const CapturePosition& there = events_.at(event);
  const auto [at, joins] = streams_.try_emplace(stream, there);
  if (joins) return cudaSuccess;
  if (at->second.capture != there.capture) {
    at->second.capture->valid = there.capture->valid = false;
    return cudaErrorStreamCaptureMerge;
  }
  for (cudaGraphNode_t node : there.last)
    if (std::find(at->second.last.begin(), at->second.last.end(), node) == at->second.last.end())
      at->second.last.push_back(node);
  return cudaSuccess;
}

void Captures::invalidate(cudaStream_t stream) {
  const auto at = streams_.find(stream);
  if (at != streams_.end()) at->second.capture->valid = false;
}

void Captures::invalidate_all() {
  for (auto& [stream, place] : streams_) place.capture->valid = false;
}

}  // namespace lab32::cudart
