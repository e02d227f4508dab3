#include "simulator/observers/traffic/traffic.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "simulator/core/memory/access.h"
#include "simulator/observers/lanes.h"
#include "simulator/observers/traffic/banks.h"
#include "simulator/observers/traffic/sectors.h"

namespace lab32::counters {

AccessCost cost_of(const sim::IssuedWarpAccess& access) {
  using sim::AccessKind;
  if (access.space != sim::AccessSpace::global) {
    const Wavefronts wavefronts = shared_wavefronts(access);
    return {wavefronts.actual, wavefronts.ideal, 0, wavefronts.estimated};
  }
  if (access.bypass_l1) {
    const L1BypassCopySectors copy =
        l1_bypass_copy_sectors(access.address, access.peer, access.bytes, access.mask);
    return {copy.moved, copy.ideal, copy.theoretical};
  }
  const uint32_t distinct = distinct_sectors(access.address, access.bytes, access.mask);
  const bool atomic = access.kind == AccessKind::red || access.kind == AccessKind::atom;
  const uint32_t cost = atomic ? atomic_sectors(access.address, access.bytes, access.mask,
                                                access.form == sim::SharedAtomicForm::compare_swap)
                               : distinct;
  return {cost, ideal_sectors(distinct, access.bytes, access.mask), distinct};
}

namespace {

using sim::AccessKind;
using sim::AccessSpace;

// True if a costs more than b relative to the ideal.
bool has_larger_relative_cost(const ExampleWarpAccess& a, const ExampleWarpAccess& b) {
  return uint64_t{a.cost} * b.ideal > uint64_t{b.cost} * a.ideal;
}

// A total order of examples, so that merging in any order gives the same result.
bool is_preferred_example(const ExampleWarpAccess& a, const ExampleWarpAccess& b) {
  if (has_larger_relative_cost(a, b)) return true;
  if (has_larger_relative_cost(b, a)) return false;
  return a.block < b.block;
}

void record_example(ExampleWarpAccess& example, const sim::IssuedWarpAccess& access, uint64_t block,
                    uint32_t warp) {
  example.block = block;
  example.warp = warp;
  example.bytes = access.bytes;
  example.matrix = access.matrix;
  example.mask = access.mask;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    example.address[lane] = (access.mask >> lane & 1) != 0 ? access.address[lane] : 0;
  }
}

}  // namespace

std::unique_ptr<sim::Observer> TrafficObserver::fork() const {
  return std::make_unique<TrafficObserver>();
}

TrafficObserver::SiteTally& TrafficObserver::tally_of(uint32_t site, AccessSpace space,
                                                      AccessKind kind) {
  const size_t key =
      size_t{site} * 8 + (space == AccessSpace::shared ? 4 : 0) + static_cast<size_t>(kind);
  if (key >= index_.size()) index_.resize((size_t{site} + 1) * 8, kNone);
  if (index_[key] == kNone) {
    index_[key] = static_cast<uint32_t>(tallies_.size());
    SiteTally& fresh = tallies_.emplace_back();
    fresh.site = fresh.worst.site = site;
    fresh.space = fresh.worst.space = space;
    fresh.kind = fresh.worst.kind = kind;
  }
  return tallies_[index_[key]];
}

void TrafficObserver::access(uint32_t warp, const sim::IssuedWarpAccess& access) {
  const bool global = access.space == AccessSpace::global;
  if ((!global && access.space != AccessSpace::shared) || access.mask == 0) return;
  SiteTally& tally = tally_of(access.site, access.space, access.kind);
  const AccessCost all = cost_of(access);
  const uint32_t cost = all.cost, ideal = all.ideal;
  tally.executed.add(access, all);
  tally.ptx_level |= all.estimated || access.ptx_level;
  sim::IssuedWarpAccess least = access;
  if (access.ptx_level) least.mask = lanes_not_yet_served(warp, access);
  if (least.mask != 0) tally.least.add(least, least.mask == access.mask ? all : cost_of(least));
  // Blocks arrive in increasing order, so an equal access of a later block does not replace the
  // example.
  ExampleWarpAccess& worst = tally.worst;
  if (worst.mask == 0 || uint64_t{cost} * worst.ideal > uint64_t{worst.cost} * ideal) {
    worst.cost = cost;
    worst.ideal = ideal;
    record_example(worst, access, block_, warp);
  }
}

void TrafficObserver::block_begin(const sim::BlockInfo& block) {
  block_ = block.index;
  served_global_.clear();
  served_shared_.clear();
}

void TrafficObserver::AccessSums::add(const sim::IssuedWarpAccess& access, const AccessCost& of) {
  ++requests;
  lanes += lane_count(access.mask);
  cost += of.cost;
  ideal += of.ideal;
  if (access.space != AccessSpace::global) return;
  distinct += of.distinct;
  bytes += uint64_t{lane_count(access.mask)} * access.bytes;
  distinct_bytes += counters::distinct_bytes(access.address, access.bytes, access.mask);
}

void TrafficObserver::AccessSums::operator+=(const AccessSums& from) {
  requests += from.requests;
  lanes += from.lanes;
  cost += from.cost;
  distinct += from.distinct;
  ideal += from.ideal;
  bytes += from.bytes;
  distinct_bytes += from.distinct_bytes;
}

uint32_t TrafficObserver::lanes_not_yet_served(uint32_t warp, const sim::IssuedWarpAccess& access) {
  const bool load = access.kind == AccessKind::load;
  if (!load && access.kind != AccessKind::store) return access.mask;
  auto& warps = access.space == AccessSpace::global ? served_global_ : served_shared_;
  std::unordered_set<uint64_t>& served = warps[warp][load ? 0 : 1];
  const uint64_t piece = std::max(access.widest, access.bytes);
  uint32_t lanes = 0;
  for (uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const uint64_t at = access.address[lane], last = (at + access.bytes - 1) / piece;
    for (uint64_t each = at / piece; each <= last; ++each)
      if (served.insert(each * kWarpSize + lane).second) lanes |= 1u << lane;
  }
  return lanes;
}

constexpr uint64_t kRanksKnown = 4;

// Sectors are counted as for device memory, for each block separately (H100: data/measured/moves).
void TrafficObserver::remote_shared_access(uint32_t /*warp*/, const sim::IssuedWarpAccess& access,
                                           bool alone) {
  if (access.mask == 0) return;
  Counters& c = other_counters(access.site);
  const bool atomic = access.kind == AccessKind::red || access.kind == AccessKind::atom;
  GlobalTraffic& to = atomic                             ? c.other.remote_atom
                      : access.kind == AccessKind::store ? c.other.remote_store
                                                         : c.other.remote_load;
  const bool swap = access.form == sim::SharedAtomicForm::compare_swap;
  ++to.requests;
  to.sectors += atomic ? atomic_sectors(access.address, access.bytes, access.mask, swap, true)
                       : distinct_sectors(access.address, access.bytes, access.mask);
  if (atomic && alone) c.other.remote_atom_wavefronts += swap ? 2 : 1;
  // The access takes as many wavefronts as in the block's own memory, because blocks do not share
  // banks.
  const AccessCost there = cost_of(access);
  ++c.other.remote_banks.requests;
  c.other.remote_banks.lanes += lane_count(access.mask);
  c.other.remote_banks.wavefronts += there.cost;
  c.other.remote_banks.ideal += there.ideal;
  // The rule for L1 sets is not known for blocks of rank 4 and above, so such atomics are
  // estimates.
  bool far = false;
  for (uint32_t rest = access.mask; atomic && rest != 0; rest &= rest - 1)
    far |= sim::rank_of(access.address[__builtin_ctz(rest)]) >= kRanksKnown;
  if (access.ptx_level || far || access.form == sim::SharedAtomicForm::spin_swap)
    c.ptx_level = c.shared_ptx_level = true;
}

void TrafficObserver::texel_access(uint32_t /*warp*/, const sim::WarpTexelAccess& access) {
  if (access.mask == 0) return;
  Counters& c = other_counters(access.site);
  const TexelSectorAddresses requests = texel_sector_addresses(access);
  if (access.ptx_level) c.ptx_level = c.global_ptx_level = true;
  if (!requests.known) {
    ++c.other.texture_unknown;
    return;
  }
  using Kind = sim::WarpTexelAccess::Kind;
  GlobalTraffic& to = access.kind == Kind::load    ? c.other.surface_load
                      : access.kind == Kind::store ? c.other.surface_store
                                                   : c.other.texture;
  to.requests += requests.ends.size();
  to.sectors += requests.sectors.size();
}

void TrafficObserver::bulk_move(uint32_t /*warp*/, const sim::ContiguousBulkMove& move) {
  Counters& c = other_counters(move.site);
  const BulkSectors moved = bulk_sectors(move);
  const uint32_t times = std::max(move.blocks, 1u);
  BulkTraffic& to =
      move.kind == sim::ContiguousBulkMove::Kind::load ? c.other.bulk_load : c.other.bulk_store;
  if (!moved.known) {
    ++c.other.bulk_unknown;
    return;
  }
  to.instructions += move.begins;
  to.sectors += uint64_t{moved.sectors} * times;
  to.ideal += uint64_t{(move.inside + kSectorBytes - 1) / kSectorBytes} * times;
  to.lines += uint64_t{moved.lines} * times;
}

void TrafficObserver::block_barrier(const uint32_t* /*lane_mask_of_warp*/, uint32_t /*warps*/,
                                    bool whole_block) {
  block_barriers_ += whole_block;
  served_shared_.clear();
}

void TrafficObserver::merge(sim::Observer& observer) {
  auto& other = static_cast<TrafficObserver&>(observer);
  for (const SiteTally& from : other.tallies_) {
    SiteTally& to = tally_of(from.site, from.space, from.kind);
    if (to.executed.requests == 0 || is_preferred_example(from.worst, to.worst))
      to.worst = from.worst;
    to.executed += from.executed;
    to.least += from.least;
    to.ptx_level |= from.ptx_level;
  }
  for (const auto& [site, counters] : other.other_counters_) other_counters(site) += counters;
  block_barriers_ += other.block_barriers_;
  add_issue_counts(other.issues_);
}

void TrafficObserver::add_issue_counts(
    const std::vector<sim::StaticInstructionIssueCounts>& tally) {
  if (issues_.size() < tally.size()) issues_.resize(tally.size());
  for (size_t site = 0; site < tally.size(); ++site) {
    issues_[site].warps += tally[site].warps;
    issues_[site].lanes += tally[site].lanes;
  }
}

Counters TrafficObserver::SiteTally::counters(const AccessSums& sums) const {
  Counters c;
  c.ptx_level = ptx_level;
  if (space == AccessSpace::shared) {
    SharedTraffic& to = kind == AccessKind::load    ? c.shared_load
                        : kind == AccessKind::store ? c.shared_store
                                                    : c.shared_atom;
    to = {sums.requests, sums.lanes, sums.cost, sums.ideal};
    c.shared_ptx_level = ptx_level;
    return c;
  }
  c.global_ptx_level = ptx_level;
  GlobalTraffic& to = kind == AccessKind::load    ? c.load
                      : kind == AccessKind::store ? c.store
                      : kind == AccessKind::red   ? c.red
                                                  : c.atom;
  to = {sums.requests, sums.cost};
  (kind == AccessKind::load    ? c.load_bytes
   : kind == AccessKind::store ? c.store_bytes
   : kind == AccessKind::red   ? c.red_bytes
                               : c.atom_bytes) = sums.distinct_bytes;
  c.global_bytes = sums.bytes;
  c.l2_sectors = sums.distinct;
  c.l2_sectors_ideal = sums.ideal;
  if (kind == AccessKind::load) c.load_ideal = sums.ideal;
  if (kind == AccessKind::store) c.store_ideal = sums.ideal;
  return c;
}

Counters TrafficObserver::totals() const { return totals_of(&SiteTally::executed); }

Counters TrafficObserver::least_totals() const { return totals_of(&SiteTally::least); }

Counters TrafficObserver::totals_of(AccessSums SiteTally::*sums) const {
  Counters total;
  for (const SiteTally& tally : tallies_) total += tally.counters(tally.*sums);
  for (const auto& [site, counters] : other_counters_) total += counters;
  for (const sim::StaticInstructionIssueCounts& issue : issues_) {
    total.warp_instructions += issue.warps;
    total.lane_instructions += issue.lanes;
  }
  total.block_barriers = block_barriers_;
  return total;
}

Counters TrafficObserver::counters_of_site(uint32_t site) const {
  Counters sum;
  for (size_t key = size_t{site} * 8; key < size_t{site} * 8 + 8 && key < index_.size(); ++key)
    if (index_[key] != kNone) {
      const SiteTally& tally = tallies_[index_[key]];
      sum += tally.counters(tally.executed);
    }
  if (const auto found = other_counters_.find(site); found != other_counters_.end())
    sum += found->second;
  return sum;
}

std::vector<LineCounters> TrafficObserver::counters_by_line(const PositionOf& position) const {
  std::map<std::pair<std::string, int>, Counters> by_line;
  const auto line_of = [&](size_t site) -> Counters& {
    const auto at = position(static_cast<uint32_t>(site));
    return at ? by_line[{at->file, at->line}] : by_line[{"", 0}];
  };
  for (const SiteTally& tally : tallies_) line_of(tally.site) += tally.counters(tally.executed);
  for (const auto& [site, counters] : other_counters_) line_of(site) += counters;
  for (size_t site = 0; site < issues_.size(); ++site) {
    if (issues_[site].warps == 0) continue;
    Counters& line = line_of(site);
    line.warp_instructions += issues_[site].warps;
    line.lane_instructions += issues_[site].lanes;
  }
  std::vector<LineCounters> lines;
  for (auto& [at, counters] : by_line) lines.push_back({at.first, at.second, counters});
  return lines;
}

const ExampleWarpAccess* TrafficObserver::worst_example(uint32_t site) const {
  const ExampleWarpAccess* worst = nullptr;
  for (size_t key = size_t{site} * 8; key < size_t{site} * 8 + 8 && key < index_.size(); ++key) {
    if (index_[key] == kNone) continue;
    const ExampleWarpAccess& example = tallies_[index_[key]].worst;
    if (worst == nullptr || is_preferred_example(example, *worst)) worst = &example;
  }
  return worst;
}

const ExampleWarpAccess* TrafficObserver::worst_on_line(const PositionOf& position,
                                                        int line) const {
  const ExampleWarpAccess* worst = nullptr;
  for (size_t key = 0; key < index_.size(); ++key) {  // by site, not in the order of first use
    if (index_[key] == kNone) continue;
    const ExampleWarpAccess& example = tallies_[index_[key]].worst;
    const auto at = position(example.site);
    if (!at || at->line != line) continue;
    if (worst == nullptr || is_preferred_example(example, *worst)) worst = &example;
  }
  return worst;
}

std::unique_ptr<sim::Observer> CasLoopContentionObserver::fork() const {
  return std::make_unique<CasLoopContentionObserver>();
}

void CasLoopContentionObserver::merge(sim::Observer& observer) {
  const auto& other = static_cast<CasLoopContentionObserver&>(observer);
  lanes_ += other.lanes_;
  conflicting_updates_ += other.conflicting_updates_;
  loops_ += other.loops_;
  last_round_lanes_ += other.last_round_lanes_;
}

void CasLoopContentionObserver::block_begin(const sim::BlockInfo& block) {
  words_.clear();
  rounds_.assign((block.threads + 31) / 32, 0);
  trying_.assign(rounds_.size(), 0);
}

void CasLoopContentionObserver::access(uint32_t warp, const sim::IssuedWarpAccess& access) {
  if (access.form != sim::SharedAtomicForm::spin_swap || access.kind != sim::AccessKind::atom)
    return;
  ++rounds_[warp];
  if (!access.again) end_spin_loop(warp);
  trying_[warp] = lane_count(access.mask);
  if (access.again) return;
  for (uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    WordUpdateCountsByWarp& word = words_[access.address[__builtin_ctz(rest)]];
    ++word.all;
    ++word.of_warp[warp];
  }
}

void CasLoopContentionObserver::block_barrier(const uint32_t* /*lane_mask_of_warp*/,
                                              uint32_t /*warps*/, bool /*whole_block*/) {
  end_barrier_interval();
}

void CasLoopContentionObserver::end_spin_loop(uint32_t warp) {
  loops_ += trying_[warp] > 0;
  last_round_lanes_ += trying_[warp];
  trying_[warp] = 0;
}

void CasLoopContentionObserver::end_barrier_interval() {
  if (words_.empty()) return;
  for (uint32_t warp = 0; warp < trying_.size(); ++warp) end_spin_loop(warp);
  uint64_t rounds = 0;
  for (const uint64_t of_warp : rounds_) rounds += of_warp;
  for (const auto& [address, word] : words_) {
    lanes_ += word.all;
    for (const auto& [warp, updates] : word.of_warp)
      if (word.all > updates)
        conflicting_updates_ += static_cast<double>(updates) * (word.all - updates) /
                                static_cast<double>(rounds - rounds_[warp]);
  }
  words_.clear();
  rounds_.assign(rounds_.size(), 0);
}

}  // namespace lab32::counters
