// What the hazard check remembers of each piece of shared memory: who touched it since the last
// barrier of the whole block, and whether this block has written it.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/core/memory/access_space.h"

namespace lab32::counters {

using Use = sim::AccessUse;

inline bool conflict(Use a, Use b) {
  return a == Use::write || b == Use::write || (a == Use::update) != (b == Use::update);
}

// Lanes of one warp that touched a cell in one way, from one instruction, between two of the warp's
// barriers. A lane stands in one record only for each way and stamp: any race with its later
// accesses is one with its first as well.
struct ShadowRecord {
  uint32_t stamp = 0;
  uint32_t mask = 0;
  uint32_t site = 0;
  uint16_t warp = 0;  // a cluster has up to 512
  Use use : 2;
  bool unwritten : 1;  // it read what the block had not written
  uint8_t bytes : 5;   // that a lane accessed
  ShadowRecord() : use(Use::read), unwritten(false), bytes(0) {}
  ShadowRecord(uint32_t stamp, uint32_t site, uint32_t warp, Use use, uint8_t bytes)
      : stamp(stamp),
        site(site),
        warp(static_cast<uint16_t>(warp)),
        use(use),
        unwritten(false),
        bytes(bytes) {}
};

// One cache line. Three records hold nearly everything a kernel without races does to a word
// between barriers; more go to the shadow's spill.
struct alignas(64) Cell {
  uint32_t newest = 0;   // largest stamp among the records
  uint32_t written = 0;  // stamp of the last write; 0: never
  uint32_t value = 0;    // last stored value, if value_known
  uint16_t records = 0;
  bool value_known = false;
  static constexpr uint16_t kInline = 3;
  ShadowRecord record[kInline];
};

// A cell for every `granule` bytes: 4, or as few as the kernel's narrowest shared access has.
class Shadow {
 public:
  explicit Shadow(uint32_t granule) : granule_(granule), shift_(__builtin_ctz(granule)) {}

  uint32_t granule() const { return granule_; }
  uint64_t cell_of(uint64_t offset) const { return offset >> shift_; }
  void cover(uint64_t bytes) {
    const uint64_t cells = (bytes + granule_ - 1) >> shift_;
    if (cells_.size() < cells) cells_.resize(cells);
  }
  void clear() { cells_.assign(cells_.size(), Cell{}); }

  uint64_t size() const { return cells_.size(); }
  Cell& operator[](uint64_t i) { return cells_[i]; }

  // The records beyond the inline ones.
  ShadowRecord* spill(uint64_t cell) { return spill_[spill_of_[cell]].data(); }
  void append(uint64_t cell, const ShadowRecord& record) {
    Cell& c = cells_[cell];
    const uint32_t i = c.records++;
    if (i < Cell::kInline) {
      c.record[i] = record;
      return;
    }
    if (spill_of_.size() < cells_.size()) spill_of_.resize(cells_.size());
    uint32_t& at = spill_of_[cell];
    if (at == 0) {
      at = static_cast<uint32_t>(spill_.size());
      spill_.emplace_back();
    }
    std::vector<ShadowRecord>& more = spill_[at];
    more.resize(i - Cell::kInline);  // drops what an earlier epoch left
    more.push_back(record);
  }

 private:
  uint32_t granule_;
  int shift_;
  std::vector<Cell> cells_;
  std::vector<uint32_t> spill_of_;  // by cell, where any spills; 0: this one never did
  std::vector<std::vector<ShadowRecord>> spill_{1};  // [0] is nobody's
};

}  // namespace lab32::counters
