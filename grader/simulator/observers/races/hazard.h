// One thing that is wrong with a kernel's use of shared memory, at a pair of instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/core/memory/shared_variable.h"
#include "simulator/core/warp/events.h"
#include "simulator/observers/counters.h"
#include "simulator/observers/position.h"
#include "simulator/observers/races/shadow.h"

namespace lab32::counters {

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

}  // namespace lab32::counters
