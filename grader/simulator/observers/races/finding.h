// What is wrong with a kernel's use of memory: as seen at a pair of instructions (Hazard), as told
// of a pair of source lines (Finding), and the words for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/memory/access.h"
#include "simulator/core/warp/events.h"
#include "simulator/core/warp/trap.h"
#include "simulator/observers/counters.h"

namespace lab32::counters {

// A hazard: a race, an uninitialised read, a warp operation on absent lanes; where a launch keeps
// going, also a bad access of memory (memory) and a barrier that threads never reach (barrier). One
// for each pair of source lines (or line), with how often it was seen and, as facts, the first time
// it was. describe() has the words.
struct Finding {
  enum class Kind : uint8_t { race, uninitialised, warp_mask, memory, barrier };
  Kind kind = Kind::race;
  bool note = false;  // harmless by the memory model's letter: same value stored twice
  std::string file;
  int line = 0;  // the later access; 0: not known
  uint64_t count = 0;

  using Index3 = std::array<uint32_t, 3>;  // x, y, z
  Index3 block{}, block_size{1, 1, 1};
  struct Party {
    Index3 thread{};
    uint32_t warp = 0;  // in the block
    sim::AccessUse use = sim::AccessUse::read;
    uint8_t bytes = 0;
  } party;
  // race: the earlier access
  std::string other_file;
  int other_line = 0;
  Party other;
  // race in device memory (`object` is an array): the earlier access' block, and what is missing
  bool global = false;
  Index3 other_block{};
  // race, uninitialised, in a cluster: `other_block` as above, and whose shared memory it is
  bool cluster = false;
  Index3 owner{};
  bool update = false;           // both belong to one `x = f(x)`
  bool scope = false;            // both are atomics, but one for its own block only
  bool one_instruction = false;  // race: lanes of one warp instruction
  // race, uninitialised: the variable in shared memory, the element of it unless it is one; without
  // a name, offset in the block's shared memory
  std::string object;
  std::string place;  // "s[1].mass", where the variable's type is known
  std::optional<uint64_t> element;
  uint64_t offset = 0;
  sim::ValueUse used_as = sim::ValueUse::none;  // uninitialised: what the value was used as
  uint32_t mask = 0, absent = 0;  // warp_mask: lanes named, those of them that are absent
  // memory, barrier; uninitialised, in global or local memory
  std::optional<sim::TrapFacts> fault;
};

using Use = sim::AccessUse;

// What was seen at a pair of instructions, and the first time it was. `earlier` is unused unless
// kind is race; the same site may stand on both sides.
struct Hazard {
  struct Party {
    uint32_t site = 0;
    uint32_t thread = 0;  // linear in the block
    Use use = Use::read;
    uint8_t bytes = 0;
  };
  Finding::Kind kind = Finding::Kind::race;
  bool note = false;
  bool one_instruction = false;  // lanes of one warp instruction
  uint64_t count = 0;            // words (bytes, at granule 1) and lanes concerned, summed
  sim::BlockInfo block{};
  uint64_t sequence = 0;  // of the access in its block
  Party earlier, later;
  uint64_t offset = 0;  // in shared memory
  sim::ValueUse used_as =
      sim::ValueUse::none;              // uninitialised: what for, the first time it mattered
  uint32_t mask = 0, absent = 0;        // warp_mask: lanes named, lanes concerned
  std::optional<sim::TrapFacts> fault;  // what the simulator itself found (sim::FaultEvent)
  // In a cluster: the blocks of the later and the earlier party, and the one whose memory it is;
  // threads and offset are then theirs.
  std::vector<sim::BlockInfo> cluster;

  // Two lanes of one warp: of a race that other warps run, too, the smaller part. The example is
  // one between warps where there is any, since what orders those orders lanes as well.
  bool in_one_warp() const {
    return kind == Finding::Kind::race && !note && earlier.thread / 32 == later.thread / 32 &&
           (cluster.empty() || cluster[0].rank == cluster[1].rank);
  }
};

// The same at source lines, with the names of variables. Counts and notes carry over.
Finding finding_of(const Hazard& hazard, const std::vector<sim::SharedVariable>& variables,
                   const PositionOf& position);

// Words for what the hazard check has found. The only place where findings become English.

// "line 7: thread 3 of block 0 reads ..., which ...; how it is usually fixed". One sentence: what
// happened, where, and what to think of.
std::string describe(const Finding& finding);
// The same for readers who see the line already: without "line 7: ".
std::string describe_at_its_line(const Finding& finding);

// What to do where the sentence only says what is missing; empty: it says so itself.
std::string usual_fix(const Finding& finding);

// The parts of a race, for its picture. `missing`: what would order the two.
struct RaceWords {
  std::string first, second;  // "thread 3 of block 0"
  std::string place;          // "s[16]"
  std::string missing;        // "__syncthreads()"
};
RaceWords words_of_race(const Finding& finding);

}  // namespace lab32::counters
