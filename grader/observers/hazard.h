// One thing that is wrong with a kernel's use of shared memory, and the sentence about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "observers/counters.h"
#include "observers/position.h"
#include "observers/shadow.h"
#include "sim/events.h"
#include "sim/shared_variable.h"

namespace lab32::observe {

// What was seen at a pair of instructions, and the first time it was. `earlier` is unused unless
// kind is race; the same site may stand on both sides.
struct Hazard {
  struct Party {
    uint32_t site = 0;
    uint32_t thread = 0;  // linear in the block
    Touch touch = Touch::read;
    uint8_t bytes = 0;
  };
  Finding::Kind kind = Finding::Kind::race;
  bool note = false;
  bool one_instruction = false;  // lanes of one warp instruction
  uint64_t count = 0;            // words (bytes, at granule 1) and lanes concerned, summed
  sim::BlockInfo block{};
  uint64_t sequence = 0;  // of the access in its block
  Party earlier, later;
  uint64_t offset = 0;            // in shared memory
  uint32_t mask = 0, absent = 0;  // warp_mask: lanes named, lanes concerned
  std::string complaint;          // what the simulator said (sim::Mistake); empty: it did not
};

// Tells a student, in one sentence, what happened and what usually mends it.
std::string describe(const Hazard& hazard, const std::vector<sim::SharedVariable>& variables,
                     const PositionOf& position);

}  // namespace lab32::observe
