// A set-associative cache of 128-byte lines with four 32-byte sectors each. It knows which lines
// and sectors are there, not what is in them; of a full set the line that was not used longest
// goes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/counters/sectors.h"

namespace lab32::counters {

// 16 bytes: a replay goes from set to set of caches that are much larger than the host's.
struct CachedLine {
  CachedLine() : key(0), valid(0), dirty(0), partial(0), from_dram(0) {}
  uint64_t line() const { return key - 1; }  // address / 128

  uint64_t key : 48;       // line + 1; 0: no line is here
  uint64_t valid : 4;      // sectors that hold data, one bit each
  uint64_t dirty : 4;      // sectors that device memory has not got yet
  uint64_t partial : 4;    // written sectors of which some bytes never came: never valid, too
  uint64_t from_dram : 1;  // L1: what was asked for last was not in L2 either
  uint32_t landed = 0;     // L1: the turn by which that has come
  std::array<uint8_t, kSectorsPerLine> written{};  // bytes of a partial sector that came
};
static_assert(sizeof(CachedLine) == 16);

// Brings a line of host memory nearer. GCC takes what only prefetches for something without
// effects, and leaves out calls of it, but for the empty assembly.
inline void fetch_ahead(const void* at) {
  __builtin_prefetch(at);
  asm volatile("");
}

class CacheSets {
 public:
  // `tags`: lines that a way's bytes may be shared by, which hold some of their sectors each. At
  // most 128 places of a set, ways times tags.
  CacheSets(uint64_t bytes, uint32_t ways, uint32_t tags = 1);

  // The line, counted as used now; null: it is not there. It stays where it is until the next call.
  CachedLine* use(uint64_t line);
  // The line, without using it.
  CachedLine* peek(uint64_t line);
  // Asks the host for what use() will look at: the set's order, and then, whether the line is there
  // and it.
  void prefetch_set(uint64_t line) const;
  bool prefetch_line(uint64_t line) const;
  // A place for a line that is not there, with no sector valid. Another may have to go for it.
  CachedLine& insert(uint64_t line, std::optional<CachedLine>& gone);
  // A place for so many sectors more of a line that is there, where tags share bytes.
  void make_room(uint64_t line, uint32_t sectors);

 private:
  // A set: its places in the order in which they were used, the last one first, and behind them the
  // free ones. Lines stay where they are; their order is two rows of bytes, which the host has at
  // hand sooner than the lines.
  struct Set {
    uint8_t* marks;  // a hash of the line; 0: free
    uint8_t* slots;  // where among the lines
    CachedLine* lines;
    uint16_t* held;  // sectors, where tags share bytes
  };
  Set set_of(uint64_t line);
  uint64_t number_of_set(uint64_t line) const;
  uint32_t find(const Set& set, uint64_t line) const;  // its place; ways_: it is not there
  CachedLine& move_to_front(const Set& set, uint32_t place);

  uint32_t ways_, sectors_;  // of a set: places, and sectors that they hold together
  bool shared_;
  uint64_t sets_;
  std::vector<uint8_t> order_;
  std::vector<CachedLine> lines_;
  std::vector<uint16_t> held_;
};

// Spreads neighbouring lines, and lines a power of two apart, evenly: caches hash addresses, too.
inline uint64_t hash_line(uint64_t line) {
  line ^= line >> 31;
  line *= 0x7fb5d329728ea185u;
  line ^= line >> 27;
  line *= 0x81dadef4bc2dd44du;
  return line ^ line >> 33;
}

}  // namespace lab32::counters
