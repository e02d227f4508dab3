#include "simulator/core/memory/device_heap.h"

#include "simulator/core/memory/memory.h"

namespace lab32::sim {

uint64_t DeviceHeap::allocate(uint64_t bytes, const std::string& name) {
  if (bytes > limit_ || used_ > limit_ - bytes) return 0;
  used_ += bytes;
  const uint64_t address = memory_.allocate_small(bytes, name)->begin;
  pieces_[address] = {bytes, true};
  return address;
}

DeviceHeap::Release DeviceHeap::release(uint64_t address) {
  const auto piece = pieces_.find(address);
  if (piece == pieces_.end()) return Release::not_allocated;
  if (!piece->second.live) return Release::freed_before;
  piece->second.live = false;
  used_ -= piece->second.bytes;
  memory_.release(address);
  return Release::done;
}

void DeviceHeap::release_all() {
  for (const auto& [address, piece] : pieces_)
    if (piece.live) memory_.release(address);
  pieces_.clear();
  used_ = 0;
}

}  // namespace lab32::sim
