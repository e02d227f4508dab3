// What the model of the caches remembers of a block: its accesses to global memory, warp by warp,
// as the lines and sectors that L1 looks up.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/caches/cache_use.h"
#include "simulator/observers/caches/l2.h"

namespace lab32::counters {

// One line of one access.
struct LineAccess {
  uint64_t line : 48;
  uint64_t sectors : 4;
  uint64_t kind : 2;  // sim::AccessKind
  uint64_t skips_l1 : 1;
  uint64_t on_float : 1;
  uint64_t last : 1;    // of its access
  uint64_t alone : 1;   // the only line of its access
  uint64_t engine : 1;  // the copy engine's: L1 knows nothing of it
  uint64_t group : 5;   // CacheUse::group
  // Stores: bytes of each sector that are written. Atomics: the most lanes on one word of it.
  SectorBytes amount;
};

struct RecordedBlock {
  uint64_t index = 0;
  std::vector<std::vector<LineAccess>> warps;
  uint64_t lines = 0;  // recorded
  uint64_t l1_store_cycles = 0;
  std::array<uint64_t, kLoadGroups> l1_load_cycles{};
  uint64_t dropped = 0;  // lines beyond the block's share
};

// Cycles that an access keeps L1 busy, given its lines. Loads are served from 32 banks, as shared
// memory is, and looked up in four parts of the tags, a line a cycle each; four sectors that have
// missed are written a cycle (replay adds it). Stores leave L1 a sector a cycle, and each further
// line costs one more. (Fitted to l1tex__throughput of row_sums, gather, fill_walk_quad and
// turn_plain in data/measured/h200-model-counters.csv.)
uint64_t busy_cycles(const sim::Access& access, const LineAccess* lines, uint64_t count);

// Appends the lines of a request through a texture or surface object, whose stores are taken to
// fill their sectors; or of a run of bytes that the copy engine moves.
void append_sectors(const uint64_t* first, const uint64_t* end, bool stores,
                    std::vector<LineAccess>& to);
void append_run(uint64_t begin, uint32_t bytes, bool stores, std::vector<LineAccess>& to);

// Appends the lines of an access, in the order of the lanes.
void append_lines(const sim::Access& access, bool skips_l1, bool on_float,
                  std::vector<LineAccess>& to, uint8_t group = 0);

}  // namespace lab32::counters
