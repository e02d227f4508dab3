#include "simulator/observers/races/cluster_use.h"

#include <algorithm>
#include <utility>

#include "base/memory.h"

namespace lab32::counters {

ClusterUse::ClusterUse(const sim::BlockInfo& first)
    : blocks_count_(first.cluster_blocks),
      warps_((first.threads + 31) / 32),
      stride_(align_up(std::max(first.shared_bytes, 16u), 16)),
      met_(blocks_count_ * warps_, 0) {
  join(first);
}

void ClusterUse::join(const sim::BlockInfo& block) { blocks_.push_back(block); }

bool ClusterUse::known_to(const HappensBefore& order, uint32_t rank, uint32_t thread,
                          uint32_t stamp) const {
  for (uint32_t t = rank * warps_ * 32; t < (rank + 1) * warps_ * 32; ++t)
    if (order.ordered(thread, stamp, t)) return true;
  return false;
}

sim::TrapFacts ClusterUse::facts(sim::TrapReason reason, uint32_t warp, uint32_t lane,
                                 uint32_t owner, const Remote& remote) const {
  const sim::BlockInfo& own = blocks_[rank_of_warp(warp)];
  const uint32_t thread = warp % warps_ * 32 + lane;
  sim::TrapFacts facts;
  facts.reason = reason;
  facts.block = own.index;
  facts.thread = {
      {own.x, own.y, own.z},
      {thread % own.dim_x, thread / own.dim_x % own.dim_y, thread / own.dim_x / own.dim_y}};
  sim::MemoryAccess& access = facts.access.emplace();
  access.space = sim::AccessSpace::shared;
  access.use = remote.use;
  access.bytes = remote.bytes;
  access.offset = static_cast<int64_t>(remote.offset);
  access.size = own.shared_bytes;
  access.rank = owner;
  return facts;
}

void ClusterUse::access(const HappensBefore& order, uint32_t warp, const sim::RawAccess& access) {
  const uint32_t rank = rank_of_warp(warp);
  for (uint32_t left = access.mask; left != 0;) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    const auto owner = static_cast<uint32_t>(access.address[lane] / stride_);
    uint32_t lanes = 0;  // of the same owner
    for (uint32_t r = left; r != 0; r &= r - 1)
      if (access.address[__builtin_ctz(r)] / stride_ == owner) lanes |= r & (~r + 1);
    left &= ~lanes;
    if (owner == rank || owner >= blocks_count_) continue;
    const Remote now{order.stamp(warp), lanes, access.address[lane] % stride_, access.bytes,
                     sim::use_of(access.kind)};
    // A thread that comes after something that a thread of the block has done comes after its
    // start.
    uint32_t& after = after_start_[{warp, owner}];
    uint32_t early = 0;
    for (uint32_t r = lanes & ~after & ~met_[warp]; r != 0; r &= r - 1) {
      const uint32_t thread = warp * 32 + static_cast<uint32_t>(__builtin_ctz(r));
      bool started = false;
      for (uint32_t t = owner * warps_ * 32; t < (owner + 1) * warps_ * 32 && !started; ++t)
        started = order.ordered(t, start_, thread);
      (started ? after : early) |= r & (~r + 1);
    }
    if (early != 0) {
      const auto first = static_cast<uint32_t>(__builtin_ctz(early));
      Remote example = now;
      example.offset = access.address[first] % stride_;
      before_start_.push_back(
          {access.site, early,
           facts(sim::TrapReason::block_not_started, warp, first, owner, example)});
    }
    // Of a lane's accesses from one instruction the last counts.
    std::vector<Remote>& before = remote_[{owner, warp, access.site}];
    before.erase(std::remove_if(before.begin(), before.end(),
                                [&](const Remote& r) { return (r.lanes & ~lanes) == 0; }),
                 before.end());
    before.push_back(now);
  }
}

std::vector<ClusterUse::Early> ClusterUse::end_of(const HappensBefore& order, uint32_t rank) {
  std::vector<Early> found = std::exchange(before_start_, {});
  for (auto at = remote_.lower_bound({rank, 0, 0});
       at != remote_.end() && std::get<0>(at->first) == rank; ++at) {
    const auto& [owner, warp, site] = at->first;
    for (const Remote& remote : at->second) {
      uint32_t late = 0;
      for (uint32_t r = remote.lanes; r != 0; r &= r - 1)
        if (!known_to(order, rank, warp * 32 + static_cast<uint32_t>(__builtin_ctz(r)),
                      remote.stamp))
          late |= r & (~r + 1);
      if (late == 0) continue;
      const auto first = static_cast<uint32_t>(__builtin_ctz(late));
      found.push_back(
          {site, late, facts(sim::TrapReason::block_may_exit, warp, first, rank, remote)});
    }
  }
  return found;
}

void ClusterUse::describe(Hazard& hazard) const {
  const uint32_t per_block = warps_ * 32;
  const uint32_t later = hazard.later.thread / per_block,
                 earlier = hazard.earlier.thread / per_block;
  hazard.cluster = {blocks_[later], blocks_[earlier],
                    blocks_[std::min<uint64_t>(hazard.offset / stride_, blocks_count_ - 1)]};
  hazard.block = blocks_[later];
  hazard.later.thread %= per_block;
  hazard.earlier.thread %= per_block;
  hazard.offset %= stride_;
}

}  // namespace lab32::counters
