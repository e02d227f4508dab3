#include "simulator/observers/races/block_trace.h"

#include <cstring>

#include "simulator/observers/lanes.h"

namespace lab32::counters {
namespace {

// Longer traces would evict other data from the host's caches and save no time.
constexpr size_t kMostBytes = 2'400'000;

using TraceEvent = BlockTrace::TraceEvent;

TraceEvent event_without_access(TraceEvent::EventType what, uint32_t warp, uint32_t site,
                                uint32_t mask, uint32_t other) {
  return {what, static_cast<uint8_t>(warp), sim::AccessKind::load, 0, site, mask, other};
}

// Copies the values of 32 lanes between a stride of 16 bytes and a stride of their size.
template <size_t kBytes>
void copy_strided(const std::byte* from, size_t from_step, std::byte* to, size_t to_step) {
  for (size_t lane = 0; lane < kWarpSize; ++lane)
    std::memcpy(to + lane * to_step, from + lane * from_step, kBytes);
}

void copy_lane_values(size_t bytes, const std::byte* from, size_t from_step, std::byte* to,
                      size_t to_step) {
  switch (bytes) {
    case 4:
      return copy_strided<4>(from, from_step, to, to_step);
    case 8:
      return copy_strided<8>(from, from_step, to, to_step);
    case 16:
      return copy_strided<16>(from, from_step, to, to_step);
    default:
      for (size_t lane = 0; lane < kWarpSize; ++lane)
        std::memcpy(to + lane * to_step, from + lane * from_step, bytes);
  }
}

}  // namespace

TraceEvent BlockTrace::access_event(TraceEvent::EventType type, uint32_t warp,
                                    const sim::PtxSharedAccessEvent& a) {
  const bool steps = a.row != nullptr || (a.mask == kAllLanes && halves_share_stride(a.address));
  return {type,
          static_cast<uint8_t>(warp),
          a.kind,
          a.bytes,
          a.site,
          a.mask,
          a.mbarrier << 1 | static_cast<uint32_t>(steps)};
}

size_t BlockTrace::memory_bytes() const {
  return events_.size() * sizeof(TraceEvent) + rows_.size() * sizeof(LaneElements) +
         places_.size() * sizeof(EventAddresses);
}

uint32_t BlockTrace::find_or_add_row(const LaneElements& row) {
  uint64_t hash = 0;
  for (const uint32_t element : row.element) hash = (hash ^ element) * 0x9e3779b97f4a7c15u;
  const auto [first, last] = row_of_.equal_range(hash);
  for (auto at = first; at != last; ++at)
    if (rows_[at->second].element == row.element) return at->second;
  const auto fresh = static_cast<uint32_t>(rows_.size());
  rows_.push_back(row);
  row_of_.emplace(hash, fresh);
  return fresh;
}

TraceEvent BlockTrace::block_barrier_event(uint32_t warps, bool whole_block) {
  return event_without_access(TraceEvent::EventType::block_barrier, warps, 0, kAllLanes,
                              whole_block);
}

TraceEvent BlockTrace::warp_barrier_event(uint32_t warp, uint32_t mask) {
  return event_without_access(TraceEvent::EventType::warp_barrier, warp, 0, mask, 0);
}

TraceEvent BlockTrace::fence_event(uint32_t warp, uint32_t mask, uint32_t site) {
  return event_without_access(TraceEvent::EventType::fence, warp, site, mask, 0);
}

TraceEvent BlockTrace::mbarrier_arrive_event(uint32_t warp, uint32_t mask, uint64_t key,
                                             bool completes) {
  return event_without_access(TraceEvent::EventType::mbarrier_arrive, warp,
                              static_cast<uint32_t>(key), mask, completes);
}

TraceEvent BlockTrace::mbarrier_wait_event(uint32_t warp, uint32_t mask, uint64_t key) {
  return event_without_access(TraceEvent::EventType::mbarrier_wait, warp,
                              static_cast<uint32_t>(key), mask, 0);
}

TraceEvent BlockTrace::missing_lanes_used_event(uint32_t warp, uint32_t site, uint32_t mask,
                                                uint32_t bad) {
  return event_without_access(TraceEvent::EventType::missing_lanes_used, warp, site, mask, bad);
}

TraceEvent BlockTrace::fault_event(const sim::FaultEvent& m) {
  TraceEvent event = event_without_access(TraceEvent::EventType::fault, 0, m.site,
                                          static_cast<uint32_t>(m.used_as), m.lanes);
  event.bytes = static_cast<uint8_t>(m.kind);
  return event;
}

void BlockTrace::begin_recording(const sim::BlockInfo& block) {
  threads_ = block.threads;
  shared_bytes_ = block.shared_bytes;
  events_.clear();
  places_.clear();
  rows_.clear();
  row_of_.clear();
  value_bytes_ = 0;
}

void BlockTrace::copy_prefix(const BlockTrace& other, const TraceCursor& end) {
  threads_ = other.threads_;
  shared_bytes_ = other.shared_bytes_;
  if (this != &other) {
    events_ = other.events_;
    places_ = other.places_;
    rows_ = other.rows_;
    row_of_ = other.row_of_;
  }
  events_.resize(end.event);
  places_.resize(end.place);
  value_bytes_ = end.value;
}

bool BlockTrace::record(const TraceEvent& event, const uint64_t* row) {
  if (memory_bytes() > kMostBytes) return false;
  events_.push_back(event);
  value_bytes_ += event.value_bytes();
  if (event.has_element_strides()) places_.push_back(half_warp_starts_and_stride(row));
  if (!event.has_row()) return true;
  LaneElements kept;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    kept.element[lane] =
        (event.mask >> lane & 1) != 0 ? static_cast<uint32_t>(row[lane]) : uint32_t{0};
  places_.push_back({find_or_add_row(kept), 0, 0});
  return true;
}

bool BlockTrace::has_shape_of(const sim::BlockInfo& block) const {
  return block.threads == threads_ && block.shared_bytes == shared_bytes_;
}

bool BlockTrace::has_same_prefix(const BlockTrace& other, const TraceCursor& end) const {
  // memcmp must not get null pointers, not even for 0 bytes.
  if (events_.size() < end.event ||
      (end.event != 0 &&
       std::memcmp(events_.data(), other.events_.data(), end.event * sizeof(TraceEvent)) != 0))
    return false;
  TraceCursor at;
  for (; at.event < end.event; advance(at, events_[at.event])) {
    const TraceEvent& event = events_[at.event];
    if (!event.has_place()) continue;
    const EventAddresses a = places_[at.place], b = other.places_[at.place];
    const bool alike =
        event.has_row() ? rows_[a.first].element == other.rows_[b.first].element : a == b;
    if (!alike) return false;
  }
  return true;
}

// Compares four lanes in a step, because most of a race check's time is spent here: for most
// accesses of a kernel it does nothing else.
bool BlockTrace::matches_at(const TraceCursor& at, const TraceEvent& event,
                            const uint64_t* row) const {
  if (at.event == events_.size() || !same_event(events_[at.event], event)) return false;
  if (event.has_element_strides()) return places_[at.place] == half_warp_starts_and_stride(row);
  if (!event.has_row()) return true;
  typedef uint64_t Four __attribute__((vector_size(32)));
  typedef uint32_t FourHalves __attribute__((vector_size(16)));
  const uint32_t* kept = rows_[places_[at.place].first].element.data();
  const uint64_t mask = event.mask;
  const Four lanes = {mask, mask, mask, mask};
  Four bit = {1, 2, 4, 8};
  Four difference = {0, 0, 0, 0};
  for (uint32_t lane = 0; lane < kWarpSize; lane += 4) {
    Four now;
    FourHalves then;
    std::memcpy(&now, row + lane, sizeof now);
    std::memcpy(&then, kept + lane, sizeof then);
    const Four active = (lanes & bit) == bit;
    difference |= (now ^ __builtin_convertvector(then, Four)) & active;
    bit <<= 4;
  }
  return (difference[0] | difference[1] | difference[2] | difference[3]) == 0;
}

void BlockTrace::advance(TraceCursor& at, const TraceEvent& event) {
  ++at.event;
  at.place += event.has_place();
  at.value += event.value_bytes();
}

void BlockTrace::pack_values_of_all_lanes(const TraceEvent& event, const std::byte* values,
                                          std::byte* to) {
  copy_lane_values(event.bytes, values, 16, to, event.bytes);
}

void BlockTrace::send_to_check(RaceCheck& check, TraceEvent::EventType type, uint32_t warp,
                               const sim::PtxSharedAccessEvent& access) {
  if (type == TraceEvent::EventType::async_copy_begins)
    check.async_copy_begins(warp, access);
  else if (type == TraceEvent::EventType::async_copy_ends)
    check.async_copy_ends(warp, access);
  else
    check.access(warp, access);
}

void BlockTrace::replay(RaceCheck& check, const TraceCursor& end, const std::byte* values) const {
  uint64_t address[kWarpSize];
  std::byte value[kWarpSize * 16];
  for (TraceCursor at; at.event < end.event; advance(at, events_[at.event])) {
    const TraceEvent& e = events_[at.event];
    switch (e.type) {
      case TraceEvent::EventType::access:
      case TraceEvent::EventType::async_copy_begins:
      case TraceEvent::EventType::async_copy_ends: {
        for (uint32_t lane = 0; lane < kWarpSize; ++lane)
          address[lane] = e.has_element_strides() ? places_[at.place].address(lane)
                                                  : rows_[places_[at.place].first].element[lane];
        const bool stores = e.value_bytes() != 0;
        if (stores) copy_lane_values(e.bytes, values + at.value, e.bytes, value, 16);
        send_to_check(check, e.type, e.warp,
                      {e.site, e.kind, e.bytes, e.mask, address, stores ? value : nullptr, nullptr,
                       e.detail / 2});
        break;
      }
      case TraceEvent::EventType::block_barrier:
        check.block_barrier(e.detail != 0 ? nullptr : rows_[places_[at.place].first].element.data(),
                            e.warp, e.detail != 0);
        break;
      case TraceEvent::EventType::warp_barrier:
        check.warp_barrier(e.warp, e.mask);
        break;
      case TraceEvent::EventType::fence:
        check.fence(e.warp, e.mask, e.site);
        break;
      case TraceEvent::EventType::mbarrier_arrive:
        check.mbarrier_arrive(e.warp, e.mask, e.site, e.detail != 0);
        break;
      case TraceEvent::EventType::mbarrier_wait:
        check.mbarrier_wait(e.warp, e.mask, e.site);
        break;
      case TraceEvent::EventType::missing_lanes_used:
        check.missing_lanes_used(e.warp, e.site, e.mask, e.detail);
        break;
      case TraceEvent::EventType::fault:
        // No facts are passed, because they were reported when a block first had this trace.
        check.fault({static_cast<sim::FaultEvent::Kind>(e.bytes), e.site, e.detail, std::nullopt,
                     static_cast<sim::ValueUse>(e.mask)});
        break;
    }
  }
}

}  // namespace lab32::counters
