#include "runtime/cudart/allocations.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "runtime/cudart/errors.h"

namespace lab32::cudart {

namespace {

// The bytes that this machine can still provide, because simulated device memory is host memory. 0:
// unknown.
uint64_t available_host_bytes() {
  std::ifstream info("/proc/meminfo");
  uint64_t kibibytes = 0;
  for (std::string name; info >> name; info.ignore(256, '\n'))
    if (name == "MemAvailable:" && info >> kibibytes) break;
  return kibibytes << 10;
}

// The resident bytes of this process that are not backed by files.
uint64_t anonymous_resident_bytes() {
  std::ifstream pages("/proc/self/statm");
  uint64_t whole = 0, resident = 0, shared = 0;
  pages >> whole >> resident >> shared;
  return (resident - shared) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

namespace {

uint64_t round_up_to_32_mib_pieces(uint64_t bytes) {
  constexpr uint64_t kPiece = 32 << 20;
  return (bytes + kPiece - 1) / kPiece * kPiece;
}

}  // namespace

void GraphMemoryUsage::count_held_bytes(uint64_t bytes) {
  const uint64_t pieces = round_up_to_32_mib_pieces(bytes);
  held += pieces;
  kept -= std::min(kept, pieces);
  most = std::max(most, now());
}

void GraphMemoryUsage::count_freed_bytes(uint64_t bytes) {
  held -= round_up_to_32_mib_pieces(bytes);
  kept += round_up_to_32_mib_pieces(bytes);
}

const AllocationInfo* Allocations::allocate(uint64_t bytes, MemoryKind home, const char* what,
                                            const uint64_t* reached_by) {
  // Pinned and managed memory does not count as the device's.
  const uint64_t counted = home == MemoryKind::device ? bytes : 0;
  const size_t device = device_of_current_call();
  if (bytes > capacity_ || counted > capacity_ - used_[device]) return nullptr;
  // Without this check, the system would kill the program when it touches the pages.
  constexpr uint64_t kLarge = 256 << 20;
  if (const uint64_t left = bytes >= kLarge ? available_host_bytes() : 0) {
    // Pages of earlier allocations that were not touched yet will need memory, too.
    const uint64_t due = memory_.bytes_on_demand(),
                   come = std::min(due, anonymous_resident_bytes());
    const uint64_t free = left - std::min(left, due - come);
    if (bytes + bytes / 8 > free) {
      report_unsupported_and_continue(fmt::format("{} of {} MiB, but this machine has {} MiB left",
                                                  what, bytes >> 20, free >> 20));
      return nullptr;
    }
  }
  const std::string name =
      record_and_number_allocation(current_driver_function() ? current_driver_function() : what);
  sim::Allocation* made = nullptr;
  try {
    made = home == MemoryKind::device ? memory_.allocate(bytes, name)
                                      : memory_.allocate_host_shared(bytes, name);
  } catch (const Error&) {
    return nullptr;
  }
  used_[device] += counted;
  // With a single device, every kernel reaches the memory, so no set is needed.
  if (home == MemoryKind::device && made->reached_by)
    made->reached_by = reached_by ? reached_by : reached_by_[device];
  AllocationInfo held;
  held.begin = made->begin;
  held.bytes = bytes;
  held.home = home;
  held.device = static_cast<int>(device);
  if (remembers_sites_) {
    held.call = current_driver_function() ? current_driver_function() : what;
    held.site = HostCallSite::current();
  }
  return &(held_[made->begin] = held);
}

void Allocations::release(uint64_t begin) {
  const auto at = held_.find(begin);
  if (at->second.home == MemoryKind::device)
    used_[static_cast<size_t>(at->second.device)] -= at->second.bytes;
  if (at->second.of_graph) graph_memory(at->second.device).count_freed_bytes(at->second.bytes);
  memory_.release(begin);
  held_.erase(at);
}

uint64_t Allocations::reserve_address(uint64_t bytes, const char* what) {
  const AllocationInfo* made = allocate(bytes, MemoryKind::device, what);
  if (!made) return 0;
  const uint64_t begin = made->begin;
  release(begin);
  return begin;
}

void Allocations::allocate_graph_memory_at_address(uint64_t begin, uint64_t bytes) {
  memory_.undo_release(begin);
  AllocationInfo held;
  held.begin = begin;
  held.bytes = bytes;
  held.device = static_cast<int>(device_of_current_call());
  held.of_graph = true;
  used_[device_of_current_call()] += bytes;
  graph_memory_[device_of_current_call()].count_held_bytes(bytes);
  held_[begin] = held;
}

void Allocations::release_all(int device, const std::function<bool(uint64_t)>& keeps) {
  for (auto at = held_.begin(); at != held_.end();) {
    const AllocationInfo& held = (at++)->second;
    if (held.device == device && !keeps(held.begin)) release(held.begin);
  }
  for (auto at = registered_.begin(); at != registered_.end();) {
    if (at->second.device != device) {
      ++at;
      continue;
    }
    memory_.release(at->second.device_address);
    at = registered_.erase(at);
  }
}

void Allocations::detach_allocations_from_pool(cudaMemPool_t pool) {
  for (auto& [begin, held] : held_)
    if (held.pool == pool) held.pool = nullptr;
}

AllocationInfo* Allocations::find(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  auto after = held_.upper_bound(address);
  if (after == held_.begin()) return nullptr;
  AllocationInfo& held = std::prev(after)->second;
  return address == held.begin || address - held.begin < held.bytes ? &held : nullptr;
}

const std::map<uint64_t, RegisteredHostMemory>::value_type* Allocations::find_registered(
    const void* pointer) const {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  auto after = registered_.upper_bound(address);
  if (after == registered_.begin()) return nullptr;
  const auto& entry = *std::prev(after);
  return address - entry.first < entry.second.bytes ? &entry : nullptr;
}

namespace {

constexpr uint64_t kPage = 4096;
constexpr unsigned kHost = 63;

unsigned location_bit_number(const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeDevice ? static_cast<unsigned>(location.id) : kHost;
}

bool is_same_location(const cudaMemLocation& a, const cudaMemLocation& b) {
  return a.type == b.type && (a.type == cudaMemLocationTypeHost || a.id == b.id);
}

// A location as the plain number that the older attributes return, which have no type of location.
int device_id_or_invalid_of_location(const std::optional<cudaMemLocation>& place) {
  if (!place) return cudaInvalidDeviceId;
  if (place->type == cudaMemLocationTypeDevice) return place->id;
  return place->type == cudaMemLocationTypeHost ? cudaCpuDeviceId : cudaInvalidDeviceId;
}

}  // namespace

ManagedMemoryAdviceMap::PageAlignedRange ManagedMemoryAdviceMap::page_range(uint64_t allocation,
                                                                            uint64_t allocation_end,
                                                                            uint64_t begin,
                                                                            uint64_t end) {
  const uint64_t first = (begin - allocation) / kPage * kPage;
  const uint64_t last = (end - allocation + kPage - 1) / kPage * kPage;
  return {allocation + first, std::min(allocation + last, allocation_end)};
}

template <class F>
void ManagedMemoryAdviceMap::change_settings(PageAlignedRange range, F f) {
  const auto split = [&](uint64_t at) {
    auto part = range_parts_.upper_bound(at);
    if (part == range_parts_.begin()) return;
    --part;
    if (part->first == at || part->second.end <= at) return;
    range_parts_[at] = part->second;
    part->second.end = at;
  };
  split(range.begin);
  split(range.end);
  for (uint64_t at = range.begin; at < range.end;) {
    const auto next = range_parts_.lower_bound(at);
    if (next == range_parts_.end() || next->first != at) {
      const uint64_t end =
          next == range_parts_.end() ? range.end : std::min(range.end, next->first);
      range_parts_[at] = {end, {}};
    }
    RangeEndAndSettings& part = range_parts_[at];
    f(part.facts);
    at = part.end;
  }
}

template <class F>
void ManagedMemoryAdviceMap::for_each_part_settings(PageAlignedRange range, F f) const {
  auto part = range_parts_.upper_bound(range.begin);
  if (part != range_parts_.begin() && std::prev(part)->second.end > range.begin) --part;
  uint64_t at = range.begin;
  for (; part != range_parts_.end() && part->first < range.end; ++part) {
    if (part->first > at) f(ManagedMemorySettings{});
    f(part->second.facts);
    at = part->second.end;
  }
  if (at < range.end) f(ManagedMemorySettings{});
}

template <class F>
std::optional<cudaMemLocation> ManagedMemoryAdviceMap::common_location(PageAlignedRange range,
                                                                       F place_of) const {
  std::optional<cudaMemLocation> found;
  bool first = true, all = true;
  for_each_part_settings(range, [&](const ManagedMemorySettings& facts) {
    const std::optional<cudaMemLocation>& own = place_of(facts);
    all &= own && (first || is_same_location(*own, *found));
    if (first) found = own;
    first = false;
  });
  return all ? found : std::nullopt;
}

bool ManagedMemoryAdviceMap::advise(PageAlignedRange range, cudaMemoryAdvise advice,
                                    const cudaMemLocation& location) {
  const uint64_t bit = uint64_t{1} << location_bit_number(location);
  const bool named = location.type == cudaMemLocationTypeDevice ||
                     location.type == cudaMemLocationTypeHost ||
                     location.type == cudaMemLocationTypeHostNuma;
  switch (advice) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
      change_settings(range, [&](ManagedMemorySettings& f) {
        f.read_mostly = advice == cudaMemAdviseSetReadMostly;
      });
      return true;
    case cudaMemAdviseSetPreferredLocation:
      if (!named) return false;
      change_settings(range, [&](ManagedMemorySettings& f) { f.preferred = location; });
      return true;
    case cudaMemAdviseUnsetPreferredLocation:
      change_settings(range, [](ManagedMemorySettings& f) { f.preferred.reset(); });
      return true;
    case cudaMemAdviseSetAccessedBy:
      if (!named) return false;
      change_settings(range, [&](ManagedMemorySettings& f) { f.accessed_by |= bit; });
      return true;
    case cudaMemAdviseUnsetAccessedBy:
      if (!named) return false;
      change_settings(range, [&](ManagedMemorySettings& f) { f.accessed_by &= ~bit; });
      return true;
  }
  return false;
}

void ManagedMemoryAdviceMap::record_prefetch_location(PageAlignedRange range,
                                                      const cudaMemLocation& location) {
  change_settings(range, [&](ManagedMemorySettings& f) { f.prefetched = location; });
}

bool ManagedMemoryAdviceMap::read_range_attribute(PageAlignedRange range,
                                                  cudaMemRangeAttribute attribute, void* data,
                                                  size_t size) const {
  const auto store = [&](int value) {
    if (size != sizeof value) return false;
    std::memcpy(data, &value, sizeof value);
    return true;
  };
  const auto preferred = [&] {
    return common_location(
        range, [](const ManagedMemorySettings& f) -> auto& { return f.preferred; });
  };
  const auto prefetched = [&] {
    return common_location(
        range, [](const ManagedMemorySettings& f) -> auto& { return f.prefetched; });
  };
  const auto type = [](const std::optional<cudaMemLocation>& place) {
    return place ? static_cast<int>(place->type) : cudaMemLocationTypeInvalid;
  };
  const auto id = [](const std::optional<cudaMemLocation>& place) { return place ? place->id : 0; };
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly: {
      bool all = true;
      for_each_part_settings(range, [&](const ManagedMemorySettings& f) { all &= f.read_mostly; });
      return store(all);
    }
    case cudaMemRangeAttributePreferredLocation:
      return store(device_id_or_invalid_of_location(preferred()));
    case cudaMemRangeAttributeLastPrefetchLocation:
      return store(device_id_or_invalid_of_location(prefetched()));
    case cudaMemRangeAttributePreferredLocationType:
      return store(type(preferred()));
    case cudaMemRangeAttributePreferredLocationId:
      return store(id(preferred()));
    case cudaMemRangeAttributeLastPrefetchLocationType:
      return store(type(prefetched()));
    case cudaMemRangeAttributeLastPrefetchLocationId:
      return store(id(prefetched()));
    case cudaMemRangeAttributeAccessedBy: {
      if (size == 0 || size % sizeof(int) != 0) return false;
      uint64_t all = ~uint64_t{0};
      for_each_part_settings(range, [&](const ManagedMemorySettings& f) { all &= f.accessed_by; });
      std::vector<int> numbers(size / sizeof(int), cudaInvalidDeviceId);
      size_t next = 0;
      for (unsigned bit = 0; bit <= kHost; ++bit)
        if ((all >> bit & 1) != 0 && next < numbers.size())
          numbers[next++] = bit == kHost ? cudaCpuDeviceId : static_cast<int>(bit);
      std::memcpy(data, numbers.data(), size);
      return true;
    }
  }
  return false;
}

}  // namespace lab32::cudart
