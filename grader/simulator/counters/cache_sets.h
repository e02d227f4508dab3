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

struct CachedLine {
  uint64_t line = 0;       // address / 128
  uint64_t landed = 0;     // L1: the turn by which what was asked for last has come
  uint8_t valid = 0;       // sectors that hold data, one bit each
  uint8_t dirty = 0;       // sectors that device memory has not got yet
  bool from_dram = false;  // L1: that was not in L2 either
  uint8_t partial = 0;     // written sectors of which some bytes never came: never valid, too
  std::array<uint8_t, kSectorsPerLine> written{};  // bytes of a partial sector that came
};

class CacheSets {
 public:
  // `tags`: lines that a way's bytes may be shared by, which hold some of their sectors each. At
  // most 128 places of a set, ways times tags.
  CacheSets(uint64_t bytes, uint32_t ways, uint32_t tags = 1);

  // The line, counted as used now; null: it is not there.
  CachedLine* use(uint64_t line);
  // The line, without using it.
  CachedLine* peek(uint64_t line);
  // A place for a line that is not there, with no sector valid. Another may have to go for it.
  CachedLine& insert(uint64_t line, std::optional<CachedLine>& gone);
  // A place for so many sectors more of a line that is there, where tags share bytes.
  void make_room(uint64_t line, uint32_t sectors);

 private:
  uint64_t* set_of(uint64_t line);
  CachedLine& used_now(uint64_t* set, uint64_t* way);

  uint32_t ways_, sectors_;  // of a set: places, and sectors that they hold together
  uint64_t sets_;
  // Set after set, in each the way that was used last first, so that a look-up mostly ends at once
  // and the last one is the one to go: line + 1 below kSlotAt, above it where in the set its line
  // stands.
  std::vector<uint64_t> tags_;
  std::vector<CachedLine> lines_;
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
