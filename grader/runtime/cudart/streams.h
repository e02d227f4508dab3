// Contexts, streams and events. Every call finishes its work before it returns, so a stream is
// always idle; an event is a point on the modelled clock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "runtime/cudart/api.h"

// The device that a call works on.

namespace lab32::cudart {

// The most peers that a device may have (CUDA C++ Programming Guide).
constexpr int kMostDevices = 8;

// The number of the device that the current call works on. Guarded by the runtime's lock.
inline size_t& device_of_current_call() {
  static size_t number = 0;
  return number;
}

}  // namespace lab32::cudart

// The driver's contexts. All contexts of a device share its memory. Destroying a context releases
// the modules and allocations made in it.

struct CUctx_st {
  int device = 0;
  unsigned flags = 0;
  unsigned long long id = 0;
  std::set<uint64_t> memory;  // first addresses of the allocations made while it was current
};

namespace lab32::cudart {

class Contexts {
 public:
  using Context = CUctx_st*;

  explicit Contexts(int devices);

  Context make(unsigned flags, int device);
  void drop(Context context);
  bool knows(Context context) const;

  // The runtime's own context on each device.
  Context primary(int device) { return &primaries_[index(device)].context; }
  bool is_primary(Context context) const;
  void retain(int device) { ++primaries_[index(device)].retained; }
  bool release_primary_and_test_last(int device);  // true if this was the last reference
  bool is_primary_active(int device) const;
  // Call when a runtime function was called: without a current context, the first device's primary
  // context becomes current.
  void ensure_current_context();
  // Makes the device's primary context current in this thread, as cudaSetDevice does.
  void use_device(int device);

  // The context that was current when the allocation at this address was made; nullptr: none.
  Context owner_of_allocation(uint64_t begin);

  // Whether the program or the runtime has called cuInit().
  static std::atomic<bool>& is_driver_initialised();
  // This thread's stack of contexts; the last one is current. An element may be null.
  static std::vector<Context>& context_stack();
  static Context current() { return context_stack().empty() ? nullptr : context_stack().back(); }
  static void set_current(Context context);
  // The device of the current context; without one, the device that the thread last chose.
  static int current_device();

  // While an object of this class lives, the context is this thread's current one.
  class ContextScope {
   public:
    explicit ContextScope(Context context) { context_stack().push_back(context); }
    ~ContextScope() { context_stack().pop_back(); }
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;
  };

 private:
  struct PrimaryContext {
    CUctx_st context;
    int retained = 0;
    bool in_use_by_runtime = false;
  };
  static size_t index(int device) { return static_cast<size_t>(device); }
  static int& chosen_device();

  std::vector<PrimaryContext> primaries_;  // by device; the list never changes
  unsigned long long serial_ = 0;
  std::set<Context> made_;
};

}  // namespace lab32::cudart

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
  // New streams and events belong to the device that the call works on.
  cudaStream_t make(unsigned flags, int priority);
  void drop(cudaStream_t stream);
  // Accepts the default streams, too: 0, cudaStreamLegacy and cudaStreamPerThread.
  bool knows(cudaStream_t stream) const;
  bool is_default(cudaStream_t stream) const;
  unsigned long long id(cudaStream_t stream) const;
  // A default stream belongs to the device that the call works on.
  int device(cudaStream_t stream) const;
  bool is_on_current_device(cudaStream_t stream) const;

  // The attributes that the program set; all are hints.
  std::map<int, cudaStreamAttrValue>& attributes(cudaStream_t stream);

  cudaEvent_t make_event(unsigned flags);
  void drop(cudaEvent_t event);
  bool knows(cudaEvent_t event) const { return events_.count(event) != 0; }
  bool is_on_current_device(cudaEvent_t event) const;
  // Whether an event with times was recorded. Earlier times cannot be queried.
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
