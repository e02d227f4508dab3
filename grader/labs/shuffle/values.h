// Inputs and checks that the suites of the shuffle lab share.
#pragma once

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "device/device.h"
#include "grading/engine/check.h"
#include "grading/launch/counting.h"
#include "grading/words/describe.h"
#include "grading/words/words.h"

namespace lab32::checks::shuffle {

// n nonzero whole numbers, the sum of whose absolute values is at most 2^24 (n <= 2^24): floats add
// them exactly in any order, and a missing element always changes the sum.
inline std::vector<float> whole_floats(Random& random, uint32_t n) {
  const uint32_t most = std::max(1u, std::min(4096u, (1u << 24) / std::max(n, 1u)));
  std::vector<float> values(n);
  for (float& v : values) {
    v = static_cast<float>(1 + random.below(most));
    if (random.below(2)) v = -v;
  }
  return values;
}

// Loses the check if a launch has accessed shared memory or waited at a barrier: lanes of one warp
// need neither to exchange values.
inline void none_shared(Check& check, const device::Run& launched, int line) {
  const counters::Counters& c = counters_of(check, launched);
  check.expected("none");
  check.measured("none");
  check.figure("wavefronts", static_cast<double>(c.shared_wavefronts()));
  check.figure("barriers", static_cast<double>(c.block_barriers));
  if (c.shared_wavefronts() == 0 && c.block_barriers == 0) return;
  check.measured(c.shared_wavefronts() > 0 ? grouped(c.shared_wavefronts()) + " wavefronts"
                                           : grouped(c.block_barriers) + " barriers");
  check.lose({Failure::Kind::wasteful}, line,
             "The lanes of a warp can exchange registers; this needs neither shared "
             "memory nor a barrier of the block.");
}

}  // namespace lab32::checks::shuffle
