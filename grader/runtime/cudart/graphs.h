// CUDA graphs, executable graphs, and stream capture. A graph consists of nodes, each with its
// work; an executable graph is a list of steps in an order that the edges allow. Captures records
// the work of streams into graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/cudart/api.h"

// A launch that runs later. It keeps the arguments that the program passed, and the program may
// read and change them.

namespace lab32::cudart {

struct KernelEntry;

struct DeferredKernelLaunch {
  KernelEntry* entry = nullptr;
  const void* function = nullptr;  // the address by which the program names the kernel
  dim3 grid, block;
  size_t shared = 0;
  bool cooperative = false;
  std::optional<dim3> cluster = {};
  int device = 0;
  std::vector<std::vector<std::byte>> values = {};
  // Launch attributes that have no effect on the simulation.
  std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> hints = {};

  // Pointers to the values, valid while this object lives.
  void** arguments() {
    pointers_.clear();
    for (std::vector<std::byte>& value : values) pointers_.push_back(value.data());
    return pointers_.data();
  }

 private:
  std::vector<void*> pointers_ = {};
};

}  // namespace lab32::cudart

// User objects: objects of the program to which graphs hold references. When the last reference is
// released, a function of the program destroys the object.

struct CUuserObject_st {
  void* pointer = nullptr;
  cudaHostFn_t destroy = nullptr;
  uint64_t references = 0;  // number of references that the program and graphs hold
};

namespace lab32::cudart {

// The number of references that a graph holds to each object.
using OwnedObjects = std::map<cudaUserObject_t, uint64_t>;

class UserObjects {
 public:
  using Unreferenced = std::vector<std::pair<cudaHostFn_t, void*>>;

  cudaUserObject_t make(void* pointer, cudaHostFn_t destroy, uint64_t references);
  bool knows(cudaUserObject_t object) const { return objects_.count(object) != 0; }
  void retain(cudaUserObject_t object, uint64_t count) { object->references += count; }
  // False: there are fewer references.
  bool release(cudaUserObject_t object, uint64_t count);
  // Adds or releases the references that a graph holds.
  void retain(const OwnedObjects& owned);
  void release(const OwnedObjects& owned);
  // Objects without references. The caller destroys them without the runtime's lock.
  Unreferenced take_unreferenced() { return std::exchange(unreferenced_, {}); }

 private:
  std::map<cudaUserObject_t, std::unique_ptr<CUuserObject_st>> objects_;
  Unreferenced unreferenced_;
};

struct Runtime;
struct GraphStep;

// The condition of a conditional node: a word in device memory. Its address is its handle.
struct GraphCondition {
  uint64_t word = 0;
  unsigned otherwise = 0;        // value of the condition when the graph is instantiated
  bool reset_at_launch = false;  // each launch resets the value
  bool used = false;             // a node uses it
  // The devices whose kernels may set the condition: all while the graph runs, otherwise none.
  uint64_t reached_by = 0;
};

// A conditional node. Its bodies are graphs, or lists of steps in an executable graph.
struct GraphConditionalNode {
  GraphCondition* condition = nullptr;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::vector<GraphStep>> bodies;
};

// The work of a node: one of the five alternatives, or none in an empty node.
struct NodeWork {
  std::function<cudaError_t(Runtime&, cudaStream_t)> device;  // the stream of the launch
  // The host function runs without the runtime's lock, because it may wait for another thread.
  std::function<void()> host;
  std::shared_ptr<std::vector<GraphStep>> child;  // the steps of a child graph
  std::shared_ptr<GraphConditionalNode> branch = {};
  std::shared_ptr<DeferredKernelLaunch> kernel = {};
  // The parameters as the program passed them, which it may query. Captured copies have none.
  using NodeParameters = std::variant<std::monostate, cudaMemcpy3DParms, cudaMemsetParams,
                                      cudaHostNodeParams, cudaEvent_t>;
  NodeParameters given = {};
  // The address of the memory that the node allocates, and of that which it frees; 0: none.
  uint64_t allocates = 0, frees = 0;
};

// A node of an executable graph. `origin` is the graph's node.
struct GraphStep {
  cudaGraphNode_t origin = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::vector<size_t> from;  // indices of earlier steps
  NodeWork work;
  bool enabled = true;
};

}  // namespace lab32::cudart

struct CUgraphNode_st {
  CUgraph_st* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::vector<cudaGraphNode_t> from;
  lab32::cudart::NodeWork work;
  // The bodies of a conditional node, or the copy of a child graph. They are destroyed with the
  // node.
  std::vector<cudaGraph_t> bodies;
  cudaGraphNode_t copy_of = nullptr;  // in a cloned graph: the original node
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order of addition
  cudaGraph_t parent = nullptr;                        // the parent of a body
  std::vector<lab32::cudart::GraphCondition*> conditions;
  lab32::cudart::OwnedObjects objects;
};

struct CUgraphExec_st {
  std::vector<lab32::cudart::GraphStep> steps;  // each step stands behind those on which it depends
  std::vector<lab32::cudart::GraphCondition*> conditions = {};
  // the graph, if only one executable graph of it may exist (conditions, allocating nodes)
  cudaGraph_t of = nullptr;
  // whether a launch frees what an earlier one left allocated
  // (cudaGraphInstantiateFlagAutoFreeOnLaunch)
  bool frees_first = false;
  lab32::cudart::OwnedObjects objects = {};
};

namespace lab32::cudart {

// All graphs of the program.
class Graphs {
 public:
  cudaGraph_t make();
  cudaGraph_t clone(cudaGraph_t graph);
  void drop(cudaGraph_t graph);
  bool knows(cudaGraph_t graph) const { return graphs_.count(graph) != 0; }
  bool knows(cudaGraphNode_t node) const;
  cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNodeType type, std::vector<cudaGraphNode_t> from,
                      NodeWork work);

  GraphCondition& add_condition(cudaGraph_t graph, unsigned otherwise, bool reset_at_launch);
  // Searches the graph and its parents.
  GraphCondition* find_condition(cudaGraph_t graph, uint64_t handle) const;
  cudaGraph_t make_body_graph(cudaGraph_t parent);

  // cudaErrorInvalidValue: the edges form a cycle, or conditions are wrong, which `result`
  // explains.
  cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                          cudaGraphInstantiateResult* result);
  void drop(cudaGraphExec_t exec);
  bool knows(cudaGraphExec_t exec) const { return execs_.count(exec) != 0; }
  void remove(cudaGraphNode_t node);

  // Memory of allocating nodes. The address is reserved from the addition of the node to the end of
  // the process.
  std::map<uint64_t, cudaMemAllocNodeParams>& memory() { return memory_; }
  UserObjects& objects() { return objects_; }

 private:
  std::set<cudaGraph_t> graphs_;
  std::set<cudaGraphExec_t> execs_;
  // Kept to the end of the process, because executable graphs outlive the graphs that they were
  // instantiated from.
  std::vector<std::unique_ptr<GraphCondition>> conditions_;
  std::map<uint64_t, cudaMemAllocNodeParams> memory_;
  UserObjects objects_;
};

// Orders the nodes so that each follows its predecessors. False: the edges form a cycle.
bool build_steps(const CUgraph_st& graph, std::vector<GraphStep>* steps);
bool has_conditional_nodes(const CUgraph_st& graph);
// Whether any node allocates or frees memory.
bool has_memory_nodes(const CUgraph_st& graph);
// The conditions of the graph and of its bodies.
std::vector<GraphCondition*> conditions_of(const CUgraph_st& graph);

// Streams in capture. Functions that take a stream also apply to the events recorded in it.
class Captures {
 public:
  explicit Captures(Graphs& graphs) : graphs_(graphs) {}

  cudaError_t begin(cudaStream_t stream, cudaStreamCaptureMode mode);
  // Begins a capture that adds nodes to an existing graph, behind its nodes `last`.
  cudaError_t begin(cudaStream_t stream, cudaGraph_t graph, std::vector<cudaGraphNode_t> last);
  // Ends the capture that began in this stream. `graph` is null if the capture has failed.
  cudaError_t end(cudaStream_t stream, cudaGraph_t* graph);
  bool any() const { return !streams_.empty(); }
  bool captures(cudaStream_t stream) const { return streams_.count(stream) != 0; }
  // whether the stream captures into a graph that the program already has
  bool extends_program_graph(cudaStream_t stream) const;
  cudaStreamCaptureStatus status(cudaStream_t stream) const;
  unsigned long long id(cudaStream_t stream) const;
  cudaGraph_t graph(cudaStream_t stream) const;
  const std::vector<cudaGraphNode_t>& last_nodes(cudaStream_t stream) const;

  cudaError_t add(cudaStream_t stream, cudaGraphNodeType type, NodeWork work);
  void record(cudaEvent_t event, cudaStream_t stream);
  // Whether the event was recorded in a capture. A stream that waits for it joins the capture.
  bool is_captured(cudaEvent_t event) const { return events_.count(event) != 0; }
  cudaError_t wait(cudaStream_t stream, cudaEvent_t event);
  void set_last_nodes(cudaStream_t stream, std::vector<cudaGraphNode_t> last);
  void forget(cudaEvent_t event) { events_.erase(event); }
  // The stream got work that cannot be captured, so cudaStreamEndCapture will return an error.
  void invalidate(cudaStream_t stream);
  void invalidate_all();

 private:
  struct Capture {
    cudaGraph_t graph;
    cudaStream_t origin;
    unsigned long long id;
    bool valid = true;
    bool own = true;  // the capture created the graph
  };
  struct CapturePosition {
    std::shared_ptr<Capture> capture;
    std::vector<cudaGraphNode_t> last;  // the next node of the stream depends on these
  };
  bool all_streams_have_joined(const Capture& capture) const;

  Graphs& graphs_;
  std::map<cudaStream_t, CapturePosition> streams_;
  std::map<cudaEvent_t, CapturePosition> events_;
  unsigned long long serial_ = 0;
};

}  // namespace lab32::cudart
