// Graphs of work, and streams whose work is captured into one instead of being done.
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

// A launch that is done later: its arguments are those of when it was asked for, and may be read
// and changed where they are kept.

namespace lab32::cudart {

struct KernelEntry;

struct KernelCall {
  KernelEntry* entry = nullptr;
  const void* function = nullptr;  // as the program names it
  dim3 grid, block;
  size_t shared = 0;
  bool cooperative = false;
  std::optional<dim3> cluster = {};
  int device = 0;
  std::vector<std::vector<std::byte>> values = {};
  std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> hints = {};  // they change nothing

  // To each value, for as long as this lives.
  void** arguments() {
    pointers_.clear();
    for (std::vector<std::byte>& value : values) pointers_.push_back(value.data());
    return pointers_.data();
  }

 private:
  std::vector<void*> pointers_ = {};
};

}  // namespace lab32::cudart

// Objects of the program's that graphs hold references to: with the last of these they are
// destroyed, by a function of the program's.

struct CUuserObject_st {
  void* pointer = nullptr;
  cudaHostFn_t destroy = nullptr;
  uint64_t references = 0;  // the program's, and those of graphs
};

namespace lab32::cudart {

// How many references a graph holds.
using OwnedObjects = std::map<cudaUserObject_t, uint64_t>;

class UserObjects {
 public:
  using Dead = std::vector<std::pair<cudaHostFn_t, void*>>;

  cudaUserObject_t make(void* pointer, cudaHostFn_t destroy, uint64_t references);
  bool knows(cudaUserObject_t object) const { return objects_.count(object) != 0; }
  void retain(cudaUserObject_t object, uint64_t count) { object->references += count; }
  // False: there are not so many.
  bool release(cudaUserObject_t object, uint64_t count);
  // Those that a graph holds: another's as well, or no longer.
  void retain(const OwnedObjects& owned);
  void release(const OwnedObjects& owned);
  // Whose last reference is gone: to be destroyed by whoever asks, outside the runtime's lock.
  Dead take_dead() { return std::exchange(dead_, {}); }

 private:
  std::map<cudaUserObject_t, std::unique_ptr<CUuserObject_st>> objects_;
  Dead dead_;
};

struct Runtime;
struct Step;

// What decides what a conditional node does: a word of device memory, whose address is its handle.
struct Condition {
  uint64_t word = 0;
  unsigned otherwise = 0;  // its value when the graph is instantiated
  bool renewed = false;    // it has it at each launch
  bool used = false;       // a node has it
  // Devices whose kernels may set it: all while the graph is under way, else none.
  uint64_t reached_by = 0;
};

// A conditional node, whose bodies are graphs, or steps where it is executable.
struct Branch {
  Condition* condition = nullptr;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::vector<Step>> bodies;
};

// What a node does. One of the five, or nothing (an empty node).
struct Work {
  std::function<cudaError_t(Runtime&, cudaStream_t)> device;  // the stream it is launched in
  std::function<void()> host;                // outside the lock: it may wait for another thread
  std::shared_ptr<std::vector<Step>> child;  // those of another graph
  std::shared_ptr<Branch> branch = {};
  std::shared_ptr<KernelCall> kernel = {};
  // As the program gave it, to be read back; of captured copies there is none.
  using Given = std::variant<std::monostate, cudaMemcpy3DParms, cudaMemsetParams,
                             cudaHostNodeParams, cudaEvent_t>;
  Given given = {};
  // Memory that it makes, or that it frees: where that begins.
  uint64_t allocates = 0, frees = 0;
};

// A node of an executable graph. `origin`: the node that it was made of.
struct Step {
  cudaGraphNode_t origin = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::vector<size_t> from;  // earlier steps
  Work work;
  bool enabled = true;
};

}  // namespace lab32::cudart

struct CUgraphNode_st {
  CUgraph_st* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::vector<cudaGraphNode_t> from;
  lab32::cudart::Work work;
  // Of a conditional node, or the node's own copy of a child graph; they go with it.
  std::vector<cudaGraph_t> bodies;
  cudaGraphNode_t copy_of = nullptr;  // in the graph that its own was cloned from
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order in which they were added
  cudaGraph_t parent = nullptr;                        // of a body
  std::vector<lab32::cudart::Condition*> conditions;
  lab32::cudart::OwnedObjects objects;
};

struct CUgraphExec_st {
  std::vector<lab32::cudart::Step> steps;  // each behind those that it depends on
  std::vector<lab32::cudart::Condition*> conditions = {};
  cudaGraph_t of = nullptr;  // where it has conditions, or nodes that allocate or free
  bool frees_first =
      false;  // what an earlier launch has left (cudaGraphInstantiateFlagAutoFree...)
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
                      Work work);

  Condition& add_condition(cudaGraph_t graph, unsigned otherwise, bool renewed);
  Condition* find_condition(cudaGraph_t graph, uint64_t handle) const;  // its, or a parent's
  cudaGraph_t make_body(cudaGraph_t parent);

  // cudaErrorInvalidValue: its edges make a circle, or `result` says what is wrong with conditions.
  cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                          cudaGraphInstantiateResult* result);
  void drop(cudaGraphExec_t exec);
  bool knows(cudaGraphExec_t exec) const { return execs_.count(exec) != 0; }
  void remove(cudaGraphNode_t node);

  // Memory that nodes allocate: its address is there from when the node is added to the end.
  std::map<uint64_t, cudaMemAllocNodeParams>& memory() { return memory_; }
  UserObjects& objects() { return objects_; }

 private:
  std::set<cudaGraph_t> graphs_;
  std::set<cudaGraphExec_t> execs_;
  // To the end: executable graphs outlive those that they were made of.
  std::vector<std::unique_ptr<Condition>> conditions_;
  std::map<uint64_t, cudaMemAllocNodeParams> memory_;
  UserObjects objects_;
};

// The nodes in an order that their edges allow; false where they make a circle.
bool read_steps(const CUgraph_st& graph, std::vector<Step>* steps);
bool has_conditions(const CUgraph_st& graph);
// Whether nodes allocate or free.
bool has_memory(const CUgraph_st& graph);
// Its own and its bodies'.
std::vector<Condition*> conditions_of(const CUgraph_st& graph);

// Streams that capture. What is said of a stream holds for the events recorded in it, too.
class Captures {
 public:
  explicit Captures(Graphs& graphs) : graphs_(graphs) {}

  cudaError_t begin(cudaStream_t stream, cudaStreamCaptureMode mode);
  // Into a graph that is there, behind these nodes of its.
  cudaError_t begin(cudaStream_t stream, cudaGraph_t graph, std::vector<cudaGraphNode_t> last);
  // Ends that of the stream in which it began. `graph` is null where it has failed.
  cudaError_t end(cudaStream_t stream, cudaGraph_t* graph);
  bool any() const { return !streams_.empty(); }
  bool captures(cudaStream_t stream) const { return streams_.count(stream) != 0; }
  bool is_into_given(cudaStream_t stream) const;  // a graph that was there before
  cudaStreamCaptureStatus status(cudaStream_t stream) const;
  unsigned long long id(cudaStream_t stream) const;
  cudaGraph_t graph(cudaStream_t stream) const;
  const std::vector<cudaGraphNode_t>& last(cudaStream_t stream) const;

  cudaError_t add(cudaStream_t stream, cudaGraphNodeType type, Work work);
  void record(cudaEvent_t event, cudaStream_t stream);
  // Whether the event marks a place in a capture: a stream that waits for it takes part.
  bool is_captured(cudaEvent_t event) const { return events_.count(event) != 0; }
  cudaError_t wait(cudaStream_t stream, cudaEvent_t event);
  void set_last(cudaStream_t stream, std::vector<cudaGraphNode_t> last);
  void forget(cudaEvent_t event) { events_.erase(event); }
  // Something was asked for that cannot be captured: cudaStreamEndCapture will say so.
  void invalidate(cudaStream_t stream);
  void invalidate_all();

 private:
  struct Capture {
    cudaGraph_t graph;
    cudaStream_t origin;
    unsigned long long id;
    bool valid = true;
    bool own = true;  // the graph was made for it
  };
  struct Place {
    std::shared_ptr<Capture> capture;
    std::vector<cudaGraphNode_t> last;  // what comes next depends on these
  };
  bool is_joined(const Capture& capture) const;

  Graphs& graphs_;
  std::map<cudaStream_t, Place> streams_;
  std::map<cudaEvent_t, Place> events_;
  unsigned long long serial_ = 0;
};

}  // namespace lab32::cudart
