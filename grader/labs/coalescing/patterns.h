// Accesses of a warp to global memory, about which the grader asks the student's requests() and
// sectors(), and the misconceptions that it recognises in wrong answers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "grading/words/words.h"

namespace lab32::checks::coalescing {

struct GlobalAccessPattern {
  std::array<uint64_t, 32> address{};  // inactive lanes have any address
  uint32_t bytes = 4;
  uint32_t active = 0xffffffff;

  // The right answers, from the simulator's own counter: one request if a lane is active, and the
  // distinct 32-byte sectors that the active lanes access.
  uint32_t requests() const { return active != 0; }
  uint32_t sectors() const;

  int lanes() const { return __builtin_popcount(active); }
  int hand_check_effort() const { return lanes(); }

  // The address of each lane, as an offset from a line of 128 bytes; a table if there are many
  // lanes.
  std::string show() const;
};

// The edge cases, then `random` others: all widths, dense and sparse masks, lanes that share an
// address, scattered lanes, and addresses beyond 32 bits.
std::vector<GlobalAccessPattern> random_and_edge_patterns(Random& random, int count);

// The same access with its lanes in other orders, and with some lanes inactive.
std::vector<GlobalAccessPattern> lane_variants_of_global_pattern(const GlobalAccessPattern& p);

// A sentence about the misconception that would give all of these sectors for these patterns; empty
// if no known misconception does.
std::string misconception_hint(const std::vector<GlobalAccessPattern>& patterns,
                               const std::vector<int>& sectors);

}  // namespace lab32::checks::coalescing
