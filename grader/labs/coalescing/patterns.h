// Warp-wide accesses to try a student's coalescer on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "grading/words/names.h"

namespace lab32::checks::coalescing {

struct Pattern {
  std::array<uint64_t, 32> address{};  // of inactive lanes: anything
  uint32_t bytes = 4;
  uint32_t active = 0xffffffff;

  // One request if at least one lane is active; the distinct 32-byte sectors that the active lanes
  // touch, by the simulator's own counter.
  uint32_t requests() const { return active != 0; }
  uint32_t sectors() const;

  int lanes() const { return __builtin_popcount(active); }
  int effort() const { return lanes(); }  // of thinking it through

  // Lane by lane, as offsets from a line of 128 bytes; a table where lanes are many.
  std::string show() const;
};

// The edges first, then `random` others: each width, dense and sparse masks, lanes that share an
// address, scattered ones, addresses beyond 32 bits.
std::vector<Pattern> patterns(Random& random, int count);

// The same access with its lanes in other orders, and with some of them inactive.
std::vector<Pattern> variants(const Pattern& p);

// Which wrong idea gives just these answers for all patterns, in a sentence; empty: none we know.
std::string misconception(const std::vector<Pattern>& patterns, const std::vector<int>& sectors);

}  // namespace lab32::checks::coalescing
