// Warp-wide accesses to shared memory on which the grader tries the student's wavefronts(), and the
// misconceptions that it recognises in wrong answers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "grading/words/words.h"

namespace lab32::checks::bank_conflicts {

struct BankPattern {
  std::string name;                    // "stride 33"; empty: random
  std::array<uint64_t, 32> address{};  // bytes from the block's shared memory on; of inactive
                                       // lanes: anything
  uint32_t bytes = 4;
  uint32_t active = 0xffffffff;

  // The right answers, from the simulator's own counters.
  uint32_t store_wavefronts() const;
  uint32_t load_wavefronts() const;
  int lanes() const { return __builtin_popcount(active); }
  // How hard the pattern is to check by hand. Named patterns are easier than random ones.
  int effort() const { return (name.empty() ? 64 : 0) + lanes(); }

  // A table of the lanes with the bank and the word at which each one begins.
  std::string show() const;
};

// Lane l accesses element l * stride; elements have `bytes` bytes.
BankPattern bank_stride(uint32_t bytes, uint32_t stride);

// For each width, the named patterns and then `random` others: dense and sparse masks, lanes that
// share a word or a bank, and neighbours that do.
std::vector<BankPattern> bank_patterns(Random& random, const std::vector<uint32_t>& widths,
                                       int count);

// The same access with its lanes in other orders, or with some of them inactive.
std::vector<BankPattern> variants(const BankPattern& p);

// A sentence about the misconception that gives exactly these answers for all patterns; empty if
// none is known.
std::string bank_misconception(const std::vector<BankPattern>& patterns,
                               const std::vector<int>& wavefronts);

}  // namespace lab32::checks::bank_conflicts
