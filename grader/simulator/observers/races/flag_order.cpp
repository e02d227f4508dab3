#include "simulator/observers/races/flag_order.h"

#include <algorithm>
#include <utility>

namespace lab32::counters {

using Kind = sim::AccessKind;

void FlagSyncTracker::clear() {
  threads_.clear();
  released_.clear();
}

void FlagSyncTracker::acquire_pending(ThreadFenceViews& own, uint32_t warp, uint32_t lane) {
  if (own.pending == nullptr) return;
  order_.acquire(own.pending, warp, 1u << lane);
  own.pending = nullptr;
}

// Adds to the token what the thread has fenced, so that a thread that observes its write is ordered
// after that.
void FlagSyncTracker::publish_fenced(HappensBefore::Token& to, uint32_t thread,
                                     const ThreadFenceViews& from) {
  if (from.published != nullptr) order_.merge(to, *from.published);
  if (from.fenced) order_.merge(to, thread, *from.fenced);
}

void FlagSyncTracker::join_threads_at_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps) {
  if (threads_.empty()) return;
  HappensBefore::Token published;
  const auto each = [&](auto&& f) {
    for (uint32_t warp = 0; warp < warps; ++warp)
      for (uint32_t left = lane_mask_of_warp[warp]; left != 0; left &= left - 1)
        f(warp, static_cast<uint32_t>(__builtin_ctz(left)));
  };
  each([&](uint32_t warp, uint32_t lane) {
    const auto own = threads_.find(warp * 32 + lane);
    if (own == threads_.end()) return;
    acquire_pending(own->second, warp, lane);
    publish_fenced(published, own->first, own->second);
  });
  if (published == nullptr) return;
  each([&](uint32_t warp, uint32_t lane) { threads_[warp * 32 + lane].published = published; });
}

void FlagSyncTracker::fence(uint32_t warp, uint32_t mask, const ptx::MemoryOrder& order) {
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    ThreadFenceViews& own = threads_[warp * 32 + lane];
    if (order.acquire) acquire_pending(own, warp, lane);
    if (order.release) own.fenced = order_.advance_clock_and_take_view(warp * 32 + lane);
  }
}

void FlagSyncTracker::order_by_strong_access(uint32_t warp, uint32_t lane, uint64_t offset,
                                             Kind kind, const ptx::MemoryOrder& order) {
  const uint32_t thread = warp * 32 + lane;
  auto word = released_.find(offset);
  if ((kind == Kind::load || kind == Kind::atom) && word != released_.end()) {
    ThreadFenceViews& own = threads_[thread];
    order_.merge(own.pending, *word->second);
    if (order.acquire) acquire_pending(own, warp, lane);
  }
  if (kind == Kind::load) return;
  const auto own = threads_.find(thread);
  const bool has_fenced = own != threads_.end() && (own->second.fenced || own->second.published);
  // A store begins a new release sequence; an atomic update continues the old one.
  if (kind == Kind::store && word != released_.end()) {
    released_.erase(word);
    word = released_.end();
  }
  if (!order.release && !has_fenced) return;
  HappensBefore::Token& to = word == released_.end() ? released_[offset] : word->second;
  if (order.release) order_.merge(to, thread, order_.advance_clock_and_take_view(thread));
  if (has_fenced) publish_fenced(to, thread, own->second);
}

std::vector<VolatileStoreRaceCheck::Access> VolatileStoreRaceCheck::add_and_find_races(
    const HappensBefore& order, uint64_t cell, const Access& now) {
  ++number_;
  WordAccesses& word = words_[cell];
  uint64_t& last = word.last[now.thread];
  std::vector<Access> races;
  for (const auto& [number, before] : word.accesses) {
    const bool race =
        (now.volatile_store && !before.polls) || (before.volatile_store && !now.polls);
    // A thread that has observed a write is ordered after it.
    const bool observed = before.use != Use::read && number < last;
    if (race && before.thread != now.thread && !observed &&
        !order.is_ordered_before(before.thread, before.stamp, now.thread))
      races.push_back(before);
  }
  const auto own = std::find_if(word.accesses.begin(), word.accesses.end(), [&](const auto& one) {
    return one.second.thread == now.thread && one.second.site == now.site;
  });
  if (own != word.accesses.end())
    word.accesses.erase(own);
  else if (word.accesses.size() >= kMost)
    word.accesses.erase(word.accesses.begin());
  word.accesses.emplace_back(number_, now);
  last = number_;
  return races;
}

}  // namespace lab32::counters
