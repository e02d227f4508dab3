// What the program has allocated, and where pointers lead.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "runtime/cudart/api.h"
#include "runtime/cudart/streams.h"
#include "simulator/core/memory/memory.h"

namespace lab32::cudart {

enum class Home : uint8_t { device, pinned, managed };

struct Held {
  uint64_t begin = 0, bytes = 0;
  Home home = Home::device;
  int device = 0;                // that it was made for
  unsigned flags = 0;            // of cudaHostAlloc or cudaMallocManaged
  cudaMemPool_t pool = nullptr;  // stream-ordered allocations
  bool of_graph = false;         // a node of a graph has made it
};

// What nodes of graphs hold of a device, in pieces of 32 MiB, as an H100 counts it: what is freed
// is kept for the next that allocates, until it is trimmed.
struct GraphMemory {
  uint64_t held = 0, kept = 0;
  uint64_t most = 0;     // of both
  bool is_known = true;  // how several allocations of one graph share pieces is not

  uint64_t now() const { return held + kept; }
  void take(uint64_t bytes);
  void free(uint64_t bytes);
  void trim() { kept = 0; }
};

// Memory of the program's own that it registered (cudaHostRegister).
struct Registered {
  uint64_t bytes = 0;
  int device = 0;  // that was current
  unsigned flags = 0;
  uint64_t device_address = 0;  // of the same pages
};

class Allocations {
 public:
  Allocations(sim::Memory& memory, uint64_t capacity) : memory_(memory), capacity_(capacity) {}

  // On the device that the call works on. nullptr: out of memory. `what`: the function, for
  // messages. `reached_by`: the devices whose kernels reach it, once there are several.
  const Held* allocate(uint64_t bytes, Home home, const char* what,
                       const uint64_t* reached_by = nullptr);
  // By whom the memory is reached that is allocated on a device without saying so.
  void set_reach(int device, const uint64_t* reached_by) {
    reached_by_[static_cast<size_t>(device)] = reached_by;
  }
  void release(uint64_t begin);
  // Memory of a device that has no address yet. False: out of memory.
  bool claim(int device, uint64_t bytes) {
    uint64_t& used = used_[static_cast<size_t>(device)];
    if (bytes > capacity_ - used) return false;
    used += bytes;
    return true;
  }
  void give_up(int device, uint64_t bytes) { used_[static_cast<size_t>(device)] -= bytes; }
  // An address for memory that comes and goes; 0: out of memory. take() brings the memory, at that
  // address, for as long as it is not released.
  uint64_t reserve(uint64_t bytes, const char* what);
  void take(uint64_t begin, uint64_t bytes);
  // A device's own, and what was pinned or managed for it; but what `keeps` says of where it
  // begins.
  void release_all(int device, const std::function<bool(uint64_t)>& keeps);
  // Its allocations live on.
  void forget_pool(cudaMemPool_t pool);
  // The one that holds the address (an empty one: that begins there); nullptr: none.
  Held* find(const void* pointer);

  GraphMemory& graph_memory(int device) { return graph_memory_[static_cast<size_t>(device)]; }
  uint64_t used(int device) const { return used_[static_cast<size_t>(device)]; }
  uint64_t capacity() const { return capacity_; }
  std::map<uint64_t, Registered>& registered() { return registered_; }
  const std::map<uint64_t, Registered>::value_type* find_registered(const void* pointer) const;

 private:
  sim::Memory& memory_;
  uint64_t capacity_;  // of a device
  std::array<uint64_t, kMostDevices> used_{};
  std::array<const uint64_t*, kMostDevices> reached_by_{};
  std::array<GraphMemory, kMostDevices> graph_memory_{};
  uint64_t serial_ = 0;
  std::map<uint64_t, Held> held_;
  std::map<uint64_t, Registered> registered_;
};

// What the program has said of managed memory (cudaMemAdvise, cudaMemPrefetchAsync), page by page,
// to be asked for again. It changes nothing else here.

struct RangeFacts {
  bool read_mostly = false;
  uint64_t accessed_by = 0;  // devices; the host is the uppermost bit
  std::optional<cudaMemLocation> preferred, prefetched;
};

class ManagedRanges {
 public:
  // Pages that the bytes [begin, end) touch, counted from where their allocation begins, whose last
  // may be shorter.
  struct Range {
    uint64_t begin, end;
  };
  static Range pages(uint64_t allocation, uint64_t allocation_end, uint64_t begin, uint64_t end);

  // False: there is no such advice, or no such place.
  bool advise(Range range, cudaMemoryAdvise advice, const cudaMemLocation& location);
  void prefetch(Range range, const cudaMemLocation& location);
  // Into `size` bytes at `data`; false: there is no such attribute, or it is of another size.
  bool read(Range range, cudaMemRangeAttribute attribute, void* data, size_t size) const;

 private:
  struct Part {
    uint64_t end;
    RangeFacts facts;
  };
  // Changes what is known of a range; parts are split at its ends.
  template <class F>
  void change(Range range, F f);
  // Of every part of it, holes between them included.
  template <class F>
  void each(Range range, F f) const;
  template <class F>
  std::optional<cudaMemLocation> common(Range range, F place_of) const;

  std::map<uint64_t, Part> parts_;  // by where they begin
};

}  // namespace lab32::cudart
