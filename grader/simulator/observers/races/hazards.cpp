#include "simulator/observers/races/hazards.h"

#include <algorithm>
#include <utility>

#include "simulator/core/memory/access.h"
#include "simulator/observers/lanes.h"

namespace lab32::counters {

using TraceEvent = BlockTrace::TraceEvent;

SharedMemoryHazardObserver::SharedMemoryHazardObserver(uint32_t granule, bool named_barriers,
                                                       std::vector<sim::SharedVariable> variables,
                                                       PositionOf position, SiteOrders orders)
    : variables_(std::move(variables)),
      position_(std::move(position)),
      check_(granule, named_barriers, std::move(orders)) {}

std::unique_ptr<sim::Observer> SharedMemoryHazardObserver::fork() const {
  return std::make_unique<SharedMemoryHazardObserver>(check_.granule(), check_.named_barriers(),
                                                      variables_, position_, check_.orders());
}

void SharedMemoryHazardObserver::merge(sim::Observer& observer) {
  auto& other = static_cast<SharedMemoryHazardObserver&>(observer);
  end_stopped_block();
  other.end_stopped_block();
  check_.merge(other.check_);
}

void SharedMemoryHazardObserver::end_stopped_block() {
  if (in_cluster())
    end_block_in_cluster(true);
  else
    block_end();
}

std::vector<Finding> SharedMemoryHazardObserver::findings() {
  end_stopped_block();
  return check_.findings(variables_, position_);
}

void SharedMemoryHazardObserver::join_cluster(sim::Observer& first) {
  first_of_cluster_ = &static_cast<SharedMemoryHazardObserver&>(first);
}

void SharedMemoryHazardObserver::begin_block_in_cluster(const sim::BlockInfo& block) {
  end_block_in_cluster(true);
  block_ = block;
  block_running_ = true;
  if (first_of_cluster_->running_blocks_++ == 0)
    first_of_cluster_->check_.begin_cluster(block);
  else
    first_of_cluster_->check_.join_cluster(block);
}

void SharedMemoryHazardObserver::end_block_in_cluster(bool stopped) {
  if (!std::exchange(block_running_, false)) return;
  if (!stopped) first_of_cluster_->check_.leave_cluster(block_.rank);
  if (--first_of_cluster_->running_blocks_ == 0)
    first_of_cluster_->check_.end_block_and_check_repeatable(nullptr);
}

uint32_t SharedMemoryHazardObserver::warp_in_cluster(uint32_t warp) const {
  return block_.rank * ((block_.threads + 31) / 32) + warp;
}

sim::PtxSharedAccessEvent SharedMemoryHazardObserver::with_cluster_addresses(
    const sim::PtxSharedAccessEvent& access, uint64_t* address) const {
  const uint64_t stride = first_of_cluster_->check_.bytes_in_cluster();
  for (uint32_t left = access.mask; left != 0; left &= left - 1) {
    const uint64_t at = access.address[__builtin_ctz(left)];
    address[__builtin_ctz(left)] = sim::rank_of(at) * stride + sim::offset_in_block(at);
  }
  sim::PtxSharedAccessEvent own = access;
  own.address = address;
  return own;
}

void SharedMemoryHazardObserver::cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase,
                                                bool releases, bool completes) {
  checker().cluster_arrive(warp_in_cluster(warp), mask, phase, releases, completes);
}

void SharedMemoryHazardObserver::cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase) {
  checker().cluster_wait(warp_in_cluster(warp), mask, phase);
}

void SharedMemoryHazardObserver::block_begin(const sim::BlockInfo& block) {
  if (in_cluster()) return begin_block_in_cluster(block);
  block_end();
  block_ = block;
  cursor_ = {};
  ++blocks_;
  if (blocks_to_check_ > 0) {
    --blocks_to_check_;
    mode_ = Mode::checking;
    check_.begin_block(block_);
    return;
  }
  current_ = nullptr;
  for (KnownTrace& known : known_traces_) {
    if (known.usable && known.trace.has_shape_of(block_) &&
        (current_ == nullptr || known.last_use > current_->last_use))
      current_ = &known;
  }
  if (current_ != nullptr) {
    mode_ = Mode::following;
    if (values_.size() < current_->trace.value_bytes())
      values_.resize(current_->trace.value_bytes());
    return;
  }
  mode_ = Mode::recording;
  current_ = &trace_to_replace();
  current_->usable = false;
  current_->trace.begin_recording(block_);
  check_.begin_block(block_);
}

SharedMemoryHazardObserver::KnownTrace& SharedMemoryHazardObserver::trace_to_replace() {
  return *std::min_element(
      known_traces_.begin(), known_traces_.end(), [](const KnownTrace& a, const KnownTrace& b) {
        return std::make_pair(a.usable, a.last_use) < std::make_pair(b.usable, b.last_use);
      });
}

// Compares the event with the trace that the block repeats so far. Returns true if it is the next
// event of a known trace, so that the check need not see it.
bool SharedMemoryHazardObserver::follow_known_trace(const TraceEvent& event, const uint64_t* row,
                                                    const std::byte* values) {
  if (mode_ == Mode::following) {
    if (current_->trace.matches_at(cursor_, event, row) || switch_to_matching_trace(event, row)) {
      if (values != nullptr)
        BlockTrace::pack_values_of_all_lanes(event, values, values_.data() + cursor_.value);
      BlockTrace::advance(cursor_, event);
      return true;
    }
    leave_trace();
  }
  if (mode_ == Mode::recording && !current_->trace.record(event, row)) mode_ = Mode::checking;
  return false;
}

bool SharedMemoryHazardObserver::switch_to_matching_trace(const TraceEvent& event,
                                                          const uint64_t* row) {
  for (KnownTrace& other : known_traces_) {
    if (&other == current_ || !other.usable || !other.trace.has_shape_of(block_) ||
        !other.trace.has_same_prefix(current_->trace, cursor_) ||
        !other.trace.matches_at(cursor_, event, row))
      continue;
    current_ = &other;
    if (values_.size() < current_->trace.value_bytes())
      values_.resize(current_->trace.value_bytes());
    return true;
  }
  return false;
}

// The block differs from all known traces: replays its beginning to the check and records the rest.
void SharedMemoryHazardObserver::leave_trace() {
  check_.begin_block(block_);
  current_->trace.replay(check_, cursor_, values_.data());
  KnownTrace& fresh = trace_to_replace();
  fresh.usable = false;
  fresh.trace.copy_prefix(current_->trace, cursor_);
  current_ = &fresh;
  mode_ = Mode::recording;
}

void SharedMemoryHazardObserver::block_end() {
  if (in_cluster()) return end_block_in_cluster(false);
  if (mode_ == Mode::following && !current_->trace.ends_at(cursor_)) {
    for (KnownTrace& other : known_traces_) {
      if (other.usable && other.trace.has_shape_of(block_) && other.trace.ends_at(cursor_) &&
          other.trace.has_same_prefix(current_->trace, cursor_))
        current_ = &other;
    }
    if (!current_->trace.ends_at(cursor_)) leave_trace();
  }
  switch (mode_) {
    case Mode::none:
      return;
    case Mode::following:
      check_.add_counts_again(current_->effects);
      current_->last_use = blocks_;
      unused_recordings_ = 0;
      break;
    case Mode::recording:
      current_->usable = check_.end_block_and_check_repeatable(&current_->effects);
      current_->last_use = blocks_;
      // If all blocks differ, checking them directly is faster than comparing, recording and
      // checking. So an increasing number of blocks is only checked.
      if (++unused_recordings_ > known_traces_.size())
        blocks_to_check_ = 1u << std::min(unused_recordings_, 10u);
      break;
    case Mode::checking:
      check_.end_block_and_check_repeatable(nullptr);
      break;
  }
  mode_ = Mode::none;
}

void SharedMemoryHazardObserver::shared_ptx_access(uint32_t warp,
                                                   const sim::PtxSharedAccessEvent& access) {
  if (access.row == nullptr) return process_access(TraceEvent::EventType::access, warp, access);
  if (mode_ == Mode::following && access.values == nullptr &&
      current_->trace.follow_affine_load(cursor_, warp, access))
    return;
  uint64_t address[kWarpSize];
  access.row->expand_to_addresses(address);
  sim::PtxSharedAccessEvent listed = access;
  listed.address = address;
  // `row` tells the trace that the addresses are regular.
  if (follow_known_trace(BlockTrace::access_event(TraceEvent::EventType::access, warp, access),
                         address, access.values))
    return;
  listed.row = nullptr;
  check_.access(warp, listed);
}

void SharedMemoryHazardObserver::async_copy_begins(uint32_t warp,
                                                   const sim::PtxSharedAccessEvent& access) {
  process_access(TraceEvent::EventType::async_copy_begins, warp, access);
}

void SharedMemoryHazardObserver::async_copy_ends(uint32_t warp,
                                                 const sim::PtxSharedAccessEvent& access) {
  process_access(TraceEvent::EventType::async_copy_ends, warp, access);
}

// Handles an access whose addresses are listed lane by lane.
void SharedMemoryHazardObserver::process_access(TraceEvent::EventType type, uint32_t warp,
                                                const sim::PtxSharedAccessEvent& access) {
  if (in_cluster()) {
    uint64_t address[kWarpSize];
    return BlockTrace::send_to_check(checker(), type, warp_in_cluster(warp),
                                     with_cluster_addresses(access, address));
  }
  if (!follow_known_trace(BlockTrace::access_event(type, warp, access), access.address,
                          access.values))
    BlockTrace::send_to_check(check_, type, warp, access);
}

void SharedMemoryHazardObserver::fence(uint32_t warp, uint32_t mask, uint32_t site,
                                       const ptx::MemoryOrder&) {
  if (in_cluster()) return checker().fence(warp_in_cluster(warp), mask, site);
  if (check_.orders().empty()) return;
  if (!follow_known_trace(BlockTrace::fence_event(warp, mask, site), nullptr, nullptr))
    check_.fence(warp, mask, site);
}

void SharedMemoryHazardObserver::block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps,
                                               bool whole_block) {
  if (in_cluster()) {
    std::vector<uint32_t> masks(warp_in_cluster(warps), 0);
    std::copy_n(lane_mask_of_warp, warps, masks.begin() + warp_in_cluster(0));
    return checker().block_barrier(masks.data(), static_cast<uint32_t>(masks.size()), false);
  }
  uint64_t row[kWarpSize] = {};
  if (!whole_block) std::copy_n(lane_mask_of_warp, warps, row);
  if (!follow_known_trace(BlockTrace::block_barrier_event(warps, whole_block), row, nullptr))
    check_.block_barrier(lane_mask_of_warp, warps, whole_block);
}

void SharedMemoryHazardObserver::warp_barrier(uint32_t warp, uint32_t mask) {
  if (in_cluster()) return checker().warp_barrier(warp_in_cluster(warp), mask);
  if (!follow_known_trace(BlockTrace::warp_barrier_event(warp, mask), nullptr, nullptr))
    check_.warp_barrier(warp, mask);
}

void SharedMemoryHazardObserver::mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key,
                                                 bool completes) {
  if (in_cluster()) return checker().mbarrier_arrive(warp_in_cluster(warp), mask, key, completes);
  if (!follow_known_trace(BlockTrace::mbarrier_arrive_event(warp, mask, key, completes), nullptr,
                          nullptr))
    check_.mbarrier_arrive(warp, mask, key, completes);
}

void SharedMemoryHazardObserver::mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key) {
  if (in_cluster()) return checker().mbarrier_wait(warp_in_cluster(warp), mask, key);
  if (!follow_known_trace(BlockTrace::mbarrier_wait_event(warp, mask, key), nullptr, nullptr))
    check_.mbarrier_wait(warp, mask, key);
}

void SharedMemoryHazardObserver::fault(const sim::FaultEvent& fault) {
  if (in_cluster()) return checker().fault(fault);
  if (!follow_known_trace(BlockTrace::fault_event(fault), nullptr, nullptr)) check_.fault(fault);
}

void SharedMemoryHazardObserver::missing_lanes_used(uint32_t warp, uint32_t site, uint32_t mask,
                                                    uint32_t bad) {
  if (in_cluster()) return checker().missing_lanes_used(warp_in_cluster(warp), site, mask, bad);
  if (!follow_known_trace(BlockTrace::missing_lanes_used_event(warp, site, mask, bad), nullptr,
                          nullptr))
    check_.missing_lanes_used(warp, site, mask, bad);
}

}  // namespace lab32::counters
