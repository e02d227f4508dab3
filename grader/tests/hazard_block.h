// Tells a HazardObserver the story of one block, a line at a time: who stores, loads, waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "observers/hazards.h"

namespace lab32::tests {

constexpr uint32_t kEveryLane = 0xffffffffu;

// Sites are line numbers of one file.
inline observe::PositionOf lines_of_kernel() {
  return [](uint32_t site) {
    return std::optional<observe::Position>({"kernel.cu", static_cast<int>(site)});
  };
}

class HazardBlock {
 public:
  using Word = std::function<uint64_t(uint32_t)>;   // lane -> element
  using Value = std::function<uint64_t(uint32_t)>;  // lane -> stored value

  explicit HazardBlock(observe::HazardObserver& observer, uint32_t threads = 64, uint64_t index = 0,
                       uint32_t bytes = 4)
      : observer_(observer), threads_(threads), bytes_(bytes) {
    sim::BlockInfo info{};
    info.index = index;
    info.x = static_cast<uint32_t>(index);
    info.threads = threads;
    info.shared_bytes = 4096;
    info.dim_x = threads;
    observer_.block_begin(info);
  }

  void load(uint32_t line, uint32_t warp, const Word& word, uint32_t mask = kEveryLane) {
    access(sim::AccessKind::load, line, warp, word, mask, nullptr);
  }
  void store(
      uint32_t line, uint32_t warp, const Word& word, uint32_t mask = kEveryLane,
      const Value& value = [](uint32_t lane) { return 1000 + lane; }) {
    access(sim::AccessKind::store, line, warp, word, mask, &value);
  }
  void atomic(uint32_t line, uint32_t warp, const Word& word, uint32_t mask = kEveryLane) {
    access(sim::AccessKind::atom, line, warp, word, mask, nullptr);
  }

  void sync() { observer_.block_barrier(nullptr, (threads_ + 31) / 32, true); }
  void sync_warp(uint32_t warp, uint32_t mask = kEveryLane) {
    observer_.warp_barrier(warp, mask & lanes(warp));
  }
  // A named barrier that these warps pass.
  void sync_some(const std::vector<uint32_t>& mask_of_warp) {
    observer_.block_barrier(mask_of_warp.data(), static_cast<uint32_t>(mask_of_warp.size()), false);
  }
  void end() { observer_.block_end(); }

 private:
  uint32_t lanes(uint32_t warp) const {
    const uint32_t n = threads_ - warp * 32;
    return n >= 32 ? kEveryLane : (1u << n) - 1;
  }

  void access(sim::AccessKind kind, uint32_t line, uint32_t warp, const Word& word, uint32_t mask,
              const Value* value) {
    std::array<uint64_t, 32> offset{};
    std::array<std::byte, 32 * 16> values{};
    mask &= lanes(warp);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      offset[lane] = word(lane) * bytes_;
      if (value == nullptr) continue;
      const uint64_t stored = (*value)(lane);
      for (uint32_t i = 0; i < bytes_; i += 8) {
        std::memcpy(&values[lane * 16 + i], &stored, std::min(bytes_ - i, 8u));
      }
    }
    sim::RawAccess raw{};
    raw.site = line;
    raw.kind = kind;
    raw.bytes = static_cast<uint8_t>(bytes_);
    raw.mask = mask;
    raw.address = offset.data();
    raw.values = value == nullptr ? nullptr : values.data();
    observer_.raw_shared(warp, raw);
  }

  observe::HazardObserver& observer_;
  uint32_t threads_;
  uint32_t bytes_;
};

}  // namespace lab32::tests
