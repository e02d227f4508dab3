// The trace of a block: its accesses to shared memory and its barriers, in order, as far as races
// and unwritten reads depend on them. A trace is compared with the events of a later block, and can
// be replayed to a RaceCheck.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "simulator/core/memory/access.h"
#include "simulator/core/warp/events.h"
#include "simulator/observers/lanes.h"
#include "simulator/observers/races/race_check.h"

namespace lab32::counters {

class BlockTrace {
 public:
  struct TraceEvent {
    enum class EventType : uint8_t {
      access,
      async_copy_begins,
      async_copy_ends,
      block_barrier,
      warp_barrier,
      fence,
      mbarrier_arrive,
      mbarrier_wait,
      missing_lanes_used,
      fault
    };
    EventType type;
    uint8_t warp;  // block_barrier: the number of warps
    sim::AccessKind kind;
    uint8_t bytes;  // per lane; fault: its kind
    uint32_t site;  // for an mbarrier: its offset in shared memory
    uint32_t mask;  // mask of lanes, or of the row's elements; fault: how the value was used
    // access or copy: odd if the addresses of each half-warp have the same stride; at the
    // end of a copy, the other bits are PtxSharedAccessEvent::mbarrier. block_barrier: 1 if the
    // whole block takes part. mbarrier_arrive: 1 if it completes the phase. missing_lanes_used:
    // absent lanes. fault: number of lanes.
    uint32_t detail;

    // True if a row of 32 numbers belongs to the event: addresses, or the barrier's lane mask of
    // each warp.
    bool has_row() const {
      return has_addresses() ? detail % 2 == 0 : type == EventType::block_barrier && detail == 0;
    }
    // True if the first address of each half-warp and the stride describe all addresses.
    bool has_element_strides() const { return has_addresses() && detail % 2 != 0; }
    bool has_addresses() const {
      return type == EventType::access || type == EventType::async_copy_begins ||
             type == EventType::async_copy_ends;
    }
    bool has_place() const { return has_row() || has_element_strides(); }
    // Bytes that the 32 lanes store.
    size_t value_bytes() const {
      const bool stores = type == EventType::async_copy_ends ||
                          (type == EventType::access && kind == sim::AccessKind::store);
      return stores ? size_t{bytes} * 32 : 0;
    }
  };
  static TraceEvent access_event(TraceEvent::EventType type, uint32_t warp,
                                 const sim::PtxSharedAccessEvent& access);
  static TraceEvent block_barrier_event(uint32_t warps, bool whole_block);
  static TraceEvent warp_barrier_event(uint32_t warp, uint32_t mask);
  static TraceEvent fence_event(uint32_t warp, uint32_t mask, uint32_t site);
  static TraceEvent mbarrier_arrive_event(uint32_t warp, uint32_t mask, uint64_t key,
                                          bool completes);
  static TraceEvent mbarrier_wait_event(uint32_t warp, uint32_t mask, uint64_t key);
  static TraceEvent missing_lanes_used_event(uint32_t warp, uint32_t site, uint32_t mask,
                                             uint32_t bad);
  static TraceEvent fault_event(const sim::FaultEvent& fault);

  // A position between two events.
  struct TraceCursor {
    size_t event = 0, place = 0, value = 0;
  };

  // Clears the trace and sets its shape.
  void begin_recording(const sim::BlockInfo& block);
  // Copies the events of another trace up to `end`.
  void copy_prefix(const BlockTrace& other, const TraceCursor& end);
  // row: 32 numbers if the event has a row; elements outside the mask are ignored. With steps only
  // elements 0, 1 and 16 are read. Returns false if the trace exceeds the limit of memory.
  bool record(const TraceEvent& event, const uint64_t* row);

  bool has_shape_of(const sim::BlockInfo& block) const;
  bool ends_at(const TraceCursor& at) const { return at.event == events_.size(); }
  size_t value_bytes() const { return value_bytes_; }
  bool has_same_prefix(const BlockTrace& other, const TraceCursor& end) const;
  // True if this is the event at the cursor.
  bool matches_at(const TraceCursor& at, const TraceEvent& event, const uint64_t* row) const;
  static void advance(TraceCursor& at, const TraceEvent& event);
  // matches_at() and advance() for the most frequent event, a load of a whole warp with a
  // constant stride. Returns false, and changes nothing, if the event at the cursor differs.
  bool follow_affine_load(TraceCursor& at, uint32_t warp,
                          const sim::PtxSharedAccessEvent& load) const {
    if (at.event == events_.size()) return false;
    const TraceEvent event{TraceEvent::EventType::access,
                           static_cast<uint8_t>(warp),
                           load.kind,
                           load.bytes,
                           load.site,
                           load.mask,
                           1};
    if (!same_event(events_[at.event], event)) return false;
    if (!(places_[at.place] == half_warp_starts_and_stride(*load.row))) return false;
    ++at.event;
    ++at.place;
    return true;
  }

  // Replays the events before `end`. `values` has the stored values of these events, as
  // pack_values_of_all_lanes() wrote them.
  void replay(RaceCheck& check, const TraceCursor& end, const std::byte* values) const;
  // Passes an access or the beginning or end of a copy to the check.
  static void send_to_check(RaceCheck& check, TraceEvent::EventType type, uint32_t warp,
                            const sim::PtxSharedAccessEvent& access);
  // Copies the values of a store lane by lane, without gaps between lanes.
  static void pack_values_of_all_lanes(const TraceEvent& event, const std::byte* values,
                                       std::byte* to);

 private:
  struct alignas(32) LaneElements {
    std::array<uint32_t, 32> element;  // 0 outside the mask
  };
  // The addresses of an event. With steps, `first` and `second` are the first addresses of the two
  // half-warps, and `step` is their stride. With a row, `first` is the index in rows_.
  struct EventAddresses {
    uint32_t first, second, step;
    bool operator==(const EventAddresses& o) const {
      return ((first ^ o.first) | (second ^ o.second) | (step ^ o.step)) == 0;
    }
    uint32_t address(uint32_t lane) const {
      return (lane < kWarpSize / 2 ? first : second) + lane % (kWarpSize / 2) * step;
    }
  };
  static bool same_event(const TraceEvent& a, const TraceEvent& b) {
    static_assert(sizeof(TraceEvent) == 16, "no padding: compared as bytes");
    uint64_t of_a[2], of_b[2];
    std::memcpy(of_a, &a, sizeof a);
    std::memcpy(of_b, &b, sizeof b);
    return ((of_a[0] ^ of_b[0]) | (of_a[1] ^ of_b[1])) == 0;
  }
  static EventAddresses half_warp_starts_and_stride(const uint64_t* row) {
    return {static_cast<uint32_t>(row[0]), static_cast<uint32_t>(row[kWarpSize / 2]),
            static_cast<uint32_t>(row[1] - row[0])};
  }
  static EventAddresses half_warp_starts_and_stride(const sim::StridedHalfWarpPair& row) {
    return {static_cast<uint32_t>(row.first[0]), static_cast<uint32_t>(row.first[1]),
            static_cast<uint32_t>(row.stride)};
  }
  uint32_t find_or_add_row(const LaneElements& row);
  size_t memory_bytes() const;

  uint32_t threads_ = 0, shared_bytes_ = 0;
  std::vector<TraceEvent> events_;
  std::vector<EventAddresses> places_;
  // The distinct rows in the order of their first use. The loops of a kernel use few of them.
  std::vector<LaneElements> rows_;
  std::unordered_multimap<uint64_t, uint32_t> row_of_;  // by hash
  size_t value_bytes_ = 0;
};

}  // namespace lab32::counters
