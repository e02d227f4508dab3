// Graphs of work, and streams whose work is captured into one instead of being done.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "cudart/api.h"

namespace lab32::cudart {

struct Runtime;
struct Step;

// What a node does. One of the three, or nothing (an empty node).
struct Work {
  std::function<cudaError_t(Runtime&, cudaStream_t)> device;  // the stream it is launched in
  std::function<void()> host;                // outside the lock: it may wait for another thread
  std::shared_ptr<std::vector<Step>> child;  // those of another graph
};

// A node of an executable graph. `origin`: the node that it was made of.
struct Step {
  cudaGraphNode_t origin = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::vector<size_t> from;  // earlier steps
  Work work;
};

}  // namespace lab32::cudart

struct CUgraphNode_st {
  CUgraph_st* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::vector<cudaGraphNode_t> from;
  lab32::cudart::Work work;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order in which they were added
};

struct CUgraphExec_st {
  std::vector<lab32::cudart::Step> steps;  // each behind those that it depends on
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

  // nullptr: its edges make a circle.
  cudaGraphExec_t instantiate(cudaGraph_t graph);
  void drop(cudaGraphExec_t exec);
  bool knows(cudaGraphExec_t exec) const { return execs_.count(exec) != 0; }

 private:
  std::set<cudaGraph_t> graphs_;
  std::set<cudaGraphExec_t> execs_;
};

// The nodes in an order that their edges allow; none where they make a circle.
std::vector<Step> steps_of(const CUgraph_st& graph);

// Streams that capture. What is said of a stream holds for the events recorded in it, too.
class Captures {
 public:
  explicit Captures(Graphs& graphs) : graphs_(graphs) {}

  cudaError_t begin(cudaStream_t stream, cudaStreamCaptureMode mode);
  // Ends that of the stream in which it began. `graph` is null where it has failed.
  cudaError_t end(cudaStream_t stream, cudaGraph_t* graph);
  bool any() const { return !streams_.empty(); }
  bool captures(cudaStream_t stream) const { return streams_.count(stream) != 0; }
  cudaStreamCaptureStatus status(cudaStream_t stream) const;
  unsigned long long id(cudaStream_t stream) const;
  cudaGraph_t graph(cudaStream_t stream) const;
  const std::vector<cudaGraphNode_t>& last(cudaStream_t stream) const;

  cudaError_t add(cudaStream_t stream, cudaGraphNodeType type, Work work);
  void record(cudaEvent_t event, cudaStream_t stream);
  // Whether the event marks a place in a capture: a stream that waits for it takes part.
  bool is_captured(cudaEvent_t event) const { return events_.count(event) != 0; }
  cudaError_t wait(cudaStream_t stream, cudaEvent_t event);
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
