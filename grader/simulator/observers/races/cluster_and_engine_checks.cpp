#include "simulator/observers/races/cluster_and_engine_checks.h"

#include <algorithm>
#include <utility>

#include "base/memory.h"

namespace lab32::counters {

ClusterAccessCheck::ClusterAccessCheck(const sim::BlockInfo& first)
    : blocks_count_(first.cluster_blocks),
      warps_((first.threads + 31) / 32),
      stride_(align_up(std::max(first.shared_bytes, 16u), 16)),
      past_barrier_(blocks_count_ * warps_, 0) {
  join(first);
}

void ClusterAccessCheck::join(const sim::BlockInfo& block) { blocks_.push_back(block); }

bool ClusterAccessCheck::is_ordered_before_thread_of_block(const HappensBefore& order,
                                                           uint32_t rank, uint32_t thread,
                                                           uint32_t stamp) const {
  for (uint32_t t = rank * warps_ * 32; t < (rank + 1) * warps_ * 32; ++t)
    if (order.is_ordered_before(thread, stamp, t)) return true;
  return false;
}

sim::TrapFacts ClusterAccessCheck::trap_facts(sim::TrapReason reason, uint32_t warp, uint32_t lane,
                                              uint32_t owner,
                                              const RemoteSharedAccess& remote) const {
  const sim::BlockInfo& own = blocks_[rank_of_warp(warp)];
  const uint32_t thread = warp % warps_ * 32 + lane;
  sim::TrapFacts facts;
  facts.reason = reason;
  facts.block = own.index;
  facts.thread = {
      {own.x, own.y, own.z},
      {thread % own.dim_x, thread / own.dim_x % own.dim_y, thread / own.dim_x / own.dim_y}};
  sim::FaultyMemoryAccess& access = facts.access.emplace();
  access.space = sim::AccessSpace::shared;
  access.use = remote.use;
  access.bytes = remote.bytes;
  access.offset = static_cast<int64_t>(remote.offset);
  access.size = own.shared_bytes;
  access.rank = owner;
  return facts;
}

void ClusterAccessCheck::access(const HappensBefore& order, uint32_t warp,
                                const sim::PtxSharedAccessEvent& access) {
  const uint32_t rank = rank_of_warp(warp);
  for (uint32_t left = access.mask; left != 0;) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    const auto owner = static_cast<uint32_t>(access.address[lane] / stride_);
    uint32_t lanes = 0;  // that access the same owner
    for (uint32_t r = left; r != 0; r &= r - 1)
      if (access.address[__builtin_ctz(r)] / stride_ == owner) lanes |= r & (~r + 1);
    left &= ~lanes;
    if (owner == rank || owner >= blocks_count_) continue;
    const RemoteSharedAccess now{order.stamp(warp), lanes, access.address[lane] % stride_,
                                 access.bytes, sim::access_use_of(access.kind)};
    // A thread that is ordered after any action of a thread of the block is ordered after the
    // block's start.
    uint32_t& after = after_start_[{warp, owner}];
    uint32_t early = 0;
    for (uint32_t r = lanes & ~after & ~past_barrier_[warp]; r != 0; r &= r - 1) {
      const uint32_t thread = warp * 32 + static_cast<uint32_t>(__builtin_ctz(r));
      bool started = false;
      for (uint32_t t = owner * warps_ * 32; t < (owner + 1) * warps_ * 32 && !started; ++t)
        started = order.is_ordered_before(t, start_, thread);
      (started ? after : early) |= r & (~r + 1);
    }
    if (early != 0) {
      const auto first = static_cast<uint32_t>(__builtin_ctz(early));
      RemoteSharedAccess example = now;
      example.offset = access.address[first] % stride_;
      errors_before_start_.push_back(
          {access.site, early,
           trap_facts(sim::TrapReason::block_not_started, warp, first, owner, example)});
    }
    // Only a lane's last access by this instruction is kept.
    std::vector<RemoteSharedAccess>& before = remote_[{owner, warp, access.site}];
    before.erase(
        std::remove_if(before.begin(), before.end(),
                       [&](const RemoteSharedAccess& r) { return (r.lanes & ~lanes) == 0; }),
        before.end());
    before.push_back(now);
  }
}

std::vector<ClusterAccessCheck::LifetimeError> ClusterAccessCheck::end_block(
    const HappensBefore& order, uint32_t rank) {
  std::vector<LifetimeError> found = std::exchange(errors_before_start_, {});
  for (auto at = remote_.lower_bound({rank, 0, 0});
       at != remote_.end() && std::get<0>(at->first) == rank; ++at) {
    const auto& [owner, warp, site] = at->first;
    for (const RemoteSharedAccess& remote : at->second) {
      uint32_t late = 0;
      for (uint32_t r = remote.lanes; r != 0; r &= r - 1)
        if (!is_ordered_before_thread_of_block(
                order, rank, warp * 32 + static_cast<uint32_t>(__builtin_ctz(r)), remote.stamp))
          late |= r & (~r + 1);
      if (late == 0) continue;
      const auto first = static_cast<uint32_t>(__builtin_ctz(late));
      found.push_back(
          {site, late, trap_facts(sim::TrapReason::block_may_exit, warp, first, rank, remote)});
    }
  }
  return found;
}

void ClusterAccessCheck::make_block_relative(Hazard& hazard) const {
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

namespace {

using CopyEngineEvent = sim::CopyEngineEvent;

constexpr uint64_t kEngineWord = 4;

}  // namespace

void BulkCopyRaceCheck::block_begin(const sim::BlockInfo& block) {
  block_ = block;
  // Addresses in a cluster may belong to several blocks, and this class does not follow the order
  // between blocks.
  checked_ = block.cluster_blocks <= 1;
  now_ = synchronisations_ = last_fence_ = 0;
  fenced_ = false;
  words_.assign((block.shared_bytes + kEngineWord - 1) / kEngineWord, {});
  const size_t threads = (block.threads + 31) / 32 * 32;
  fence_of_thread_.assign(threads, 0);
  groups_of_thread_.assign(threads, 0);
  readings_.clear();
}

void BulkCopyRaceCheck::note_synchronisation() {
  ++synchronisations_;
  readings_.erase(std::remove_if(readings_.begin(), readings_.end(),
                                 [](const EngineRead& r) { return r.waited; }),
                  readings_.end());
}

void BulkCopyRaceCheck::shared_ptx_access(uint32_t warp, const sim::PtxSharedAccessEvent& access) {
  if (!checked_ || access.kind == sim::AccessKind::load) return;
  // An atomic may synchronise threads.
  if (access.kind != sim::AccessKind::store) note_synchronisation();
  ++now_;
  uint64_t of_row[kWarpSize];
  if (access.row != nullptr) access.row->expand_to_addresses(of_row);
  const uint64_t* const address = access.row != nullptr ? of_row : access.address;
  for (uint32_t r = access.mask; r != 0; r &= r - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(r));
    const uint32_t thread = warp * 32 + lane;
    const uint64_t begin = address[lane], end = begin + access.bytes;
    for (uint64_t word = begin / kEngineWord; word * kEngineWord < end && word < words_.size();
         ++word)
      words_[word] = {now_, synchronisations_, thread};
    for (const EngineRead& reading : readings_)
      if (begin < reading.end && reading.begin < end &&
          !(reading.waited && reading.thread == thread))
        add_or_count_hazard(sim::TrapReason::bulk_overwritten, access.site, thread, reading.thread,
                            begin, access.bytes, sim::AccessUse::write);
  }
}

void BulkCopyRaceCheck::check_engine_read(uint32_t warp, const CopyEngineEvent& event) {
  const uint32_t thread = warp * 32 + static_cast<uint32_t>(__builtin_ctz(event.mask));
  const uint64_t end = event.address + event.bytes;
  for (uint64_t word = event.address / kEngineWord;
       word * kEngineWord < end && word < words_.size(); ++word) {
    const LastThreadWrite& write = words_[word];
    if (write.when == 0 || fence_of_thread_[write.thread] > write.when) continue;
    // After the write, threads synchronised, and one of them then executed the fence.
    if (fenced_ && last_fence_ > write.synchronisation) continue;
    add_or_count_hazard(sim::TrapReason::proxy_fence, event.site, thread, write.thread,
                        word * kEngineWord, kEngineWord, sim::AccessUse::read);
    break;
  }
  const uint32_t group = groups_of_thread_[thread];
  if (!readings_.empty()) {
    EngineRead& last = readings_.back();
    if (last.site == event.site && last.thread == thread && last.group == group && !last.waited &&
        last.end == event.address) {
      last.end = end;
      return;
    }
  }
  readings_.push_back({event.site, thread, group, event.address, end});
}

void BulkCopyRaceCheck::copy_engine_event(uint32_t warp, const CopyEngineEvent& event) {
  if (!checked_) return;
  ++now_;
  if (event.kind == CopyEngineEvent::Kind::reads) return check_engine_read(warp, event);
  if (event.kind == CopyEngineEvent::Kind::writes) {
    for (uint64_t word = event.address / kEngineWord;
         word * kEngineWord < event.address + event.bytes && word < words_.size(); ++word)
      words_[word] = {};
    return;
  }
  for (uint32_t r = event.mask; r != 0; r &= r - 1) {
    const uint32_t thread = warp * 32 + static_cast<uint32_t>(__builtin_ctz(r));
    switch (event.kind) {
      case CopyEngineEvent::Kind::fences:
        fence_of_thread_[thread] = now_;
        fenced_ = true;
        last_fence_ = synchronisations_;
        break;
      case CopyEngineEvent::Kind::commits:
        ++groups_of_thread_[thread];
        break;
      case CopyEngineEvent::Kind::waits:
        for (EngineRead& reading : readings_)
          if (reading.thread == thread && reading.group + event.pending < groups_of_thread_[thread])
            reading.waited = true;
        break;
      default:
        break;
    }
  }
}

void BulkCopyRaceCheck::block_end() {
  if (!checked_) return;
  for (const EngineRead& reading : readings_)
    if (!reading.waited)
      add_or_count_hazard(sim::TrapReason::bulk_at_end, reading.site, reading.thread,
                          reading.thread, reading.begin,
                          static_cast<uint32_t>(reading.end - reading.begin), sim::AccessUse::read);
  readings_.clear();
}

sim::BlockAndThreadIndex BulkCopyRaceCheck::thread_id(uint32_t thread) const {
  return {{block_.x, block_.y, block_.z},
          {thread % block_.dim_x, thread / block_.dim_x % block_.dim_y,
           thread / block_.dim_x / block_.dim_y}};
}

void BulkCopyRaceCheck::add_or_count_hazard(sim::TrapReason reason, uint32_t site, uint32_t thread,
                                            uint32_t other, uint64_t offset, uint32_t bytes,
                                            sim::AccessUse use) {
  const auto [at, fresh] = seen_.try_emplace({reason, site});
  Hazard& hazard = at->second;
  ++hazard.count;
  if (!fresh) return;
  hazard.kind = Finding::Kind::barrier;
  hazard.block = block_;
  hazard.later.site = site;
  hazard.later.thread = thread;
  hazard.later.bytes = static_cast<uint8_t>(std::min(bytes, 16u));
  hazard.offset = offset;
  sim::TrapFacts& facts = hazard.fault.emplace();
  facts.reason = reason;
  facts.block = block_.index;
  facts.thread = thread_id(thread);
  facts.waiting = thread_id(other);
  sim::FaultyMemoryAccess& access = facts.access.emplace();
  access.space = sim::AccessSpace::shared;
  access.use = use;
  access.bytes = bytes;
  access.offset = static_cast<int64_t>(offset);
  access.size = block_.shared_bytes;
}

void BulkCopyRaceCheck::merge(sim::Observer& other) {
  for (const auto& [key, hazard] : static_cast<BulkCopyRaceCheck&>(other).seen_) {
    const auto [at, fresh] = seen_.try_emplace(key, hazard);
    if (fresh) continue;
    // The example to show is that of the first block that has the hazard.
    const uint64_t count = at->second.count + hazard.count;
    if (hazard.block.index < at->second.block.index) at->second = hazard;
    at->second.count = count;
  }
}

std::vector<Finding> BulkCopyRaceCheck::findings(const PositionOf& position) const {
  std::vector<Finding> all;
  for (const auto& [key, hazard] : seen_) all.push_back(finding_of(hazard, {}, position));
  return all;
}

}  // namespace lab32::counters
