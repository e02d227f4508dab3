#include "simulator/observers/races/happens_before.h"

#include <algorithm>
#include <utility>

namespace lab32::counters {

bool HappensBefore::begin_block_and_is_clock_reset(uint32_t threads) {
  const bool anew = clock_ >= restart_;
  if (anew) clock_ = 0;
  mbarriers_.clear();
  threads_ = threads;
  warps_.resize((threads + 31) / 32);
  synchronise_block();
  block_start_ = clock_;
  return anew;
}

void HappensBefore::synchronise_block() {
  block_floor_ = ++clock_;
  std::fill(warps_.begin(), warps_.end(), WarpClock{clock_, clock_});
  if (vectors_in_use_) std::fill(vector_.begin(), vector_.end(), nullptr);
  vectors_in_use_ = false;
}

bool HappensBefore::is_whole_warp(uint32_t warp, uint32_t mask) const {
  const uint32_t lanes = std::min(threads_ - warp * 32, 32u);
  const uint32_t all = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
  return (mask & all) == all;
}

void HappensBefore::synchronise_warp(uint32_t warp) {
  if (vectors_in_use_) {
    // Afterwards all lanes of the warp are ordered after what any one of them was ordered after.
    std::vector<uint32_t> lanes(warp + 1, 0);
    lanes[warp] = 0xffffffffu;
    synchronise_threads(lanes.data(), warp + 1);
  }
  warps_[warp] = {clock_ + 1, clock_ + 1};
  ++clock_;
}

void HappensBefore::synchronise_threads(const uint32_t* lane_mask_of_warp, uint32_t warps) {
  if (!vectors_in_use_) vector_.assign(threads_, nullptr);
  vectors_in_use_ = true;
  ++clock_;
  const auto for_each_thread = [&](auto&& f) {
    for (uint32_t warp = 0; warp < warps; ++warp) {
      for (uint32_t left = lane_mask_of_warp[warp]; left != 0; left &= left - 1) {
        const uint32_t thread = warp * 32 + static_cast<uint32_t>(__builtin_ctz(left));
        if (thread < threads_) f(thread);
      }
    }
  };

  auto joined = std::make_shared<Vector>(threads_, block_floor_);
  const Vector* last = nullptr;  // neighbours share vectors, so each is joined once
  for_each_thread([&](uint32_t thread) {
    const Vector* own = vector_[thread].get();
    if (own == nullptr || own == last) return;
    last = own;
    for (uint32_t i = 0; i < threads_; ++i) (*joined)[i] = std::max((*joined)[i], (*own)[i]);
  });
  for (uint32_t warp = 0; warp < warps; ++warp) {
    if (lane_mask_of_warp[warp] == 0) continue;
    warps_[warp].stamp = clock_;
    const uint32_t end = std::min(threads_, warp * 32 + 32);
    for (uint32_t i = warp * 32; i < end; ++i) {
      (*joined)[i] = std::max((*joined)[i], warps_[warp].floor);
    }
  }
  for_each_thread([&](uint32_t thread) { (*joined)[thread] = clock_; });
  for_each_thread([&](uint32_t thread) { vector_[thread] = joined; });
}

HappensBefore::Vector HappensBefore::joined_vector(const Token& token, uint32_t warp,
                                                   uint32_t mask) const {
  Vector joined(threads_, block_floor_);
  const auto add = [&](const Vector& known) {
    for (uint32_t i = 0; i < threads_; ++i) joined[i] = std::max(joined[i], known[i]);
  };
  if (token != nullptr) add(*token);
  const Vector* last = nullptr;  // as in synchronise_threads()
  for (uint32_t left = vectors_in_use_ ? mask : 0; left != 0; left &= left - 1) {
    const Vector* own = vector_[warp * 32 + static_cast<uint32_t>(__builtin_ctz(left))].get();
    if (own != nullptr && own != last) add(*own);
    last = own;
  }
  for (uint32_t i = warp * 32; i < std::min(threads_, warp * 32 + 32); ++i)
    joined[i] = std::max(joined[i], warps_[warp].floor);
  return joined;
}

void HappensBefore::release(Token& token, uint32_t warp, uint32_t mask) {
  Vector joined = joined_vector(token, warp, mask);
  warps_[warp].stamp = ++clock_;  // the token does not include the warp's later accesses
  for (uint32_t left = mask; left != 0; left &= left - 1)
    joined[warp * 32 + static_cast<uint32_t>(__builtin_ctz(left))] = clock_;
  token = std::make_shared<Vector>(std::move(joined));
}

void HappensBefore::mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes) {
  MbarrierPhases& phases = mbarriers_[key];
  release(phases.current, warp, mask);
  if (completes) phases.previous = std::exchange(phases.current, nullptr);
}

void HappensBefore::mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key) {
  acquire(mbarriers_[key].previous, warp, mask);
}

HappensBefore::ThreadClockSnapshot HappensBefore::advance_clock_and_take_view(uint32_t thread) {
  WarpClock& warp = warps_[thread / 32];
  warp.stamp = ++clock_;
  return {block_floor_, warp.floor, clock_, vectors_in_use_ ? vector_[thread] : nullptr};
}

void HappensBefore::merge(Token& to, const Vector& from) const {
  if (to == nullptr) {
    to = std::make_shared<const Vector>(from);
    return;
  }
  auto joined = std::make_shared<Vector>(*to);
  for (uint32_t i = 0; i < threads_; ++i) (*joined)[i] = std::max((*joined)[i], from[i]);
  to = std::move(joined);
}

void HappensBefore::merge(Token& to, uint32_t thread, const ThreadClockSnapshot& view) const {
  // Views of a thread only grow, so the token may have this one already.
  if (to != nullptr && (*to)[thread] >= view.own) return;
  Vector known(threads_, view.block_floor);
  if (view.vector != nullptr)
    for (uint32_t i = 0; i < threads_; ++i) known[i] = std::max(known[i], (*view.vector)[i]);
  const uint32_t first = thread / 32 * 32;
  for (uint32_t i = first; i < std::min(threads_, first + 32); ++i)
    known[i] = std::max(known[i], view.warp_floor);
  known[thread] = view.own;
  merge(to, known);
}

void HappensBefore::acquire(const Token& token, uint32_t warp, uint32_t mask) {
  if (!vectors_in_use_) vector_.assign(threads_, nullptr);
  const auto joined = std::make_shared<const Vector>(joined_vector(token, warp, mask));
  vectors_in_use_ = true;
  for (uint32_t left = mask; left != 0; left &= left - 1)
    vector_[warp * 32 + static_cast<uint32_t>(__builtin_ctz(left))] = joined;
}

namespace {

bool has_block_scope(const ptx::MemoryOrder& order) { return order.scope == ptx::Scope::block; }

}  // namespace

struct Causality::ReleaseLog {
  size_t length = 0;
  bool any_block_only = false;
  // By block, then by thread and block scope. A release covers the earlier ones of its thread.
  using OfThread = std::map<std::pair<uint32_t, bool>, std::vector<std::pair<size_t, Release>>>;
  std::unordered_map<uint64_t, OfThread> of_block;
  // prefixes that were acquired from other blocks before a release
  std::map<PassedOnReleaseLogKey, PassedOnReleaseLog> forwarded;
  std::map<std::pair<uint64_t, uint32_t>, LastAppendVersionsOfThread>
      appended;  // by block and thread
};

bool Causality::Release::covers(uint32_t thread, uint32_t stamp) const {
  return stamp < view.block_floor || (thread == by.thread && stamp < view.own) ||
         (thread / 32 == by.thread / 32 && stamp < view.warp_floor) ||
         (view.vector != nullptr && stamp < (*view.vector)[thread]);
}

Causality::~Causality() {
  // Logs that pass on each other's prefixes form reference cycles, which are broken here.
  for (const std::weak_ptr<ReleaseLog>& made : all_logs_)
    if (const std::shared_ptr<ReleaseLog> log = made.lock()) log->forwarded.clear();
}

std::shared_ptr<Causality::ReleaseLog> Causality::new_release_log() {
  if (all_logs_.size() >= prune_at_) {
    all_logs_.erase(
        std::remove_if(all_logs_.begin(), all_logs_.end(),
                       [](const std::weak_ptr<ReleaseLog>& log) { return log.expired(); }),
        all_logs_.end());
    prune_at_ = std::max<size_t>(1024, 2 * all_logs_.size());
  }
  auto log = std::make_shared<ReleaseLog>();
  all_logs_.push_back(log);
  return log;
}

void Causality::begin_block(const sim::BlockInfo& block) {
  blocks_.erase(block.index);
  begun_last_ = &blocks_[block.index];
  index_of_begun_last_ = block.index;
  begun_last_->order.begin_block_and_is_clock_reset(block.threads);
}

void Causality::end_block(uint64_t block) {
  if (block == index_of_begun_last_) begun_last_ = nullptr;
  blocks_.erase(block);
}

const Causality::OrderWithinBlock& Causality::block_at(uint64_t index) const {
  return begun_last_ != nullptr && index == index_of_begun_last_ ? *begun_last_ : blocks_.at(index);
}

Causality::OrderWithinBlock& Causality::order_of_begun_block(uint64_t index) {
  return const_cast<OrderWithinBlock&>(std::as_const(*this).block_at(index));
}

// ---------------------------------------------------------------------------------------------
// Within a block

void Causality::add(Knowledge& to, const LogPrefix& what) {
  for (LogPrefix& have : to) {
    if (have.log != what.log || have.block_only != what.block_only || have.by != what.by) continue;
    have.length = std::max(have.length, what.length);
    return;
  }
  to.push_back(what);
}

void Causality::add(Knowledge& to, const Knowledge& what) {
  for (const LogPrefix& one : what) add(to, one);
}

void Causality::join(std::map<uint32_t, Release>& to, const std::map<uint32_t, Release>& from) {
  for (const auto& [thread, release] : from) {
    auto [at, fresh] = to.emplace(thread, release);
    if (!fresh && at->second.id < release.id) at->second = release;
  }
}

void Causality::join(ThreadOrder& to, const ThreadOrder& from) {
  add(to.known, from.known);
  add(to.known, from.pending);
  join(to.published.to_device, from.published.to_device);
  join(to.published.to_block, from.published.to_block);
}

// Gives all lanes the joined state of the lanes.
void Causality::join_arrived_lanes(OrderWithinBlock& block, const uint32_t* lane_mask_of_warp,
                                   uint32_t warps) {
  if (block.threads.empty()) return;
  ThreadOrder joined;
  std::vector<uint32_t> lanes;
  for (uint32_t warp = 0; warp < warps; ++warp)
    for (uint32_t left = lane_mask_of_warp[warp]; left != 0; left &= left - 1)
      lanes.push_back(warp * 32 + static_cast<uint32_t>(__builtin_ctz(left)));
  for (uint32_t thread : lanes)
    if (const auto at = block.threads.find(thread); at != block.threads.end())
      join(joined, at->second);
  if (joined.empty()) return;
  joined.version = ++versions_;
  for (uint32_t thread : lanes) block.threads[thread] = joined;
}

void Causality::block_barrier(uint64_t block, const uint32_t* lane_mask_of_warp, uint32_t warps,
                              bool whole) {
  OrderWithinBlock& own = order_of_begun_block(block);
  if (!whole) {
    own.order.synchronise_threads(lane_mask_of_warp, warps);
    join_arrived_lanes(own, lane_mask_of_warp, warps);
    return;
  }
  own.order.synchronise_block();
  for (const auto& [thread, state] : own.threads) join(own.common, state);
  if (!own.threads.empty()) own.common.version = ++versions_;
  own.threads.clear();
}

void Causality::warp_barrier(uint64_t block, uint32_t warp, uint32_t mask) {
  OrderWithinBlock& own = order_of_begun_block(block);
  std::vector<uint32_t> lanes(warp + 1, 0);
  lanes[warp] = mask;
  if (own.order.is_whole_warp(warp, mask))
    own.order.synchronise_warp(warp);
  else
    own.order.synchronise_threads(lanes.data(), warp + 1);
  join_arrived_lanes(own, lanes.data(), warp + 1);
}

void Causality::mbarrier_arrive(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key,
                                bool completes) {
  order_of_begun_block(block).order.mbarrier_arrive(warp, mask, key, completes);
}

void Causality::mbarrier_wait(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key) {
  order_of_begun_block(block).order.mbarrier_wait(warp, mask, key);
}

void Causality::arrive_across_blocks(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key,
                                     bool releases) {
  ptx::MemoryOrder order;
  order.strong = true;
  order.release = releases;
  for (uint32_t left = mask; left != 0; left &= left - 1)
    order_by_strong_access({block, warp * 32 + static_cast<uint32_t>(__builtin_ctz(left))}, key,
                           sim::AccessKind::red, order);
}

void Causality::wait_across_blocks(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key) {
  ptx::MemoryOrder order;
  order.strong = order.acquire = true;
  for (uint32_t left = mask; left != 0; left &= left - 1)
    order_by_strong_access({block, warp * 32 + static_cast<uint32_t>(__builtin_ctz(left))}, key,
                           sim::AccessKind::load, order);
}

uint32_t Causality::stamp(GridThread thread) const {
  return block_at(thread.block).order.stamp(thread.thread / 32);
}

// ---------------------------------------------------------------------------------------------
// Between blocks

Causality::Release Causality::release_of(OrderWithinBlock& block, const ThreadOrder& own,
                                         GridThread actor, bool block_only) {
  Release release{++releases_, actor, block.order.advance_clock_and_take_view(actor.thread),
                  nullptr, block_only};
  if (own.known.empty() && block.common.known.empty()) return release;
  auto known = std::make_shared<Knowledge>(block.common.known);
  add(*known, own.known);
  release.known = std::move(known);
  return release;
}

void Causality::fence(GridThread actor, const ptx::MemoryOrder& order) {
  OrderWithinBlock& block = order_of_begun_block(actor.block);
  ThreadOrder& own = block.threads[actor.thread];
  const bool block_only = has_block_scope(order);
  if (order.acquire) {
    for (LogPrefix seen : own.pending) {
      seen.block_only |= block_only;
      add(own.known, seen);
    }
    if (!block_only) own.pending.clear();
  }
  if (!order.release) return;
  FenceReleases& published = own.published;
  const Release release = release_of(block, own, actor, block_only);
  if (block_only) {
    published.to_block[actor.thread] = release;
  } else {
    published.to_device[actor.thread] = release;
    published.to_block.erase(actor.thread);
  }
  own.version = ++versions_;
}

void Causality::append(ReleaseLog& log, const Release& release, bool block_only) {
  Release own = release;
  own.block_only |= block_only;
  log.any_block_only |= own.block_only;
  const size_t place = log.length++;
  const uint64_t by = own.by.block;
  if (own.known != nullptr)
    for (const LogPrefix& one : *own.known) {
      PassedOnReleaseLog& forwarded =
          log.forwarded[{by, own.block_only, one.log.get(), one.by, one.block_only}];
      // A log that owns itself would never be destroyed.
      if (forwarded.log == nullptr)
        forwarded.log = one.log.get() == &log
                            ? std::shared_ptr<const ReleaseLog>(std::shared_ptr<void>(), &log)
                            : one.log;
      if (forwarded.lengths.empty() || forwarded.lengths.back().second < one.length)
        forwarded.lengths.emplace_back(place, one.length);
    }
  own.known = nullptr;
  auto& releases = log.of_block[by][{own.by.thread, own.block_only}];
  // An older release may be appended again through a thread that has not synchronised with the
  // newer one.
  if (releases.empty() || releases.back().second.id < own.id)
    releases.emplace_back(place, std::move(own));
}

Causality::LogPrefix Causality::releases_at(uint64_t address) const {
  const auto log = logs_.find(address);
  if (log == logs_.end()) return {};
  return {log->second, log->second->length, 0, false};
}

void Causality::observe_releases(GridThread actor, LogPrefix releases,
                                 const ptx::MemoryOrder& order) {
  if (releases.log == nullptr) return;
  releases.by = actor.block;
  releases.block_only = has_block_scope(order);
  ThreadOrder& own = order_of_begun_block(actor.block).threads[actor.thread];
  add(order.acquire ? own.known : own.pending, releases);
}

void Causality::order_by_strong_access(GridThread actor, uint64_t address, sim::AccessKind kind,
                                       const ptx::MemoryOrder& order) {
  using Kind = sim::AccessKind;
  if (kind == Kind::load || kind == Kind::atom)
    observe_releases(actor, releases_at(address), order);
  if (kind == Kind::load) return;
  OrderWithinBlock& block = order_of_begun_block(actor.block);
  const bool block_only = has_block_scope(order);
  const auto log = logs_.find(address);
  const auto at = block.threads.find(actor.thread);
  const ThreadOrder none, &own = at == block.threads.end() ? none : at->second;
  const bool has_published = !own.published.empty() || !block.common.published.empty();
  if (!order.release && !has_published) {
    if (kind == Kind::store && log != logs_.end()) logs_.erase(log);
    return;
  }
  std::shared_ptr<ReleaseLog>& to = logs_[address];
  // A store begins a new release sequence; an atomic update continues the old one.
  if (to == nullptr || kind == Kind::store) to = new_release_log();
  if (order.release) append(*to, release_of(block, own, actor, block_only), block_only);
  // A thread that polls by atomic updates usually has nothing new to append.
  const LastAppendVersionsOfThread now{own.version, block.common.version, block_only};
  const auto [before, first] = to->appended.emplace(std::pair{actor.block, actor.thread}, now);
  if (!first) {
    if (before->second.own == now.own && before->second.all == now.all &&
        (block_only || !before->second.block_only))
      return;
    before->second = now;
  }
  for (const ThreadOrder* state : {&own, static_cast<const ThreadOrder*>(&block.common)})
    for (const auto* published : {&state->published.to_device, &state->published.to_block})
      for (const auto& [thread, release] : *published) append(*to, release, block_only);
}

// The last entry before `place`; null if there is none.
template <class T>
const T* last_entry_before(const std::vector<std::pair<size_t, T>>& all, size_t place) {
  const auto after =
      std::lower_bound(all.begin(), all.end(), place,
                       [](const std::pair<size_t, T>& one, size_t p) { return one.first < p; });
  return after == all.begin() ? nullptr : &std::prev(after)->second;
}

bool Causality::covers(const Knowledge& known, GridThread a, uint32_t stamp, Visited& visited) {
  for (const LogPrefix& seen : known) {
    const ReleaseLog& log = *seen.log;
    // If all releases have device scope, it does not matter which block has acquired them.
    const bool wide = !seen.block_only && !log.any_block_only;
    auto [at, fresh] = visited.emplace(std::tuple{&log, seen.block_only, wide ? 0 : seen.by}, 0);
    if (!fresh && at->second >= seen.length) continue;
    at->second = seen.length;
    const auto reaches = [&](uint64_t block, bool block_only) {
      return (!block_only && !seen.block_only) || block == seen.by;
    };
    if (const auto of = log.of_block.find(a.block); of != log.of_block.end())
      for (const auto& [by, releases] : of->second) {
        if (!reaches(a.block, by.second)) continue;
        const Release* release = last_entry_before(releases, seen.length);
        if (release != nullptr && release->covers(a.thread, stamp)) return true;
      }
    Knowledge further;
    for (const auto& [key, forwarded] : log.forwarded) {
      const auto& [by, block_only, of, seen_by, seen_block_only] = key;
      if (!reaches(by, block_only) || (wide && of == &log)) continue;
      if (const size_t* length = last_entry_before(forwarded.lengths, seen.length))
        further.push_back({forwarded.log, *length, seen_by, seen_block_only});
    }
    if (covers(further, a, stamp, visited)) return true;
  }
  return false;
}

bool Causality::is_ordered_before(GridThread a, uint32_t stamp, GridThread b) const {
  const OrderWithinBlock& block = block_at(b.block);
  if (a.block == b.block &&
      (a.thread == b.thread || block.order.is_ordered_before(a.thread, stamp, b.thread)))
    return true;
  if (block.common.known.empty() && block.threads.empty()) return false;
  Visited visited;
  if (covers(block.common.known, a, stamp, visited)) return true;
  const auto own = block.threads.find(b.thread);
  return own != block.threads.end() && covers(own->second.known, a, stamp, visited);
}

}  // namespace lab32::counters
