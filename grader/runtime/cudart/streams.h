// Streams and events. Work is done when it is called for, so a stream is never behind.
#pragma once

#include <map>
#include <set>

#include "runtime/cudart/api.h"
#include "runtime/cudart/contexts.h"

struct CUstream_st {
  int device = 0;
  CUctx_st* context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
};

struct CUevent_st {
  int device = 0;
  unsigned flags = 0;
  bool recorded = false;
  double at = 0;  // seconds on the modelled clock
};

namespace lab32::cudart {

class Streams {
 public:
  // Streams and events are of the device that a call works on.
  cudaStream_t make(unsigned flags, int priority);
  void drop(cudaStream_t stream);
  // Also the default ones: 0, cudaStreamLegacy and cudaStreamPerThread.
  bool knows(cudaStream_t stream) const;
  bool is_default(cudaStream_t stream) const;
  unsigned long long id(cudaStream_t stream) const;
  // A default one is that of the device that a call works on.
  int device(cudaStream_t stream) const;
  bool is_here(cudaStream_t stream) const;

  // What the program has set of it, hints all of them.
  std::map<int, cudaStreamAttrValue>& attributes(cudaStream_t stream);

  cudaEvent_t make_event(unsigned flags);
  void drop(cudaEvent_t event);
  bool knows(cudaEvent_t event) const { return events_.count(event) != 0; }
  bool is_here(cudaEvent_t event) const;
  // Whether an event that keeps times was recorded: what came before cannot be asked for.
  bool timed() const { return timed_; }
  void record(cudaEvent_t event, double at);

 private:
  std::set<cudaStream_t> streams_;
  std::set<cudaEvent_t> events_;
  std::map<cudaStream_t, std::map<int, cudaStreamAttrValue>> attributes_;
  unsigned long long serial_ = 0;
  bool timed_ = false;
};

}  // namespace lab32::cudart
