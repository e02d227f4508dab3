#include "simulator/counters/causality.h"

#include <algorithm>

namespace lab32::counters {
namespace {

bool of_block_only(const ptx::MemoryOrder& order) { return order.scope == ptx::Scope::block; }

}  // namespace

bool Causality::Release::covers(uint32_t thread, uint32_t stamp) const {
  return stamp < view.block_floor || (thread == by.thread && stamp < view.own) ||
         (thread / 32 == by.thread / 32 && stamp < view.warp_floor) ||
         (view.vector != nullptr && stamp < (*view.vector)[thread]);
}

void Causality::begin_block(const sim::BlockInfo& block) {
  blocks_.erase(block.index);
  blocks_[block.index].order.begin_block(block.threads);
}

void Causality::end_block(uint64_t block) { blocks_.erase(block); }

// ---------------------------------------------------------------------------------------------
// Within a block

void Causality::add(Knowledge& to, const Seen& what) {
  for (Seen& have : to) {
    if (have.log != what.log || have.block_only != what.block_only) continue;
    have.length = std::max(have.length, what.length);
    return;
  }
  to.push_back(what);
}

void Causality::add(Knowledge& to, const Knowledge& what) {
  for (const Seen& one : what) add(to, one);
}

void Causality::join(Thread& to, const Thread& from) {
  add(to.known, from.known);
  add(to.known, from.pending);
  add(to.published_known, from.published_known);
  for (const auto& [thread, release] : from.published) {
    auto [at, fresh] = to.published.emplace(thread, release);
    if (!fresh && at->second.view.own < release.view.own) at->second = release;
  }
}

// What one of the lanes has, all of them have now.
void Causality::join_lanes(Block& block, const uint32_t* lane_mask_of_warp, uint32_t warps) {
  if (block.threads.empty()) return;
  Thread joined;
  std::vector<uint32_t> lanes;
  for (uint32_t warp = 0; warp < warps; ++warp)
    for (uint32_t left = lane_mask_of_warp[warp]; left != 0; left &= left - 1)
      lanes.push_back(warp * 32 + static_cast<uint32_t>(__builtin_ctz(left)));
  for (uint32_t thread : lanes)
    if (const auto at = block.threads.find(thread); at != block.threads.end())
      join(joined, at->second);
  if (joined.empty()) return;
  for (uint32_t thread : lanes) block.threads[thread] = joined;
}

void Causality::block_barrier(uint64_t block, const uint32_t* lane_mask_of_warp, uint32_t warps,
                              bool whole) {
  Block& own = blocks_.at(block);
  if (!whole) {
    own.order.some_threads(lane_mask_of_warp, warps);
    join_lanes(own, lane_mask_of_warp, warps);
    return;
  }
  own.order.whole_block();
  for (const auto& [thread, state] : own.threads) join(own.all, state);
  own.threads.clear();
}

void Causality::warp_barrier(uint64_t block, uint32_t warp, uint32_t mask) {
  Block& own = blocks_.at(block);
  std::vector<uint32_t> lanes(warp + 1, 0);
  lanes[warp] = mask;
  if (own.order.is_whole_warp(warp, mask))
    own.order.whole_warp(warp);
  else
    own.order.some_threads(lanes.data(), warp + 1);
  join_lanes(own, lanes.data(), warp + 1);
}

void Causality::mbarrier_arrive(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key,
                                bool completes) {
  blocks_.at(block).order.mbarrier_arrive(warp, mask, key, completes);
}

void Causality::mbarrier_wait(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key) {
  blocks_.at(block).order.mbarrier_wait(warp, mask, key);
}

uint32_t Causality::stamp(GridThread thread) const {
  return blocks_.at(thread.block).order.stamp(thread.thread / 32);
}

// ---------------------------------------------------------------------------------------------
// Between blocks

void Causality::fence(GridThread who, const ptx::MemoryOrder& order) {
  Block& block = blocks_.at(who.block);
  Thread& own = block.threads[who.thread];
  const bool block_only = of_block_only(order);
  if (order.acquire) {
    for (Seen seen : own.pending) {
      seen.block_only |= block_only;
      add(own.known, seen);
    }
    if (!block_only) own.pending.clear();
  }
  if (!order.release) return;
  const auto had = own.published.find(who.thread);
  if (block_only && had != own.published.end() && !had->second.block_only) return;
  own.published[who.thread] = {who, block.order.look(who.thread), block_only};
  add(own.published_known, own.known);
  add(own.published_known, block.all.known);
}

void Causality::append(Log& log, const Release& release) {
  log.of_block[release.by.block].emplace_back(log.length++, release);
}

void Causality::append(Log& log, const Knowledge& known) {
  for (const Seen& one : known)
    if (one.log.get() != &log) log.seen.emplace_back(log.length++, one);
}

void Causality::strong(GridThread who, uint64_t address, sim::AccessKind kind,
                       const ptx::MemoryOrder& order) {
  using Kind = sim::AccessKind;
  Block& block = blocks_.at(who.block);
  const bool block_only = of_block_only(order);
  const auto log = logs_.find(address);
  if ((kind == Kind::load || kind == Kind::atom) && log != logs_.end()) {
    Thread& own = block.threads[who.thread];
    add(order.acquire ? own.known : own.pending, {log->second, log->second->length, block_only});
  }
  if (kind == Kind::load) return;
  const auto at = block.threads.find(who.thread);
  const Thread none, &own = at == block.threads.end() ? none : at->second;
  const bool has_published = !own.published.empty() || !block.all.published.empty();
  if (!order.release && !has_published) {
    if (kind == Kind::store && log != logs_.end()) logs_.erase(log);
    return;
  }
  std::shared_ptr<Log>& to = logs_[address];
  // A plain store begins a new sequence; an update goes on with the old one.
  if (to == nullptr || kind == Kind::store) to = std::make_shared<Log>();
  if (order.release) {
    append(*to, {who, block.order.look(who.thread), block_only});
    append(*to, own.known);
    append(*to, block.all.known);
  }
  for (const Thread* state : {&own, static_cast<const Thread*>(&block.all)}) {
    for (const auto& [thread, release] : state->published) {
      append(*to, release);
      if (block_only) to->of_block[who.block].back().second.block_only = true;
    }
    append(*to, state->published_known);
  }
}

bool Causality::covers(const Knowledge& known, GridThread a, uint32_t stamp, uint64_t reader,
                       std::map<const Log*, size_t>& visited) {
  for (const Seen& seen : known) {
    if (seen.block_only && a.block != reader) continue;
    auto [at, fresh] = visited.emplace(seen.log.get(), seen.length);
    if (!fresh && at->second >= seen.length) continue;
    at->second = seen.length;
    if (const auto of = seen.log->of_block.find(a.block); of != seen.log->of_block.end())
      for (const auto& [place, release] : of->second) {
        if (place >= seen.length) break;
        if (release.block_only && a.block != reader) continue;
        if (release.covers(a.thread, stamp)) return true;
      }
    Knowledge further;
    for (const auto& [place, one] : seen.log->seen) {
      if (place >= seen.length) break;
      further.push_back(one);
    }
    if (covers(further, a, stamp, reader, visited)) return true;
  }
  return false;
}

bool Causality::ordered(GridThread a, uint32_t stamp, GridThread b) const {
  const Block& block = blocks_.at(b.block);
  if (a.block == b.block &&
      (a.thread == b.thread || block.order.ordered(a.thread, stamp, b.thread)))
    return true;
  std::map<const Log*, size_t> visited;
  if (covers(block.all.known, a, stamp, b.block, visited)) return true;
  const auto own = block.threads.find(b.thread);
  return own != block.threads.end() && covers(own->second.known, a, stamp, b.block, visited);
}

}  // namespace lab32::counters
