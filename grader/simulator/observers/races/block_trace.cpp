#include "simulator/observers/races/block_trace.h"

#include <cstring>

#include "simulator/observers/lanes.h"

namespace lab32::counters {
namespace {

// Longer traces would evict other data from the host's caches and save no time.
constexpr size_t kMostBytes = 2'400'000;

using Event = BlockTrace::Event;

Event event_without_access(Event::Type what, uint32_t warp, uint32_t site, uint32_t mask,
                           uint32_t other) {
  return {what, static_cast<uint8_t>(warp), sim::AccessKind::load, 0, site, mask, other};
}

// Copies the values of 32 lanes between a stride of 16 bytes and a stride of their size.
template <size_t kBytes>
void restride(const std::byte* from, size_t from_step, std::byte* to, size_t to_step) {
  for (size_t lane = 0; lane < kWarpSize; ++lane)
    std::memcpy(to + lane * to_step, from + lane * from_step, kBytes);
}

void copy_values(size_t bytes, const std::byte* from, size_t from_step, std::byte* to,
                 size_t to_step) {
  switch (bytes) {
    case 4:
      return restride<4>(from, from_step, to, to_step);
    case 8:
      return restride<8>(from, from_step, to, to_step);
    case 16:
      return restride<16>(from, from_step, to, to_step);
    default:
      for (size_t lane = 0; lane < kWarpSize; ++lane)
        std::memcpy(to + lane * to_step, from + lane * from_step, bytes);
  }
}

}  // namespace

Event BlockTrace::access(Event::Type type, uint32_t warp, const sim::RawAccess& a) {
  const bool steps = a.row != nullptr || (a.mask == kAllLanes && halves_are_affine(a.address));
  return {type,
          static_cast<uint8_t>(warp),
          a.kind,
          a.bytes,
          a.site,
          a.mask,
          a.mbarrier << 1 | static_cast<uint32_t>(steps)};
}

size_t BlockTrace::bytes() const {
  return events_.size() * sizeof(Event) + rows_.size() * sizeof(Row) +
         places_.size() * sizeof(Place);
}

uint32_t BlockTrace::index_of_row(const Row& row) {
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

Event BlockTrace::block_barrier(uint32_t warps, bool whole_block) {
  return event_without_access(Event::Type::block_barrier, warps, 0, kAllLanes, whole_block);
}

Event BlockTrace::warp_barrier(uint32_t warp, uint32_t mask) {
  return event_without_access(Event::Type::warp_barrier, warp, 0, mask, 0);
}

Event BlockTrace::fence(uint32_t warp, uint32_t mask, uint32_t site) {
  return event_without_access(Event::Type::fence, warp, site, mask, 0);
}

Event BlockTrace::mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes) {
  return event_without_access(Event::Type::mbarrier_arrive, warp, static_cast<uint32_t>(key), mask,
                              completes);
}

Event BlockTrace::mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key) {
  return event_without_access(Event::Type::mbarrier_wait, warp, static_cast<uint32_t>(key), mask,
                              0);
}

Event BlockTrace::bad_warp_op(uint32_t warp, uint32_t site, uint32_t mask, uint32_t bad) {
  return event_without_access(Event::Type::bad_warp_op, warp, site, mask, bad);
}

Event BlockTrace::fault(const sim::FaultEvent& m) {
  Event event = event_without_access(Event::Type::fault, 0, m.site,
                                     static_cast<uint32_t>(m.used_as), m.lanes);
  event.bytes = static_cast<uint8_t>(m.kind);
  return event;
}

void BlockTrace::begin(const sim::BlockInfo& block) {
  threads_ = block.threads;
  shared_bytes_ = block.shared_bytes;
  events_.clear();
  places_.clear();
  rows_.clear();
  row_of_.clear();
  value_bytes_ = 0;
}

void BlockTrace::copy_prefix(const BlockTrace& other, const Cursor& end) {
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

bool BlockTrace::record(const Event& event, const uint64_t* row) {
  if (bytes() > kMostBytes) return false;
  events_.push_back(event);
  value_bytes_ += event.value_bytes();
  if (event.has_steps()) places_.push_back(steps_of(row));
  if (!event.has_row()) return true;
  Row kept;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    kept.element[lane] =
        (event.mask >> lane & 1) != 0 ? static_cast<uint32_t>(row[lane]) : uint32_t{0};
  places_.push_back({index_of_row(kept), 0, 0});
  return true;
}

bool BlockTrace::has_shape(const sim::BlockInfo& block) const {
  return block.threads == threads_ && block.shared_bytes == shared_bytes_;
}

bool BlockTrace::has_same_prefix(const BlockTrace& other, const Cursor& end) const {
  // memcmp must not get null pointers, not even for 0 bytes.
  if (events_.size() < end.event ||
      (end.event != 0 &&
       std::memcmp(events_.data(), other.events_.data(), end.event * sizeof(Event)) != 0))
    return false;
  Cursor at;
  for (; at.event < end.event; advance(at, events_[at.event])) {
    const Event& event = events_[at.event];
    if (!event.has_place()) continue;
    const Place a = places_[at.place], b = other.places_[at.place];
    const bool alike =
        event.has_row() ? rows_[a.first].element == other.rows_[b.first].element : a == b;
    if (!alike) return false;
  }
  return true;
}

// Compares four elements at a time, because most accesses of a kernel need only this comparison.
bool BlockTrace::matches_at(const Cursor& at, const Event& event, const uint64_t* row) const {
  if (at.event == events_.size() || !same(events_[at.event], event)) return false;
  if (event.has_steps()) return places_[at.place] == steps_of(row);
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

void BlockTrace::advance(Cursor& at, const Event& event) {
  ++at.event;
  at.place += event.has_place();
  at.value += event.value_bytes();
}

void BlockTrace::pack(const Event& event, const std::byte* values, std::byte* to) {
  copy_values(event.bytes, values, 16, to, event.bytes);
}

void BlockTrace::send(RaceCheck& check, Event::Type type, uint32_t warp,
                      const sim::RawAccess& access) {
  if (type == Event::Type::copy_begins)
    check.copy_begins(warp, access);
  else if (type == Event::Type::copy_ends)
    check.copy_ends(warp, access);
  else
    check.access(warp, access);
}

void BlockTrace::replay(RaceCheck& check, const Cursor& end, const std::byte* values) const {
  uint64_t address[kWarpSize];
  std::byte value[kWarpSize * 16];
  for (Cursor at; at.event < end.event; advance(at, events_[at.event])) {
    const Event& e = events_[at.event];
    switch (e.type) {
      case Event::Type::access:
      case Event::Type::copy_begins:
      case Event::Type::copy_ends: {
        for (uint32_t lane = 0; lane < kWarpSize; ++lane)
          address[lane] = e.has_steps() ? places_[at.place].address(lane)
                                        : rows_[places_[at.place].first].element[lane];
        const bool stores = e.value_bytes() != 0;
        if (stores) copy_values(e.bytes, values + at.value, e.bytes, value, 16);
        send(check, e.type, e.warp,
             {e.site, e.kind, e.bytes, e.mask, address, stores ? value : nullptr, nullptr,
              e.detail / 2});
        break;
      }
      case Event::Type::block_barrier:
        check.block_barrier(e.detail != 0 ? nullptr : rows_[places_[at.place].first].element.data(),
                            e.warp, e.detail != 0);
        break;
      case Event::Type::warp_barrier:
        check.warp_barrier(e.warp, e.mask);
        break;
      case Event::Type::fence:
        check.fence(e.warp, e.mask, e.site);
        break;
      case Event::Type::mbarrier_arrive:
        check.mbarrier_arrive(e.warp, e.mask, e.site, e.detail != 0);
        break;
      case Event::Type::mbarrier_wait:
        check.mbarrier_wait(e.warp, e.mask, e.site);
        break;
      case Event::Type::bad_warp_op:
        check.bad_warp_op(e.warp, e.site, e.mask, e.detail);
        break;
      case Event::Type::fault:
        // No facts are passed, because they were reported when a block first had this trace.
        check.fault({static_cast<sim::FaultEvent::Kind>(e.bytes), e.site, e.detail, std::nullopt,
                     static_cast<sim::ValueUse>(e.mask)});
        break;
    }
  }
}

}  // namespace lab32::counters
