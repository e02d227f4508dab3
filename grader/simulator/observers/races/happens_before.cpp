#include "simulator/observers/races/happens_before.h"

#include <algorithm>
#include <utility>

namespace lab32::counters {

bool HappensBefore::begin_block(uint32_t threads) {
  const bool anew = clock_ >= restart_;
  if (anew) clock_ = 0;
  mbarriers_.clear();
  threads_ = threads;
  warps_.resize((threads + 31) / 32);
  whole_block();
  block_start_ = clock_;
  return anew;
}

void HappensBefore::whole_block() {
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

void HappensBefore::whole_warp(uint32_t warp) {
  if (vectors_in_use_) {
    // What one lane learnt elsewhere, all now know.
    std::vector<uint32_t> lanes(warp + 1, 0);
    lanes[warp] = 0xffffffffu;
    some_threads(lanes.data(), warp + 1);
  }
  warps_[warp] = {clock_ + 1, clock_ + 1};
  ++clock_;
}

void HappensBefore::some_threads(const uint32_t* lane_mask_of_warp, uint32_t warps) {
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
  const Vector* last = nullptr;  // neighbours share vectors: joining one once is enough
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

HappensBefore::Vector HappensBefore::join(const Token& token, uint32_t warp, uint32_t mask) const {
  Vector joined(threads_, block_floor_);
  const auto add = [&](const Vector& known) {
    for (uint32_t i = 0; i < threads_; ++i) joined[i] = std::max(joined[i], known[i]);
  };
  if (token != nullptr) add(*token);
  const Vector* last = nullptr;  // as in some_threads()
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
  Vector joined = join(token, warp, mask);
  warps_[warp].stamp = ++clock_;  // what they do from now on is not in the token
  for (uint32_t left = mask; left != 0; left &= left - 1)
    joined[warp * 32 + static_cast<uint32_t>(__builtin_ctz(left))] = clock_;
  token = std::make_shared<Vector>(std::move(joined));
}

void HappensBefore::mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes) {
  Phases& phases = mbarriers_[key];
  release(phases.present, warp, mask);
  if (completes) phases.past = std::exchange(phases.present, nullptr);
}

void HappensBefore::mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key) {
  acquire(mbarriers_[key].past, warp, mask);
}

HappensBefore::View HappensBefore::look(uint32_t thread) {
  WarpClock& warp = warps_[thread / 32];
  warp.stamp = ++clock_;
  return {block_floor_, warp.floor, clock_, vectors_in_use_ ? vector_[thread] : nullptr};
}

void HappensBefore::acquire(const Token& token, uint32_t warp, uint32_t mask) {
  if (!vectors_in_use_) vector_.assign(threads_, nullptr);
  const auto joined = std::make_shared<const Vector>(join(token, warp, mask));
  vectors_in_use_ = true;
  for (uint32_t left = mask; left != 0; left &= left - 1)
    vector_[warp * 32 + static_cast<uint32_t>(__builtin_ctz(left))] = joined;
}

}  // namespace lab32::counters
