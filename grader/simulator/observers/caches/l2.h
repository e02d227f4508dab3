// One set-associative cache; and L2, which is made of it, with the device memory behind it.
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

// 16 bytes: a replay goes from set to set of caches that are much larger than the host's.
struct CachedLine {
  uint64_t line : 48;      // address / 128
  uint64_t valid : 4;      // sectors that hold data, one bit each
  uint64_t dirty : 4;      // sectors that device memory has not got yet
  uint64_t partial : 4;    // written sectors of which some bytes never came: never valid, too
  uint64_t from_dram : 1;  // L1: what was asked for last was not in L2 either
  uint32_t landed;         // L1: the turn by which that has come
  std::array<uint8_t, kSectorsPerLine> written;  // bytes of a partial sector that came
};
static_assert(sizeof(CachedLine) == 16);

// Brings a line of host memory nearer. GCC takes what only prefetches for something without
// effects, and leaves out calls of it, but for the empty assembly.
inline void fetch_ahead(const void* at) {
  __builtin_prefetch(at);
  asm volatile("");
}

// Spreads neighbouring lines, and lines a power of two apart, evenly: caches hash addresses, too.
inline uint64_t hash_line(uint64_t line) {
  line ^= line >> 31;
  line *= 0x7fb5d329728ea185u;
  line ^= line >> 27;
  line *= 0x81dadef4bc2dd44du;
  return line ^ line >> 33;
}

// A set-associative cache of 128-byte lines with four 32-byte sectors each. It knows which lines
// and sectors are there, not what is in them; of a full set the line that was not used longest
// goes. Several caches of one shape lie side by side.
class CacheSets {
 public:
  // `tags`: lines that a way's bytes may be shared by, which hold some of their sectors each. At
  // most 128 places of a set, ways times tags.
  CacheSets(uint64_t bytes, uint32_t ways, uint32_t tags = 1, uint32_t caches = 1);

  // Where a line is looked for in one of the caches.
  struct Key {
    uint64_t line, set;
    uint8_t mark;
  };
  Key key_of(uint64_t line, uint32_t cache = 0) const {
    const uint64_t hash = hash_line(line);
    // The mark: other bits of the hash than those that choose the set.
    return {line, cache * sets_ + modulo_sets(hash), static_cast<uint8_t>(hash >> 40)};
  }

  // The line, counted as used now; null: it is not there. It stays where it is until the next call.
  CachedLine* use(const Key& key);
  // The line, without using it.
  CachedLine* peek(const Key& key);
  // Asks the host for what use() and insert() will look at: the set's order, and then the line or
  // its place to come. Whether it is there, most likely.
  void prefetch_set(const Key& key) const;
  bool prefetch_line(const Key& key);
  // A place for a line that is not there, with no sector valid. Another may have to go for it.
  CachedLine& insert(const Key& key, std::optional<CachedLine>& gone);
  // A place for so many sectors more of a line that is there, where tags share bytes.
  void make_room(const Key& key, uint32_t sectors);

 private:
  // A set's lines in the order in which they were used, the last one first. They stay where they
  // are; their order is two rows of bytes, a hash of each line and its slot, which the host has at
  // hand sooner than the lines.
  struct Set {
    uint16_t held = 0;   // sectors, where tags share bytes
    uint8_t used = 0;    // places of the rows
    uint8_t opened = 0;  // places that were used at some time: those behind `used` have free slots
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
  std::optional<uint32_t> find(const Key& key);  // its place
  uint32_t next_slot(uint64_t set) const;        // that insert() takes
  uint64_t modulo_sets(uint64_t hash) const {
    __extension__ using Wide = unsigned __int128;
    uint64_t rest = hash - static_cast<uint64_t>(Wide{hash} * inverse_ >> 64) * sets_;
    while (rest >= sets_) rest -= sets_;
    return rest;
  }

  uint64_t sets_, inverse_;  // of one cache; 2^64 / sets, for a division is slow
  uint32_t near_, places_;   // of a set: ways, and times tags
  uint32_t sectors_;         // that a set holds together
  uint32_t row_;             // bytes
  std::vector<Set> heads_;
  RawArray<uint8_t> rows_;  // of each set: marks, and slots
  // Slots that come with the ways, and those with further tags: of these few are used at once.
  RawArray<CachedLine> lines_, far_lines_;
};

// L2 and the device memory behind it, as far as counters see them.
//
// L2 of large GPUs has two sides, each before half of the device memory. A multiprocessor asks the
// near side; what lives on the far side is looked up there as well, and kept in both. (So an H200
// counts half as many sectors again as L1 asked for, and 60 MiB hold 40 MiB of data. Measured:
// data/measured/h200-model-counters.csv, kernels sum_again, copy_quad.)
struct L2Shape {
  uint64_t bytes = 0;
  uint32_t ways = 16, sides = 1, slices = 1;
  // Bytes in dirty sectors, and in those written in part: of what is more, the oldest are written.
  uint64_t dirty_limit = 0, partial_dirty_limit = 0;
  uint32_t dram_access_bytes = 64;  // device memory is read in these pieces
  // A bank of device memory has one page open at a time, and serves what waits for that first.
  uint32_t dram_page_bytes = 1024, dram_banks = 1;
};

// Bytes of each sector of a line.
using SectorBytes = std::array<uint8_t, kSectorsPerLine>;

class L2 {
 public:
  explicit L2(const L2Shape& shape);

  // Asks the host for the sets that the line belongs to, and then for what they have of it.
  void prefetch_sets(uint32_t side, uint64_t line);
  void prefetch_lines(uint32_t side, uint64_t line);
  // `side`: of the multiprocessor that asks. `sectors`: of the line, one bit each.
  void read(uint32_t side, uint64_t line, uint8_t sectors);
  // `bytes`: how many of each sector are written; a sector of which some are missing is read from
  // device memory when it is written back, not before.
  void write(uint32_t side, uint64_t line, uint8_t sectors, const SectorBytes& bytes);
  // `times`: how often each sector is asked for; `weight`: what one costs, in integer additions;
  // `alone`: the access has no other line.
  void update(uint32_t side, uint64_t line, uint8_t sectors, const SectorBytes& times, bool result,
              double weight, bool alone = false);

  // Starts counting anew; what is cached stays.
  void reset_counters();
  const CacheCounters& counters() const { return counters_; }
  // The most that one slice had to do for atomics, in integer additions to one address.
  double busiest_slice() const;

 private:
  uint32_t home(uint64_t line) const;
  size_t slice_of(uint64_t line) const;
  CachedLine& place(uint32_t side, uint64_t line);
  void look_up(uint32_t sectors, uint32_t hits, uint64_t CacheCounters::*kind);
  uint8_t whole_accesses(uint8_t sectors) const;
  struct Bank;
  void reach_dram(std::vector<Bank>& banks, uint64_t line);
  uint64_t one_of_many(uint64_t line);
  // Looks sectors up on a side and brings those that are missing. Returns how many were there.
  uint32_t fetch(uint32_t side, uint64_t line, uint8_t sectors);
  void mark_dirty(CachedLine& at, uint8_t sectors);
  void write_back(CachedLine& at);
  void keep_limits();

  struct Waiting {  // dirty sectors, and the lines in the order in which they became so
    uint64_t sectors = 0;
    std::deque<uint64_t> lines;
  };

  // Pages that the last accesses to a bank went to. What goes to one of them again is served with
  // it.
  static constexpr size_t kPending = 4;
  struct Bank {
    std::array<uint64_t, kPending> pages;
    size_t next = 0;
  };

  L2Shape shape_;
  uint32_t together_;  // sectors that device memory gives at once
  CacheSets sides_;
  Waiting dirty_, partial_;
  // What each slice has done for atomics, in integer additions to one address.
  std::vector<double> slice_work_;
  std::vector<uint64_t> last_updated_;  // line and sectors
  std::vector<Bank> read_, written_;    // of device memory, which serves many of a kind in turn
  std::vector<uint64_t> in_flight_;     // lines that were partly written, the last of them
  size_t completed_ = 0;
  CacheCounters counters_;
};

}  // namespace lab32::counters
