#include "simulator/observers/races/race_check.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "simulator/observers/lanes.h"

namespace lab32::counters {
namespace {

uint32_t read_stored_value(const std::byte* value, uint32_t granule) {
  uint32_t v = 0;
  if (granule == 4) {
    std::memcpy(&v, value, 4);
  } else {
    std::memcpy(&v, value, granule);
  }
  return v;
}

}  // namespace

bool RaceCheck::RaceKey::operator<(const RaceKey& o) const {
  return std::tie(kind, note, earlier, later) < std::tie(o.kind, o.note, o.earlier, o.later);
}

bool RaceCheck::RaceKey::operator==(const RaceKey& o) const {
  return kind == o.kind && note == o.note && earlier == o.earlier && later == o.later;
}

RaceCheck::RaceCheck(uint32_t granule, bool named_barriers, SiteOrders orders)
    : named_barriers_(named_barriers),
      orders_(std::move(orders)),
      has_volatile_(std::any_of(orders_.begin(), orders_.end(),
                                [](const ptx::MemoryOrder& order) { return order.is_volatile; })),
      shadow_(granule) {}

void RaceCheck::begin_block(const sim::BlockInfo& block) {
  block_ = block;
  sequence_ = 0;
  compared_values_ = false;
  cluster_.reset();
  flags_.clear();
  volatile_.clear();
  copies_.clear();
  awaited_.clear();
  if (order_.begin_block_and_is_clock_reset(block.threads)) shadow_.clear();
  shadow_.extend_to(block.shared_bytes);
}

void RaceCheck::begin_cluster(const sim::BlockInfo& block) {
  begin_block(block);
  ClusterAccessCheck& cluster = cluster_.emplace(block);
  block_.threads = cluster.threads();
  block_.shared_bytes = cluster.shared_bytes();
  if (order_.begin_block_and_is_clock_reset(block_.threads)) shadow_.clear();
  shadow_.extend_to(block_.shared_bytes);
  cluster.started(order_);
}

void RaceCheck::join_cluster(const sim::BlockInfo& block) { cluster_->join(block); }

void RaceCheck::leave_cluster(uint32_t rank) {
  for (const ClusterAccessCheck::LifetimeError& error : cluster_->end_block(order_, rank)) {
    // The key differs from those of the faults that the core reports at this site, whose `earlier`
    // is 0.
    const RaceKey key{Finding::Kind::barrier, false, 1u + static_cast<uint32_t>(error.facts.reason),
                      error.site};
    HazardEntry& entry = find_or_add_entry(key);
    if (Hazard* first = hazard_to_describe(entry, key)) first->fault = error.facts;
    entry.in_block += lane_count(error.lanes);
  }
}

void RaceCheck::cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase, bool releases,
                               bool completes) {
  // Phases alternate between two objects, so that a thread that still waits for one phase does not
  // observe the next one.
  const uint64_t key = ClusterAccessCheck::kBarrier + phase % 2;
  if (releases)
    order_.mbarrier_arrive(warp, mask, key, completes);
  else if (completes)
    order_.mbarrier_arrive(warp, 0, key, true);
}

void RaceCheck::cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase) {
  cluster_->passed_barrier(warp, mask);
  order_.mbarrier_wait(warp, mask, ClusterAccessCheck::kBarrier + phase % 2);
}

bool RaceCheck::end_block_and_check_repeatable(BlockHazardCounts* effects) {
  if (effects != nullptr) effects->effects_.clear();
  for (HazardEntry* entry : in_block_) {
    if (effects != nullptr)
      effects->effects_.push_back({entry, entry->in_block, entry->explained_in_block});
    entry->hazard.count += std::exchange(entry->in_block, 0);
    entry->explained += std::exchange(entry->explained_in_block, 0);
  }
  in_block_.clear();
  return !compared_values_;
}

void RaceCheck::add_counts_again(const BlockHazardCounts& effects) {
  for (const auto& [entry, count, explained] : effects.effects_) {
    entry->hazard.count += count;
    entry->explained += explained;
  }
}

void RaceCheck::block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block) {
  if (whole_block) {
    flags_.clear();
    volatile_.clear();
    order_.synchronise_block();
  } else if (named_barriers_) {
    flags_.join_threads_at_barrier(lane_mask_of_warp, warps);
    order_.synchronise_threads(lane_mask_of_warp, warps);
  } else {
    throw std::logic_error("hazards: a barrier of some warps where none was announced");
  }
}

void RaceCheck::warp_barrier(uint32_t warp, uint32_t mask) {
  std::vector<uint32_t> lanes(warp + 1, 0);
  lanes[warp] = mask;
  flags_.join_threads_at_barrier(lanes.data(), warp + 1);
  if (order_.is_whole_warp(warp, mask))
    order_.synchronise_warp(warp);
  else
    order_.synchronise_threads(lanes.data(), warp + 1);
}

void RaceCheck::fence(uint32_t warp, uint32_t mask, uint32_t site) {
  if (!orders_.empty()) flags_.fence(warp, mask, orders_[site]);
}

// Strong accesses give order to others, after they have been checked themselves.
void RaceCheck::apply_order_of_strong_access(uint32_t warp,
                                             const sim::PtxSharedAccessEvent& access) {
  const ptx::MemoryOrder& order = orders_[access.site];
  if (!order.strong) return;
  for (uint32_t left = access.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    flags_.order_by_strong_access(warp, lane, access.address[lane], access.kind, order);
  }
}

// Finds races of volatile stores with strong accesses.
void RaceCheck::check_volatile_stores(const CurrentAccess& v, uint32_t lanes, uint64_t cell,
                                      bool same_value) {
  const WarpCellAccessRecord& own = v.record;
  const ptx::MemoryOrder& order = orders_[own.site];
  VolatileStoreRaceCheck::Access now;
  now.stamp = own.stamp;
  now.site = own.site;
  now.use = own.use;
  now.bytes = own.bytes;
  now.polls = order.polls;
  now.volatile_store = order.is_volatile && own.use == Use::write;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(lanes));
    now.thread = own.warp * 32u + lane;
    for (const VolatileStoreRaceCheck::Access& before :
         volatile_.add_and_find_races(order_, cell, now)) {
      const WarpCellAccessRecord record(before.stamp, before.site, before.thread / 32, before.use,
                                        before.bytes);
      report_race(v, lane, cell, record, 1u << before.thread % 32, same_value,
                  Hazard::Cause::is_volatile);
    }
  }
}

void RaceCheck::mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes) {
  order_.mbarrier_arrive(warp, mask, key, completes);
}

void RaceCheck::mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key) {
  order_.mbarrier_wait(warp, mask, key);
  if (const auto copies = awaited_.find(key); copies != awaited_.end()) {
    for (const uint64_t cell : copies->second) finish_copy(cell);
    awaited_.erase(copies);
  }
}

// Fast path of check_lanes() for the usual case without a possible conflict. Returns false, and
// changes nothing, in all other cases.
[[gnu::always_inline]] inline bool RaceCheck::check_fast(const CurrentAccess& v, uint32_t lanes,
                                                         Cell& c) {
  const uint32_t count = c.records;
  const WarpCellAccessRecord& sole = c.record[0];
  if (count == 1 && sole.mask == lanes && sole.stamp == v.record.stamp &&
      sole.warp == v.record.warp && races_with_same_accesses(sole, v.record)) {
    return (lanes & (lanes - 1)) == 0 || sole.use == Use::read;
  }
  if (count > Cell::kInline) return false;
  uint32_t covered = 0, other_warp = 0xffff;
  bool two_others = false;
  WarpCellAccessRecord* extend = nullptr;
  WarpCellAccessRecord* outdated = nullptr;
  for (WarpCellAccessRecord* r = c.record; r != c.record + count; ++r) {
    const bool own_warp = r->warp == v.record.warp;
    if (races_if_unordered(*r, v.record)) {
      const bool own_lane = r->mask == lanes && (lanes & (lanes - 1)) == 0;
      if (!own_warp || (!own_lane && r->stamp >= v.warp_floor)) return false;
    }
    if (!races_with_same_accesses(*r, v.record)) continue;
    if (!own_warp) {
      two_others |= other_warp != 0xffff && other_warp != r->warp;
      other_warp = r->warp;
    } else if (r->stamp == v.record.stamp) {
      covered |= r->mask;
      if (r->site == v.record.site && !r->unwritten) extend = r;
    } else if (r->stamp < v.warp_floor) {
      outdated = r;
    }
  }
  const uint32_t fresh = lanes & ~covered;
  if (fresh == 0 || (two_others && !orders_some_warps())) return true;
  if (extend != nullptr) {
    extend->mask |= fresh;
    return true;
  }
  if (outdated == nullptr) {
    if (count == Cell::kInline) return false;
    outdated = &c.record[count];
    c.records = static_cast<uint16_t>(count + 1);
  }
  *outdated = v.record;
  outdated->mask = fresh;
  c.newest = std::max(c.newest, v.record.stamp);
  return true;
}

void RaceCheck::access(uint32_t warp, const sim::PtxSharedAccessEvent& access) {
  ++sequence_;
  const uint32_t granule = shadow_.granule();
  if (access.bytes < granule) {
    throw std::logic_error("hazards: a shared access narrower than the shadow's granule");
  }
  const Use use = sim::access_use_of(access.kind);
  CurrentAccess v{&access, order_.warp_floor(warp),
                  WarpCellAccessRecord(order_.stamp(warp), access.site, warp, use, access.bytes)};
  const bool strong = !orders_.empty() && orders_[access.site].strong;
  v.record.strong |= strong;
  const uint32_t block_floor = order_.block_floor(), block_start = order_.block_start();
  const uint64_t cells = shadow_.size();
  Cell* const shadow = cells == 0 ? nullptr : &shadow_[0];
  const bool loads = use == Use::read, stores = access.values != nullptr;
  if (cluster_) cluster_->access(order_, warp, access);
  int64_t stride = 1;
  const bool uniform =
      access.mask == kAllLanes && is_affine(access.address, &stride) && stride == 0;
  for (uint32_t left = access.mask; left != 0;) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(left));
    const uint64_t at = access.address[lane];
    uint32_t lanes = left & -left;
    left &= left - 1;
    if (loads && uniform) {
      lanes = std::exchange(left, 0) | lanes;
    } else if (loads) {  // lanes that load one address are checked together
      for (; left != 0 && access.address[__builtin_ctz(left)] == at; left &= left - 1) {
        lanes |= left & -left;
      }
    }
    const uint64_t first = shadow_.cell_of(at), end = shadow_.cell_of(at + v.record.bytes);
    if (end > cells) continue;  // the simulator has reported it
    const std::byte* value = stores ? access.values + lane * 16 : nullptr;
    for (uint64_t cell = first; cell < end; ++cell) {
      Cell& c = shadow[cell];
      if (!copies_.empty() && !copying_ && report_unawaited_copy(v, lanes, cell)) continue;
      const uint32_t stored = stores ? read_stored_value(value, granule) : 0;
      if (use != Use::write && c.written < block_start) {
        check_races_on_unwritten_cell(v, lanes, cell);
        // A barrier of the block orders all recorded accesses before this one.
      } else if (c.newest < block_floor) {
        c.record[0] = v.record;
        c.record[0].mask = lanes;
        c.records = 1;
        c.newest = v.record.stamp;
      } else if (!check_fast(v, lanes, c)) {
        check_lanes(v, lanes, cell, c.value_known && c.value == stored);
      }
      if (v.record.strong && has_volatile_)
        check_volatile_stores(v, lanes, cell, c.value_known && c.value == stored);
      if (loads) continue;
      c.written = v.record.stamp;
      c.value = stored;
      c.value_known = stores;
      if (stores) value += granule;
    }
  }
  if (strong) apply_order_of_strong_access(warp, access);
}

// The cell may have records that conflict with this access. Lanes are checked one by one, because
// each lane may conflict with different records.
void RaceCheck::check_lanes(const CurrentAccess& v, uint32_t lanes, uint64_t cell,
                            bool same_value) {
  for (; lanes != 0; lanes &= lanes - 1) {
    check_lane(v, static_cast<uint32_t>(__builtin_ctz(lanes)), cell, same_value);
  }
}

void RaceCheck::check_races_on_unwritten_cell(const CurrentAccess& v, uint32_t lanes,
                                              uint64_t cell) {
  Cell& c = shadow_[cell];
  if (c.newest < order_.block_floor()) c.records = 0;
  check_lanes(v, lanes, cell, false);
}

// Compares one lane's access with all records of the cell, then records it unless a record covers
// it.
void RaceCheck::check_lane(const CurrentAccess& v, uint32_t lane, uint64_t cell, bool same_value) {
  Cell& c = shadow_[cell];
  const uint32_t bit = 1u << lane, count = c.records;
  const bool written = c.written >= order_.block_start();
  WarpCellAccessRecord* const spill = count > Cell::kInline ? shadow_.spill(cell) : nullptr;
  WarpCellAccessRecord* extend = nullptr;  // the record of this instruction
  // A record that can be replaced: whatever races with it races with the newer access, too.
  WarpCellAccessRecord* outdated = nullptr;
  bool covered = false;
  for (uint32_t i = 0; i < count; ++i) {
    WarpCellAccessRecord& r = i < Cell::kInline ? c.record[i] : spill[i - Cell::kInline];
    if (races_if_unordered(r, v.record)) {
      if (const uint32_t lanes = unordered_lanes_of_record(v, lane, r)) {
        report_race(v, lane, cell, r, lanes, same_value);
        if (r.unwritten && !written)
          find_or_add_entry({Finding::Kind::uninitialised, false, 0, r.site}).explained_in_block +=
              lane_count(lanes);
      }
    }
    if (r.warp != v.record.warp || !races_with_same_accesses(r, v.record)) continue;
    if (r.stamp == v.record.stamp) {
      covered |= (r.mask & bit) != 0;
      if (r.site == v.record.site) extend = &r;
    } else if (r.stamp < v.warp_floor) {
      outdated = &r;
    }
  }
  if (covered) return;
  const bool unwritten = v.record.use != Use::write && !written;
  if (unwritten) report_unwritten_read(v, lane, cell);
  if (extend != nullptr && extend->unwritten == unwritten) {
    extend->mask |= bit;
    return;
  }
  c.newest = count == 0 ? v.record.stamp : std::max(c.newest, v.record.stamp);
  WarpCellAccessRecord fresh = v.record;
  fresh.mask = bit;
  fresh.unwritten = unwritten;
  if (outdated != nullptr) {
    *outdated = fresh;
  } else {
    shadow_.append(cell, fresh);
  }
}

// The lanes of the record whose accesses nothing orders before this lane's access. A lane's own
// accesses are always ordered.
uint32_t RaceCheck::unordered_lanes_of_record(const CurrentAccess& v, uint32_t lane,
                                              const WarpCellAccessRecord& record) const {
  uint32_t lanes = record.mask;
  if (record.warp == v.record.warp) lanes &= ~(1u << lane);
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint32_t other = static_cast<uint32_t>(__builtin_ctz(left));
    if (order_.is_ordered_before(record.warp * 32u + other, record.stamp,
                                 v.record.warp * 32u + lane)) {
      lanes &= ~(1u << other);
    }
  }
  return lanes;
}

void RaceCheck::async_copy_begins(uint32_t warp, const sim::PtxSharedAccessEvent& copy) {
  copying_ = true;
  access(warp, copy);
  copying_ = false;
  for (uint32_t left = copy.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    const uint64_t end = shadow_.cell_of(copy.address[lane] + copy.bytes);
    for (uint64_t cell = shadow_.cell_of(copy.address[lane]); cell < end; ++cell)
      copies_[cell] = {warp * 32 + lane, copy.site, copies_[cell].count + 1};
  }
}

void RaceCheck::finish_copy(uint64_t cell) {
  if (const auto begun = copies_.find(cell); begun != copies_.end() && --begun->second.count == 0)
    copies_.erase(begun);
}

void RaceCheck::async_copy_ends(uint32_t warp, const sim::PtxSharedAccessEvent& copy) {
  for (uint32_t left = copy.mask; left != 0; left &= left - 1) {
    const uint64_t at = copy.address[__builtin_ctz(left)];
    for (uint64_t cell = shadow_.cell_of(at); cell < shadow_.cell_of(at + copy.bytes); ++cell)
      if (copy.mbarrier == 0)
        finish_copy(cell);
      else
        awaited_[copy.mbarrier - 1].push_back(cell);
  }
  copying_ = true;
  access(warp, copy);
  copying_ = false;
}

}  // namespace lab32::counters
