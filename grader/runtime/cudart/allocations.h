// The program's allocations: device, pinned, managed and pool memory, and registered host memory.
// The functions allocate and free, find the allocation that a pointer is in, and store what the
// program set for managed memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "runtime/cudart/api.h"
#include "runtime/cudart/errors.h"
#include "runtime/cudart/streams.h"
#include "simulator/core/memory/memory.h"

namespace lab32::cudart {

enum class MemoryKind : uint8_t { device, pinned, managed };

struct AllocationInfo {
  uint64_t begin = 0, bytes = 0;
  MemoryKind home = MemoryKind::device;
  int device = 0;                // the device for which it was allocated
  unsigned flags = 0;            // flags passed to cudaHostAlloc or cudaMallocManaged
  cudaMemPool_t pool = nullptr;  // stream-ordered allocations
  bool of_graph = false;         // whether a node of a graph allocated it
  // The function that allocated it, and, if remember_sites() was called, the place of the call.
  std::string call;
  HostCallSite site;
};

// Memory that graph nodes hold on a device, in pieces of 32 MiB, as on an H100. Freed pieces are
// kept for the next allocation until the program trims them.
struct GraphMemoryUsage {
  uint64_t held = 0, kept = 0;
  uint64_t most = 0;     // the maximum of each
  bool is_known = true;  // false: how several allocations of one graph share pieces is not known

  uint64_t now() const { return held + kept; }
  void count_held_bytes(uint64_t bytes);
  void count_freed_bytes(uint64_t bytes);
  void trim() { kept = 0; }
};

// Host memory that the program registered with cudaHostRegister.
struct RegisteredHostMemory {
  uint64_t bytes = 0;
  int device = 0;  // the current device at registration
  unsigned flags = 0;
  uint64_t device_address = 0;  // the device address of these pages
};

class Allocations {
 public:
  Allocations(sim::Memory& memory, uint64_t capacity) : memory_(memory), capacity_(capacity) {}

  // Allocates on the device that the call works on. nullptr: out of memory. `what` is the
  // function's name for messages. `reached_by` is the set of devices whose kernels reach the
  // memory, if there are several devices.
  const AllocationInfo* allocate(uint64_t bytes, MemoryKind home, const char* what,
                                 const uint64_t* reached_by = nullptr);
  // Sets the devices whose kernels reach memory that `device` allocates without a set of its own.
  void set_default_reaching_devices(int device, const uint64_t* reached_by) {
    reached_by_[static_cast<size_t>(device)] = reached_by;
  }
  void release(uint64_t begin);
  // release() for the program.
  void free(uint64_t begin) {
    if (remembers_sites_) freed_.insert(held_.at(begin).site);
    release(begin);
  }
  // The places in the program that allocated memory which it has freed since.
  const std::set<HostCallSite>& freed_sites() const { return freed_; }
  // From here on, each allocation records the place in the program that made it.
  void remember_sites() { remembers_sites_ = true; }
  template <class F>
  void for_each_allocation(F f) const {
    for (const auto& [begin, held] : held_) f(held);
  }
  // Counts `bytes` as used on the device before they have an address. False: out of memory.
  bool claim_bytes(int device, uint64_t bytes) {
    uint64_t& used = used_[static_cast<size_t>(device)];
    if (bytes > capacity_ - used) return false;
    used += bytes;
    return true;
  }
  void give_up(int device, uint64_t bytes) { used_[static_cast<size_t>(device)] -= bytes; }
  // Reserves an address for memory that is allocated and freed repeatedly; 0: out of memory.
  // allocate_graph_memory_at_address() allocates memory at that address until it is released.
  uint64_t reserve_address(uint64_t bytes, const char* what);
  void allocate_graph_memory_at_address(uint64_t begin, uint64_t bytes);
  // Releases a device's memory and the memory that was pinned or managed for it, except allocations
  // for whose first address `keeps` returns true.
  void release_all(int device, const std::function<bool(uint64_t)>& keeps);
  // Call when the pool is destroyed; its allocations remain.
  void detach_allocations_from_pool(cudaMemPool_t pool);
  // The allocation that contains the address. An empty allocation contains its first address.
  // nullptr: none.
  AllocationInfo* find(const void* pointer);

  GraphMemoryUsage& graph_memory(int device) { return graph_memory_[static_cast<size_t>(device)]; }
  uint64_t used(int device) const { return used_[static_cast<size_t>(device)]; }
  uint64_t capacity() const { return capacity_; }
  std::map<uint64_t, RegisteredHostMemory>& registered() { return registered_; }
  const std::map<uint64_t, RegisteredHostMemory>::value_type* find_registered(
      const void* pointer) const;

 private:
  sim::Memory& memory_;
  uint64_t capacity_;  // bytes of a device
  std::array<uint64_t, kMostDevices> used_{};
  std::array<const uint64_t*, kMostDevices> reached_by_{};
  std::array<GraphMemoryUsage, kMostDevices> graph_memory_{};
  bool remembers_sites_ = false;
  std::set<HostCallSite> freed_;
  std::map<uint64_t, AllocationInfo> held_;
  std::map<uint64_t, RegisteredHostMemory> registered_;
};

// What the program set with cudaMemAdvise and cudaMemPrefetchAsync, page by page, so that
// cudaMemRangeGetAttribute can return it. It has no other effect.

struct ManagedMemorySettings {
  bool read_mostly = false;
  uint64_t accessed_by = 0;  // a bit for each device; the uppermost bit is the host
  std::optional<cudaMemLocation> preferred, prefetched;
};

class ManagedMemoryAdviceMap {
 public:
  // The pages that the bytes [begin, end) touch, counted from the start of their allocation. The
  // allocation's last page may be shorter.
  struct PageAlignedRange {
    uint64_t begin, end;
  };
  static PageAlignedRange page_range(uint64_t allocation, uint64_t allocation_end, uint64_t begin,
                                     uint64_t end);

  // False: the advice or the location does not exist.
  bool advise(PageAlignedRange range, cudaMemoryAdvise advice, const cudaMemLocation& location);
  void record_prefetch_location(PageAlignedRange range, const cudaMemLocation& location);
  // Writes the attribute into `size` bytes at `data`. False: there is no such attribute, or it has
  // another size.
  bool read_range_attribute(PageAlignedRange range, cudaMemRangeAttribute attribute, void* data,
                            size_t size) const;

 private:
  struct RangeEndAndSettings {
    uint64_t end;
    ManagedMemorySettings facts;
  };
  // Changes the settings of a range, and splits the parts at its ends.
  template <class F>
  void change_settings(PageAlignedRange range, F f);
  // Calls the function for every part of the range, including the gaps between parts.
  template <class F>
  void for_each_part_settings(PageAlignedRange range, F f) const;
  template <class F>
  std::optional<cudaMemLocation> common_location(PageAlignedRange range, F place_of) const;

  std::map<uint64_t, RangeEndAndSettings> range_parts_;  // by first page
};

}  // namespace lab32::cudart
