#include "runtime/cudart/allocations.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/error.h"
#include "runtime/cudart/errors.h"

namespace lab32::cudart {

namespace {

// What this machine can still give; a GPU's memory is its own. 0: not known.
uint64_t available_bytes() {
  std::ifstream info("/proc/meminfo");
  uint64_t kibibytes = 0;
  for (std::string name; info >> name; info.ignore(256, '\n'))
    if (name == "MemAvailable:" && info >> kibibytes) break;
  return kibibytes << 10;
}

// Of this process, but for files.
uint64_t resident_bytes() {
  std::ifstream pages("/proc/self/statm");
  uint64_t whole = 0, resident = 0, shared = 0;
  pages >> whole >> resident >> shared;
  return (resident - shared) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

namespace {

uint64_t in_pieces(uint64_t bytes) {
  constexpr uint64_t kPiece = 32 << 20;
  return (bytes + kPiece - 1) / kPiece * kPiece;
}

}  // namespace

void GraphMemory::take(uint64_t bytes) {
  const uint64_t pieces = in_pieces(bytes);
  held += pieces;
  kept -= std::min(kept, pieces);
  most = std::max(most, now());
}

void GraphMemory::free(uint64_t bytes) {
  held -= in_pieces(bytes);
  kept += in_pieces(bytes);
}

const Held* Allocations::allocate(uint64_t bytes, Home home, const char* what,
                                  const uint64_t* reached_by) {
  // What the host pins or the driver pages in and out is not the device's memory.
  const uint64_t counted = home == Home::device ? bytes : 0;
  const size_t device = acting_device();
  if (bytes > capacity_ || counted > capacity_ - used_[device]) return nullptr;
  // Left to itself, the system would kill the program once the pages are touched.
  constexpr uint64_t kLarge = 256 << 20;
  if (const uint64_t left = bytes >= kLarge ? available_bytes() : 0) {
    // What was allocated before may still come.
    const uint64_t due = memory_.bytes_on_demand(), come = std::min(due, resident_bytes());
    const uint64_t free = left - std::min(left, due - come);
    if (bytes + bytes / 8 > free) {
      refuse(fmt::format("{} of {} MiB, but this machine has {} MiB left", what, bytes >> 20,
                         free >> 20));
      return nullptr;
    }
  }
  const std::string name = fmt::format("{} no. {}", called_as() ? called_as() : what, ++serial_);
  sim::Allocation* made = nullptr;
  try {
    made =
        home == Home::device ? memory_.allocate(bytes, name) : memory_.allocate_shared(bytes, name);
  } catch (const Error&) {
    return nullptr;
  }
  used_[device] += counted;
  // Memory of one device is everybody's.
  if (home == Home::device && made->reached_by)
    made->reached_by = reached_by ? reached_by : reached_by_[device];
  Held held;
  held.begin = made->begin;
  held.bytes = bytes;
  held.home = home;
  held.device = static_cast<int>(device);
  return &(held_[made->begin] = held);
}

void Allocations::release(uint64_t begin) {
  const auto at = held_.find(begin);
  if (at->second.home == Home::device)
    used_[static_cast<size_t>(at->second.device)] -= at->second.bytes;
  if (at->second.of_graph) graph_memory(at->second.device).free(at->second.bytes);
  memory_.release(begin);
  held_.erase(at);
}

uint64_t Allocations::reserve(uint64_t bytes, const char* what) {
  const Held* made = allocate(bytes, Home::device, what);
  if (!made) return 0;
  const uint64_t begin = made->begin;
  release(begin);
  return begin;
}

void Allocations::take(uint64_t begin, uint64_t bytes) {
  memory_.revive(begin);
  Held held;
  held.begin = begin;
  held.bytes = bytes;
  held.device = static_cast<int>(acting_device());
  held.of_graph = true;
  used_[acting_device()] += bytes;
  graph_memory_[acting_device()].take(bytes);
  held_[begin] = held;
}

void Allocations::release_all(int device, const std::function<bool(uint64_t)>& keeps) {
  for (auto at = held_.begin(); at != held_.end();) {
    const Held& held = (at++)->second;
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

void Allocations::forget_pool(cudaMemPool_t pool) {
  for (auto& [begin, held] : held_)
    if (held.pool == pool) held.pool = nullptr;
}

Held* Allocations::find(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  auto after = held_.upper_bound(address);
  if (after == held_.begin()) return nullptr;
  Held& held = std::prev(after)->second;
  return address == held.begin || address - held.begin < held.bytes ? &held : nullptr;
}

const std::map<uint64_t, Registered>::value_type* Allocations::find_registered(
    const void* pointer) const {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  auto after = registered_.upper_bound(address);
  if (after == registered_.begin()) return nullptr;
  const auto& entry = *std::prev(after);
  return address - entry.first < entry.second.bytes ? &entry : nullptr;
}

}  // namespace lab32::cudart
