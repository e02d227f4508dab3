// Errors in a kernel's use of memory. A Hazard is what the check saw at a pair of instructions, by
// site and linear thread index. A Finding is the same for a pair of source lines, with the names of
// variables, and describe() turns it into a sentence for the student.
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

// An error at a source line or a pair of source lines: a race, an uninitialised read, or a warp
// operation on absent lanes. If a launch continues after errors, also a bad access (memory) and a
// barrier that some threads never reach (barrier). `count` says how often it was seen; the other
// members describe the first occurrence.
struct Finding {
  enum class Kind : uint8_t { race, uninitialised, warp_mask, memory, barrier };
  Kind kind = Kind::race;
  bool note = false;  // harmless under the memory model: both stores have the same value
  std::string file;
  int line = 0;       // line of the later access; 0: unknown
  int call_line = 0;  // line of the call, if the line above is in an inlined function; 0: it is not
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
  // Race in device memory: `object` is an array, and `other_block` is the block of the earlier
  // access.
  bool global = false;
  Index3 other_block{};
  // Race or uninitialised read in a cluster: `other_block` as above, and `owner` is the block whose
  // shared memory was accessed.
  bool cluster = false;
  Index3 owner{};
  bool update = false;           // both accesses belong to the same `x = f(x)`
  bool scope = false;            // both are atomics, but one has block scope
  bool read_only = false;        // one is a load that need not see what the launch writes
  bool sizes = false;            // both are atomics, but of different sizes
  bool is_volatile = false;      // one is a volatile store, which is no atomic
  bool stale = false;            // the load may miss the store, although both are atomic
  bool early = false;            // the other access is a copy that is not waited for
  bool one_instruction = false;  // race: whether both lanes execute one warp instruction
  // Race or uninitialised read: the variable in shared memory, and the index of the element if it
  // is an array. If the variable is unknown, `offset` is the offset in the block's shared memory,
  // otherwise in the variable.
  std::string object;
  std::string place;  // "s[1].mass", if the type of the variable is known
  std::optional<uint64_t> element;
  uint64_t offset = 0;
  sim::ValueUse used_as = sim::ValueUse::none;  // uninitialised: how the value was used
  // warp_mask: lanes that the operation names, and those of them that are absent
  uint32_t mask = 0, absent = 0;
  // Set for memory and barrier, and for uninitialised reads of global or local memory.
  std::optional<sim::TrapFacts> fault;
};

using Use = sim::AccessUse;

// What the check saw at a pair of instructions. `count` covers all occurrences, the other members
// describe the first one. `earlier` is unused unless kind is race. Both parties may have the same
// site.
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
  // plain: at least one access is a plain one. is_volatile: one is a volatile store. early: the
  // earlier access is an asynchronous copy that its thread has not waited for.
  enum class Cause : uint8_t { plain, is_volatile, early } cause = Cause::plain;
  // Accesses of lanes that raced with an earlier one, for each word (byte at granule 1).
  uint64_t count = 0;
  sim::BlockInfo block{};
  uint64_t sequence = 0;  // the number of the access in its block
  Party earlier, later;
  uint64_t offset = 0;  // in shared memory
  sim::ValueUse used_as =
      sim::ValueUse::none;  // uninitialised: the first use that was more than a copy
  // warp_mask: lanes that the operation names, and those of them that are absent
  uint32_t mask = 0, absent = 0;
  // set if the simulator itself found the error (sim::FaultEvent)
  std::optional<sim::TrapFacts> fault;
  // In a cluster: the block of the later party, the block of the earlier party, and the block that
  // owns the memory. Threads and offset are relative to these blocks. Empty outside a cluster.
  std::vector<sim::BlockInfo> cluster;

  // True for a race between two lanes of one warp. An example between two warps is preferred if
  // there is one, because a barrier that orders the warps also orders their lanes.
  bool is_in_one_warp() const {
    return kind == Finding::Kind::race && !note && earlier.thread / 32 == later.thread / 32 &&
           (cluster.empty() || cluster[0].rank == cluster[1].rank);
  }
};

// Translates sites to source lines and offsets to names of variables. Counts and notes carry over.
Finding finding_of(const Hazard& hazard, const std::vector<sim::SharedVariable>& variables,
                   const PositionOf& position);

// Text for findings. Only the functions below turn findings into English.

// "line 7: thread 3 of block 0 reads ..., which ...; how it is usually fixed". One sentence: what
// happened, where, and what to consider.
std::string describe(const Finding& finding);
// The sentence without "line 7: ", for output that shows the source line already.
std::string describe_without_line(const Finding& finding);

// The usual fix, if the sentence only says what is missing; empty if the sentence contains it.
std::string usual_fix(const Finding& finding);

// The parts of a race, for its picture. `missing` is what would order the two accesses.
struct RaceWords {
  std::string first, second;  // "thread 3 of block 0"
  std::string place;          // "s[16]"
  std::string missing;        // "__syncthreads()"
};
RaceWords words_of_race(const Finding& finding);

}  // namespace lab32::counters
