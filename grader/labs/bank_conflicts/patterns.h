// Accesses of a warp to shared memory, about which the grader asks the student's wavefronts(), and
// the misconceptions that it recognises in wrong answers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "grading/words/words.h"

namespace lab32::checks::bank_conflicts {

struct SharedAccessPattern {
  std::string name;                    // "stride 33"; empty: random
  std::array<uint64_t, 32> address{};  // bytes from the block's shared memory on; of inactive
                                       // lanes: anything
  uint32_t bytes = 4;
  uint32_t active = 0xffffffff;

  // The right answers, computed with the simulator's own counters.
  uint32_t store_wavefronts() const;
  uint32_t load_wavefronts() const;
  int lanes() const { return __builtin_popcount(active); }
  // How hard the pattern is to check by hand: a failed check shows the wrong answer with the least
  // hand_check_effort. Named patterns are easier than random ones.
  int hand_check_effort() const { return (name.empty() ? 64 : 0) + lanes(); }

  // A table of the lanes with the bank and the word at which each one begins.
  std::string show() const;
};

// Lane l accesses element l * stride; elements have `bytes` bytes.
SharedAccessPattern strided_shared_access_pattern(uint32_t bytes, uint32_t stride_in_elements);

// For each width of an element, the named patterns, then `count` random ones: with few or many
// active lanes, and with lanes or neighbours that share a word or a bank.
std::vector<SharedAccessPattern> named_and_random_access_patterns(
    Random& random, const std::vector<uint32_t>& widths, int count);

// The same access with its lanes in other orders, and with some lanes inactive.
std::vector<SharedAccessPattern> lane_variants_of_bank_pattern(const SharedAccessPattern& p);

// A sentence about the misconception that would give all of these wavefronts for these patterns;
// empty if no known misconception does.
std::string bank_misconception_hint(const std::vector<SharedAccessPattern>& patterns,
                                    const std::vector<int>& wavefronts);

}  // namespace lab32::checks::bank_conflicts
