// Finds what is wrong with a kernel's use of shared memory although it may give the right result:
// races, reads of what the block never wrote, shuffles and votes among absent lanes. The rules are
// in README.md; in short, two accesses to one byte by different threads, at least one a store, not
// both atomic, and no barrier that both passed between them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "observers/counters.h"
#include "observers/happens_before.h"
#include "observers/position.h"
#include "observers/shadow.h"
#include "sim/events.h"

namespace lab32::observe {

// A variable in shared memory, for messages.
struct SharedVariable {
  std::string name;
  uint64_t offset = 0;   // in the block's shared window
  uint64_t size = 0;     // bytes
  uint32_t element = 0;  // bytes of an element; 0: unknown, the access's width is taken
};

// What was seen at a pair of instructions, and the first time it was. `earlier` is unused unless
// kind is race; the same site may stand on both sides.
struct Hazard {
  struct Party {
    uint32_t site = 0;
    uint32_t thread = 0;  // linear in the block
    Touch touch = Touch::read;
    uint8_t bytes = 0;
  };
  Finding::Kind kind = Finding::Kind::race;
  bool note = false;
  bool one_instruction = false;  // lanes of one warp instruction
  uint64_t count = 0;            // words (bytes, at granule 1) and lanes concerned, summed
  sim::BlockInfo block{};
  uint64_t sequence = 0;  // of the access in its block
  Party earlier, later;
  uint64_t offset = 0;            // in shared memory
  uint32_t mask = 0, absent = 0;  // warp_mask: lanes named, lanes concerned
};

// Tells a student, in one sentence, what happened and what usually mends it.
std::string describe(const Hazard& hazard, const std::vector<SharedVariable>& variables,
                     const PositionOf& position);

class HazardObserver : public sim::Observer {
 public:
  // granule: 4, or 2 or 1 where the kernel accesses shared memory in pieces that small. Accesses
  // are then compared word by word, or byte by byte.
  // named_barriers: may a barrier concern some warps of the block only? If not, two warps are
  // enough to remember for each word and way of touching it: a third that touches it in conflict
  // differs from one of them.
  HazardObserver(uint32_t granule, bool named_barriers, std::vector<SharedVariable> variables,
                 PositionOf position);

  std::unique_ptr<sim::Observer> fork() const override;
  void merge(sim::Observer& other) override;
  void block_begin(const sim::BlockInfo& block) override;
  void raw_shared(uint32_t warp, const sim::RawAccess& access) override;
  void block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block) override;
  void warp_barrier(uint32_t warp, uint32_t mask) override;
  void bad_warp_op(uint32_t warp, uint32_t site, uint32_t mask, uint32_t bad) override;
  bool wants_raw_shared() const override { return true; }

  // One for each kind and pair of source lines (races) or line, sorted by file, line, other line.
  // A note is left out where the same lines race in earnest.
  std::vector<Finding> findings() const;

 private:
  struct Key {
    Finding::Kind kind;
    bool note;
    uint32_t earlier, later;  // sites
    bool operator<(const Key& o) const;
  };
  // The access at hand.
  struct Visit {
    const sim::RawAccess* access;
    uint32_t warp_floor;
    Record record;  // as each lane's will be, but for its mask
  };

  bool quick(const Visit& v, uint32_t lanes, Cell& cell);
  void visit(const Visit& v, uint32_t lanes, uint64_t cell, bool same_value);
  void visit_unwritten(const Visit& v, uint32_t lanes, uint64_t cell);
  void revisit(const Visit& v, uint32_t lane, uint64_t cell, bool same_value);
  uint32_t conflicting_lanes(const Visit& v, uint32_t lane, const Record& record) const;
  void report_race(const Visit& v, uint32_t lane, uint64_t cell, const Record& record,
                   uint32_t lanes, bool same_value);
  void report_unwritten(const Visit& v, uint32_t lane, uint64_t cell);
  Hazard& found(const Key& key);

  bool named_barriers_;
  std::vector<SharedVariable> variables_;
  PositionOf position_;
  Shadow shadow_;
  HappensBefore order_;
  sim::BlockInfo block_{};
  uint64_t sequence_ = 0;
  std::map<Key, Hazard> hazards_;
  // Unwritten reads that a later store turned out to race with: the race tells the whole story.
  std::map<uint32_t, uint64_t> explained_;
};

}  // namespace lab32::observe
