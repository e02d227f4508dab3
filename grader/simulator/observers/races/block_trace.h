// What one block did with its shared memory, event by event, as far as races and unwritten reads
// depend on it: compared with what another block does, told again to a RaceCheck.
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
  struct Event {
    enum class What : uint8_t {
      access,
      block_barrier,
      warp_barrier,
      mbarrier_arrive,
      mbarrier_wait,
      bad_warp_op,
      fault
    };
    What what;
    uint8_t warp;  // block_barrier: how many there are
    sim::AccessKind kind;
    uint8_t bytes;  // a lane; fault: its kind
    uint32_t site;  // mbarrier: where it lies in shared memory
    uint32_t mask;  // of the lanes, or of the row's elements; fault: what a value was used as
    // access: do each half-warp's addresses lie equally far apart? block_barrier: of the whole
    // block? mbarrier_arrive: the last of its phase? bad_warp_op: absent lanes; fault: how many
    // lanes
    uint32_t other;

    // Does a row of 32 numbers belong to it: addresses, or a barrier's lanes of each warp?
    bool has_row() const {
      return (what == What::access || what == What::block_barrier) && other == 0;
    }
    // Or each half's first address and how far apart they are?
    bool has_steps() const { return what == What::access && other != 0; }
    bool has_place() const { return has_row() || has_steps(); }
    // Bytes that its 32 lanes store.
    size_t value_bytes() const {
      return what == What::access && kind == sim::AccessKind::store ? size_t{bytes} * 32 : 0;
    }
  };
  static Event access(uint32_t warp, const sim::RawAccess& access);
  static Event block_barrier(uint32_t warps, bool whole_block);
  static Event warp_barrier(uint32_t warp, uint32_t mask);
  static Event mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes);
  static Event mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key);
  static Event bad_warp_op(uint32_t warp, uint32_t site, uint32_t mask, uint32_t bad);
  static Event fault(const sim::FaultEvent& fault);

  // A place between two events.
  struct Cursor {
    size_t event = 0, place = 0, value = 0;
  };

  // Forgets everything.
  void begin(const sim::BlockInfo& block);
  // The same as the first events of another.
  void begin_like(const BlockTrace& other, const Cursor& end);
  // row: 32 numbers where the event has one; those outside its mask may be anything. With steps
  // only the first two and the second half's first are read. False: the trace is longer than what
  // is worth keeping.
  bool record(const Event& event, const uint64_t* row);

  bool of_shape(const sim::BlockInfo& block) const;
  bool ends_at(const Cursor& at) const { return at.event == events_.size(); }
  size_t value_bytes() const { return value_bytes_; }
  bool begins_like(const BlockTrace& other, const Cursor& end) const;
  // Is this the event at the cursor?
  bool goes_on_with(const Cursor& at, const Event& event, const uint64_t* row) const;
  static void advance(Cursor& at, const Event& event);
  // Both, where the event is a whole warp's load from a row, as nearly all are: it is this one, and
  // the cursor is behind it; or nothing was done.
  bool follow_row(Cursor& at, uint32_t warp, const sim::RawAccess& load) const {
    if (at.event == events_.size()) return false;
    const Event event{Event::What::access,
                      static_cast<uint8_t>(warp),
                      load.kind,
                      load.bytes,
                      load.site,
                      load.mask,
                      1};
    if (!same(events_[at.event], event)) return false;
    if (!(places_[at.place] == steps_of(*load.row))) return false;
    ++at.event;
    ++at.place;
    return true;
  }

  // values: what the stores among the first events have stored, one after the other, a lane's
  // bytes after the other's.
  void tell(RaceCheck& check, const Cursor& end, const std::byte* values) const;
  // Packs a store's values so.
  static void pack(const Event& event, const std::byte* values, std::byte* to);

 private:
  struct alignas(32) Row {
    std::array<uint32_t, 32> element;  // 0 outside the mask
  };
  // Of an event with steps: each half's first address, and how far apart they are. With a row:
  // which of rows_.
  struct Place {
    uint32_t first, second, step;
    bool operator==(const Place& o) const {
      return ((first ^ o.first) | (second ^ o.second) | (step ^ o.step)) == 0;
    }
    uint32_t address(uint32_t lane) const {
      return (lane < kWarpSize / 2 ? first : second) + lane % (kWarpSize / 2) * step;
    }
  };
  static bool same(const Event& a, const Event& b) {
    static_assert(sizeof(Event) == 16, "no padding: compared as bytes");
    uint64_t of_a[2], of_b[2];
    std::memcpy(of_a, &a, sizeof a);
    std::memcpy(of_b, &b, sizeof b);
    return ((of_a[0] ^ of_b[0]) | (of_a[1] ^ of_b[1])) == 0;
  }
  static Place steps_of(const uint64_t* row) {
    return {static_cast<uint32_t>(row[0]), static_cast<uint32_t>(row[kWarpSize / 2]),
            static_cast<uint32_t>(row[1] - row[0])};
  }
  static Place steps_of(const sim::WarpRow& row) {
    return {static_cast<uint32_t>(row.first[0]), static_cast<uint32_t>(row.first[1]),
            static_cast<uint32_t>(row.stride)};
  }
  uint32_t keep(const Row& row);
  size_t bytes() const;

  uint32_t threads_ = 0, shared_bytes_ = 0;
  std::vector<Event> events_;
  std::vector<Place> places_;
  // Each once, in the order in which they first came: a kernel's loops have few.
  std::vector<Row> rows_;
  std::unordered_multimap<uint64_t, uint32_t> row_of_;  // by hash
  size_t value_bytes_ = 0;
};

}  // namespace lab32::counters
