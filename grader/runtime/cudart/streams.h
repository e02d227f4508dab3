// Streams and events. Work is done when it is called for, so a stream is never behind.
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

constexpr int kMostDevices = 8;  // as many as one may have peers (CUDA C++ Programming Guide)

// Of the call under way; its number. Under the runtime's lock.
inline size_t& acting_device() {
  static size_t number = 0;
  return number;
}

}  // namespace lab32::cudart

// The driver's contexts. A device's memory is one, whichever of its contexts is current; a context
// is what the program's modules and allocations go away with.

struct CUctx_st {
  int device = 0;
  unsigned flags = 0;
  unsigned long long id = 0;
  std::set<uint64_t> memory;  // where the allocations begin that it was current for
};

namespace lab32::cudart {

class Contexts {
 public:
  using Context = CUctx_st*;

  explicit Contexts(int devices);

  Context make(unsigned flags, int device);
  void drop(Context context);
  bool knows(Context context) const;

  // The runtime's own, one a device.
  Context primary(int device) { return &primaries_[index(device)].context; }
  bool is_primary(Context context) const;
  void retain(int device) { ++primaries_[index(device)].retained; }
  bool release(int device);  // true: nobody has it any more
  bool is_active(int device) const;
  // The runtime is called: the primary context of the first device becomes current where none is.
  void use_primary();
  // The runtime's from here on, in this thread.
  void use(int device);

  // That was current when the allocation that begins there was made; nullptr: none.
  Context owner(uint64_t begin);

  // Whether cuInit() was called, by the program or for it.
  static std::atomic<bool>& initialised();
  // Those of this thread that were pushed, the current one last; it may be a null.
  static std::vector<Context>& stack();
  static Context current() { return stack().empty() ? nullptr : stack().back(); }
  static void set_current(Context context);
  // The current context's; where there is none, that which the thread chose last.
  static int current_device();

  // While one lives, that context is this thread's current one.
  class Pushed {
   public:
    explicit Pushed(Context context) { stack().push_back(context); }
    ~Pushed() { stack().pop_back(); }
    Pushed(const Pushed&) = delete;
    Pushed& operator=(const Pushed&) = delete;
  };

 private:
  struct Primary {
    CUctx_st context;
    int retained = 0;
    bool in_use_by_runtime = false;
  };
  static size_t index(int device) { return static_cast<size_t>(device); }
  static int& chosen_device();

  std::vector<Primary> primaries_;  // by device; never more or fewer
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
