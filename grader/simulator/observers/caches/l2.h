// A set-associative cache (CacheSets), and a model of L2 with the device memory behind it (L2).
// Both track which lines and sectors are present, not their contents.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/memory.h"
#include "simulator/observers/counters.h"
#include "simulator/observers/traffic/sectors.h"

namespace lab32::counters {

// An entry has only 16 bytes, because the modelled caches are much larger than the host's.
struct CachedLine {
  uint64_t line : 48;      // address / 128
  uint64_t valid : 4;      // sectors that hold data, one bit each
  uint64_t dirty : 4;      // sectors not yet written to device memory
  uint64_t partial : 4;    // partly written sectors; these are not valid
  uint64_t from_dram : 1;  // L1: whether the last requested sectors missed in L2, too
  // L1: the turn by which the last requested sectors arrive
  uint32_t arrival;
  std::array<uint8_t, kSectorsPerLine> written;  // bytes written to each partial sector
};
static_assert(sizeof(CachedLine) == 16);

// Prefetches a line of host memory. GCC considers a function that only prefetches to be without
// effects and removes calls of it; the empty assembly prevents that.
inline void prefetch_into_host_cache(const void* at) {
  __builtin_prefetch(at);
  asm volatile("");
}

// Spreads neighbouring lines and lines a power of two apart evenly over the sets. Real caches hash
// addresses, too.
inline uint64_t hash_line(uint64_t line) {
  line ^= line >> 31;
  line *= 0x7fb5d329728ea185u;
  line ^= line >> 27;
  line *= 0x81dadef4bc2dd44du;
  return line ^ line >> 33;
}

// A set-associative cache of 128-byte lines with four 32-byte sectors each and LRU replacement. One
// object holds several caches of the same shape.
class CacheSets {
 public:
  // `tags`: the number of lines that may share the bytes of one way, each with some of its sectors.
  // A set has at most 128 places (ways times tags).
  CacheSets(uint64_t bytes, uint32_t ways, uint32_t tags = 1, uint32_t caches = 1);

  // Identifies a line in one of the caches: its set, and a mark, one byte of its hash by which it
  // is searched in the set.
  struct LineKey {
    uint64_t line, set;
    uint8_t mark;
  };
  LineKey key_of(uint64_t line, uint32_t cache = 0) const {
    const uint64_t hash = hash_line(line);
    // The mark uses other bits of the hash than the set index.
    return {line, cache * sets_ + modulo_sets(hash), static_cast<uint8_t>(hash >> 40)};
  }

  // Returns the line and marks it as used most recently; null if it is absent. The pointer is valid
  // until the next call.
  CachedLine* find_and_touch(const LineKey& key);
  // Returns the line without changing the LRU order.
  CachedLine* peek(const LineKey& key);
  // Prefetch what find_and_touch() and insert() will read: the order of the set, then the line or
  // its future place. probe_and_warm_host_cache() returns whether the line is probably present.
  void prefetch_set_into_host_cache(const LineKey& key) const;
  bool probe_and_warm_host_cache(const LineKey& key);
  // Inserts an absent line with no sector valid. `evicted` is the evicted line, if any.
  CachedLine& insert(const LineKey& key, std::optional<CachedLine>& evicted);
  // Evicts lines until `sectors` more sectors of a present line fit, if tags share bytes.
  void make_room_for_sectors(const LineKey& key, uint32_t sectors);

 private:
  // The LRU order of a set, last used first. Lines stay in their slots. The order is two rows of
  // bytes, a hash of each line and its slot, which are cheaper for the host to read than the lines.
  struct CacheSetFill {
    uint16_t held = 0;   // sectors, if tags share bytes
    uint8_t used = 0;    // places in use
    uint8_t opened = 0;  // places ever used; those at `used` and above have free slots
  };
  uint8_t* marks(uint64_t set) { return rows_.data() + set * 2 * row_; }
  uint8_t* slots(uint64_t set) { return marks(set) + row_; }
  const uint8_t* marks(uint64_t set) const { return rows_.data() + set * 2 * row_; }
  const uint8_t* slots(uint64_t set) const { return marks(set) + row_; }
  CachedLine& line_at(uint64_t set, uint32_t place) { return line_in(set, slots(set)[place]); }
  CachedLine& line_in(uint64_t set, uint32_t slot) {
    return slot < near_ ? lines_[set * near_ + slot]
                        : far_lines_[set * (places_ - near_) + slot - near_];
  }
  std::optional<uint32_t> find_place_in_set(const LineKey& key);  // the line's place
  uint32_t slot_for_insertion(uint64_t set) const;  // the slot that insert() will take
  uint64_t modulo_sets(uint64_t hash) const {
    __extension__ using Wide = unsigned __int128;
    uint64_t rest = hash - static_cast<uint64_t>(Wide{hash} * inverse_ >> 64) * sets_;
    while (rest >= sets_) rest -= sets_;
    return rest;
  }

  uint64_t sets_, inverse_;  // sets of one cache, and 2^64 / sets, which replaces a division
  uint32_t near_, places_;   // near_: ways of a set; places_: ways times tags
  uint32_t sectors_;         // number of sectors that fit in a set
  uint32_t row_;             // bytes of a row
  std::vector<CacheSetFill> heads_;
  UninitialisedArray<uint8_t> rows_;  // for each set a row of marks, then a row of slots
  // Slots of the ways, and slots of the additional tags, of which few are in use at a time.
  UninitialisedArray<CachedLine> lines_, far_lines_;
};

// The sizes of L2 and of the device memory behind it, as far as counters depend on them.
//
// L2 of large GPUs has two sides, each in front of half of the device memory. A multiprocessor
// accesses the near side. A line whose home is the far side is looked up there as well and kept in
// both. (So an H200 counts half as many sectors again as L1 requests, and 60 MiB hold 40 MiB of
// data. Measured: data/measured/h200-model-counters.csv, kernels sum_again, copy_quad.)
struct L2Shape {
  uint64_t bytes = 0;
  uint32_t ways = 16, sides = 1, slices = 1;
  // Limits in bytes of dirty sectors, and of partly written sectors. Beyond a limit the oldest
  // lines are written back.
  uint64_t dirty_limit = 0, partial_dirty_limit = 0;
  uint32_t dram_access_bytes = 64;  // device memory is read in these pieces
  // A bank of device memory has one open page, and serves waiting accesses to this page first.
  uint32_t dram_page_bytes = 1024, dram_banks = 1;
};

// One number for each sector of a line: the bytes that a store writes, or the lanes of an atomic.
using CountPerSector = std::array<uint8_t, kSectorsPerLine>;

class L2 {
 public:
  explicit L2(const L2Shape& shape);

  // Prefetch into the host's caches: first the sets of a line, then the line in these sets.
  void prefetch_sets_into_host_cache(uint32_t side, uint64_t line);
  void prefetch_lines_into_host_cache(uint32_t side, uint64_t line);
  // `side`: the side of the requesting multiprocessor. `sectors`: one bit for each sector of the
  // line.
  void read(uint32_t side, uint64_t line, uint8_t sectors);
  // `bytes`: bytes written to each sector. A partly written sector is read from device memory only
  // when it is written back.
  void write(uint32_t side, uint64_t line, uint8_t sectors, const CountPerSector& bytes);
  // `times`: requests for each sector. `weight`: cost of one request in integer additions. `alone`:
  // the access has no other line.
  void update_atomically(uint32_t side, uint64_t line, uint8_t sectors, const CountPerSector& times,
                         bool result, double weight, bool alone = false);

  // Resets the counters; the contents stay.
  void reset_counters();
  const CacheCounters& counters() const { return counters_; }
  // The largest amount of atomic work that one slice has done, in integer additions to one address.
  double busiest_slice_atomic_work() const;

 private:
  uint32_t home_side(uint64_t line) const;
  size_t slice_of(uint64_t line) const;
  CachedLine& find_or_insert_line(uint32_t side, uint64_t line);
  void count_lookup(uint32_t sectors, uint32_t hits, uint64_t CacheCounters::*kind);
  uint8_t sectors_returned_by_dram(uint8_t sectors) const;
  struct DramBank;
  void open_dram_page(std::vector<DramBank>& banks, uint64_t line);
  uint64_t exchange_with_evicted_line(uint64_t line);
  // Looks up sectors on a side and reads the missing ones. Returns the number of hits.
  uint32_t fetch_and_count_hits(uint32_t side, uint64_t line, uint8_t sectors);
  void mark_dirty(CachedLine& at, uint8_t sectors);
  void write_back(CachedLine& at);
  void write_back_excess();

  // Sectors that wait to be written back, and their lines, oldest first.
  struct DirtyQueue {
    uint64_t sectors = 0;
    std::deque<uint64_t> lines;
  };

  // The pages that a bank accessed last. Another access to one of them opens no page.
  static constexpr size_t kRecentPages = 4;
  struct DramBank {
    std::array<uint64_t, kRecentPages> pages;
    size_t next = 0;
  };

  L2Shape shape_;
  uint32_t dram_access_sectors_;  // sectors in one access to device memory
  CacheSets sides_;
  DirtyQueue dirty_, partial_;
  // The atomic work that each slice has done, in integer additions to one address.
  std::vector<double> slice_work_;
  std::vector<uint64_t> last_updated_;  // by slice: line and sectors
  // Open pages as reads and as writes meet them: device memory serves several reads, then several
  // writes.
  std::vector<DramBank> read_, written_;
  std::vector<uint64_t> in_flight_;  // the latest partly written lines
  size_t completed_ = 0;
  CacheCounters counters_;
};

}  // namespace lab32::counters
