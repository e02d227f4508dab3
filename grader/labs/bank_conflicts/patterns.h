// Warp-wide accesses to shared memory to try a student's arbiter on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "grading/words/names.h"

namespace lab32::checks::bank_conflicts {

struct BankPattern {
  std::string name;                    // "stride 33"; empty: random
  std::array<uint64_t, 32> address{};  // bytes from the block's shared memory on; of inactive
                                       // lanes: anything
  uint32_t bytes = 4;
  uint32_t active = 0xffffffff;

  // By the simulator's own counter.
  uint32_t store_wavefronts() const;
  uint32_t load_wavefronts() const;
  int lanes() const { return __builtin_popcount(active); }
  // Of thinking it through: those with a name are easier.
  int effort() const { return (name.empty() ? 64 : 0) + lanes(); }

  // The bank map, lane by lane: which bank and which word each lane begins with.
  std::string show() const;
};

// Lane l at element l * stride of `bytes` bytes.
BankPattern bank_stride(uint32_t bytes, uint32_t stride);

// The named ones first, then `random` others, of each of these widths: dense and sparse masks,
// lanes that share a word, lanes that share a bank, neighbours that agree.
std::vector<BankPattern> bank_patterns(Random& random, const std::vector<uint32_t>& widths,
                                       int count);

// The same access with its lanes in other orders, and with some of them inactive.
std::vector<BankPattern> variants(const BankPattern& p);

// Which wrong idea gives just these answers for all patterns, in a sentence; empty: none we know.
std::string bank_misconception(const std::vector<BankPattern>& patterns,
                               const std::vector<int>& wavefronts);

}  // namespace lab32::checks::bank_conflicts
