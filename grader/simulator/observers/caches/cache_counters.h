// What a launch did to the caches and to device memory: simulated by a model of L1 and L2, so right
// on the whole, not to the last sector (handouts/model-notes.md has the errors).
#pragma once

#include <cstdint>

namespace lab32::counters {

struct HitCount {
  uint64_t sectors = 0;
  uint64_t hits = 0;
  // 0..100; 0 when nothing was asked for.
  double percent() const {
    return sectors == 0 ? 0 : 100.0 * static_cast<double>(hits) / static_cast<double>(sectors);
  }
};

struct CacheCounters {
  HitCount l1;  // l1tex__t_sector_hit_rate.pct: loads, stores and atomics of global memory
  HitCount l1_load, l1_store;
  HitCount l2;                // lts__t_sector_hit_rate.pct
  uint64_t l2_read = 0;       // lts__t_sectors_op_read.sum
  uint64_t l2_write = 0;      // lts__t_sectors_op_write.sum
  uint64_t l2_red = 0;        // lts__t_sectors_op_red.sum
  uint64_t l2_atom = 0;       // lts__t_sectors_op_atom.sum
  uint64_t dram_read = 0;     // bytes: dram__bytes_read.sum
  uint64_t dram_written = 0;  // bytes: dram__bytes_write.sum
  // What the time model needs besides.
  // That L1 is busy with loads from global memory; and with stores and atomics, which leave it by
  // another way.
  uint64_t l1_load_cycles = 0, l1_store_cycles = 0;
  // Lines, or parts of them: looked up for loads and atomics, for stores; read from device memory.
  uint64_t l2_read_lines = 0, l2_write_lines = 0, l2_fills = 0;
  uint64_t dram_pages = 0;  // that device memory had to open for them (L2Shape::dram_page_bytes)
  double recorded = 1;      // share of the accesses replayed; the counts are scaled by it
};

}  // namespace lab32::counters
