#include "simulator/observers/races/hazards.h"

#include <algorithm>
#include <utility>

#include "simulator/core/memory/access.h"
#include "simulator/observers/lanes.h"

namespace lab32::counters {

using Event = BlockTrace::Event;

HazardObserver::HazardObserver(uint32_t granule, bool named_barriers,
                               std::vector<sim::SharedVariable> variables, PositionOf position)
    : variables_(std::move(variables)),
      position_(std::move(position)),
      check_(granule, named_barriers) {}

std::unique_ptr<sim::Observer> HazardObserver::fork() const {
  return std::make_unique<HazardObserver>(check_.granule(), check_.named_barriers(), variables_,
                                          position_);
}

void HazardObserver::merge(sim::Observer& observer) {
  auto& other = static_cast<HazardObserver&>(observer);
  close();
  other.close();
  check_.merge(other.check_);
}

void HazardObserver::close() {
  if (in_cluster())
    end_in_cluster(true);
  else
    block_end();
}

std::vector<Finding> HazardObserver::findings() {
  close();
  return check_.findings(variables_, position_);
}

void HazardObserver::join_cluster(sim::Observer& first) {
  first_ = &static_cast<HazardObserver&>(first);
}

void HazardObserver::begin_in_cluster(const sim::BlockInfo& block) {
  end_in_cluster(true);
  block_ = block;
  open_ = true;
  if (first_->members_++ == 0)
    first_->check_.begin_cluster(block);
  else
    first_->check_.join_cluster(block);
}

void HazardObserver::end_in_cluster(bool stopped) {
  if (!std::exchange(open_, false)) return;
  if (!stopped) first_->check_.leave_cluster(block_.rank);
  if (--first_->members_ == 0) first_->check_.end_block(nullptr);
}

uint32_t HazardObserver::warp_in_cluster(uint32_t warp) const {
  return block_.rank * ((block_.threads + 31) / 32) + warp;
}

sim::RawAccess HazardObserver::in_cluster(const sim::RawAccess& access, uint64_t* address) const {
  const uint64_t stride = first_->check_.bytes_in_cluster();
  for (uint32_t left = access.mask; left != 0; left &= left - 1) {
    const uint64_t at = access.address[__builtin_ctz(left)];
    address[__builtin_ctz(left)] = sim::rank_of(at) * stride + sim::offset_in_block(at);
  }
  sim::RawAccess own = access;
  own.address = address;
  return own;
}

void HazardObserver::cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase, bool releases,
                                    bool completes) {
  checker().cluster_arrive(warp_in_cluster(warp), mask, phase, releases, completes);
}

void HazardObserver::cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase) {
  checker().cluster_wait(warp_in_cluster(warp), mask, phase);
}

void HazardObserver::block_begin(const sim::BlockInfo& block) {
  if (in_cluster()) return begin_in_cluster(block);
  block_end();
  block_ = block;
  at_ = {};
  ++blocks_;
  if (rest_ > 0) {
    --rest_;
    mode_ = Mode::checking;
    check_.begin_block(block_);
    return;
  }
  own_ = nullptr;
  for (Kept& kept : kept_) {
    if (kept.usable && kept.trace.of_shape(block_) &&
        (own_ == nullptr || kept.last_use > own_->last_use))
      own_ = &kept;
  }
  if (own_ != nullptr) {
    mode_ = Mode::following;
    if (values_.size() < own_->trace.value_bytes()) values_.resize(own_->trace.value_bytes());
    return;
  }
  mode_ = Mode::recording;
  own_ = &oldest();
  own_->usable = false;
  own_->trace.begin(block_);
  check_.begin_block(block_);
}

HazardObserver::Kept& HazardObserver::oldest() {
  return *std::min_element(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) {
    return std::make_pair(a.usable, a.last_use) < std::make_pair(b.usable, b.last_use);
  });
}

// Returns true if the block repeats a known trace, so that the check need not see the event.
bool HazardObserver::follows(const Event& event, const uint64_t* row, const std::byte* values) {
  if (mode_ == Mode::following) {
    if (own_->trace.goes_on_with(at_, event, row) || turn_to_another(event, row)) {
      if (values != nullptr) BlockTrace::pack(event, values, values_.data() + at_.value);
      BlockTrace::advance(at_, event);
      return true;
    }
    depart();
  }
  if (mode_ == Mode::recording && !own_->trace.record(event, row)) mode_ = Mode::checking;
  return false;
}

bool HazardObserver::turn_to_another(const Event& event, const uint64_t* row) {
  for (Kept& other : kept_) {
    if (&other == own_ || !other.usable || !other.trace.of_shape(block_) ||
        !other.trace.begins_like(own_->trace, at_) || !other.trace.goes_on_with(at_, event, row))
      continue;
    own_ = &other;
    if (values_.size() < own_->trace.value_bytes()) values_.resize(own_->trace.value_bytes());
    return true;
  }
  return false;
}

// The block differs from all known traces: replays its beginning to the check and records the rest.
void HazardObserver::depart() {
  check_.begin_block(block_);
  own_->trace.tell(check_, at_, values_.data());
  Kept& fresh = oldest();
  fresh.usable = false;
  fresh.trace.begin_like(own_->trace, at_);
  own_ = &fresh;
  mode_ = Mode::recording;
}

void HazardObserver::block_end() {
  if (in_cluster()) return end_in_cluster(false);
  if (mode_ == Mode::following && !own_->trace.ends_at(at_)) {
    for (Kept& other : kept_) {
      if (other.usable && other.trace.of_shape(block_) && other.trace.ends_at(at_) &&
          other.trace.begins_like(own_->trace, at_))
        own_ = &other;
    }
    if (!own_->trace.ends_at(at_)) depart();
  }
  switch (mode_) {
    case Mode::none:
      return;
    case Mode::following:
      check_.repeat(own_->effects);
      own_->last_use = blocks_;
      in_vain_ = 0;
      break;
    case Mode::recording:
      own_->usable = check_.end_block(&own_->effects);
      own_->last_use = blocks_;
      // If all blocks differ, checking them directly is faster than comparing, recording and
      // checking. So an increasing number of blocks is only checked.
      if (++in_vain_ > kept_.size()) rest_ = 1u << std::min(in_vain_, 10u);
      break;
    case Mode::checking:
      check_.end_block(nullptr);
      break;
  }
  mode_ = Mode::none;
}

void HazardObserver::raw_shared(uint32_t warp, const sim::RawAccess& access) {
  if (access.row != nullptr) {
    if (mode_ == Mode::following && access.values == nullptr &&
        own_->trace.follow_row(at_, warp, access))
      return;
    uint64_t address[kWarpSize];
    access.row->write_to(address);
    if (follows(BlockTrace::access(warp, access), address, access.values)) return;
    sim::RawAccess listed = access;
    listed.address = address;
    listed.row = nullptr;
    return check_.access(warp, listed);
  }
  if (in_cluster()) {
    uint64_t address[kWarpSize];
    return checker().access(warp_in_cluster(warp), in_cluster(access, address));
  }
  if (!follows(BlockTrace::access(warp, access), access.address, access.values))
    check_.access(warp, access);
}

void HazardObserver::block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps,
                                   bool whole_block) {
  if (in_cluster()) {
    std::vector<uint32_t> masks(warp_in_cluster(warps), 0);
    std::copy_n(lane_mask_of_warp, warps, masks.begin() + warp_in_cluster(0));
    return checker().block_barrier(masks.data(), static_cast<uint32_t>(masks.size()), false);
  }
  uint64_t row[kWarpSize] = {};
  if (!whole_block) std::copy_n(lane_mask_of_warp, warps, row);
  if (!follows(BlockTrace::block_barrier(warps, whole_block), row, nullptr))
    check_.block_barrier(lane_mask_of_warp, warps, whole_block);
}

void HazardObserver::warp_barrier(uint32_t warp, uint32_t mask) {
  if (in_cluster()) return checker().warp_barrier(warp_in_cluster(warp), mask);
  if (!follows(BlockTrace::warp_barrier(warp, mask), nullptr, nullptr))
    check_.warp_barrier(warp, mask);
}

void HazardObserver::mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes) {
  if (in_cluster()) return checker().mbarrier_arrive(warp_in_cluster(warp), mask, key, completes);
  if (!follows(BlockTrace::mbarrier_arrive(warp, mask, key, completes), nullptr, nullptr))
    check_.mbarrier_arrive(warp, mask, key, completes);
}

void HazardObserver::mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key) {
  if (in_cluster()) return checker().mbarrier_wait(warp_in_cluster(warp), mask, key);
  if (!follows(BlockTrace::mbarrier_wait(warp, mask, key), nullptr, nullptr))
    check_.mbarrier_wait(warp, mask, key);
}

void HazardObserver::fault(const sim::FaultEvent& fault) {
  if (in_cluster()) return checker().fault(fault);
  if (!follows(BlockTrace::fault(fault), nullptr, nullptr)) check_.fault(fault);
}

void HazardObserver::bad_warp_op(uint32_t warp, uint32_t site, uint32_t mask, uint32_t bad) {
  if (in_cluster()) return checker().bad_warp_op(warp_in_cluster(warp), site, mask, bad);
  if (!follows(BlockTrace::bad_warp_op(warp, site, mask, bad), nullptr, nullptr))
    check_.bad_warp_op(warp, site, mask, bad);
}

}  // namespace lab32::counters
