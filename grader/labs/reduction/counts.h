// The counters that the reduction lab's steps move, for a block or an element, and how each is
// judged and explained.
#pragma once

#include <cstdint>
#include <string>

#include "device/device.h"
#include "grading/launch/standard_checks.h"
#include "grading/words/names.h"

namespace lab32::checks::reduction {

// Counts of a launch are sums over its blocks, which all do the same: shares of one are exact.
struct StepCounts {
  StepCounts(Check& check, const device::Run& run, uint64_t blocks, uint64_t elements);

  double accesses, wavefronts, barriers;  // per block; accesses: of a warp to shared memory
  double lanes;                           // active, of an access
  double idle_lanes;                      // in these accesses, per element
  double instructions;                    // of PTX, a warp's, for 32 elements

 private:
  StepCounts(const counters::Counters& c, double blocks, double elements);
};

// A counter; its name is that of its limit in the rubric.
enum class Counter { accesses, wavefronts, idle_lanes, barriers, instructions };
const char* key_of(Counter counter);

// Of several counters the worst share decides: they hang together, so that shares do not multiply.
class StepVerdict {
 public:
  // `block` threads, for messages.
  StepVerdict(Check& check, const device::Run& run, uint32_t block, uint64_t blocks,
              uint64_t elements);

  // All counters, for who plots them.
  void figures() const;
  // What the step is about: credit limit / reached, shown in the table; `idea` fixes it.
  void moves(Counter counter, double limit, const std::string& idea);
  // What an earlier step has won: credit limit / reached, said only where it is lost.
  void keeps(Counter counter, double limit);
  // What was held at the published size has to hold in this launch, too: `elsewhere` says what it
  // is of. Credit limit / reached, said only where it is lost.
  void holds(Counter counter, double limit, const std::string& elsewhere);
  // What a later step is about: a kernel with less than the rubric's `least_...` is not this step.
  // `later` says which idea that is. Loses the check.
  void leaves(Counter counter, const std::string& later);

 private:
  double reached(Counter counter) const;
  void explain_excess(Counter counter) const;

  Check& check_;
  const device::Run& run_;
  uint32_t block_;
  uint64_t blocks_;
  StepCounts counts_;
};

}  // namespace lab32::checks::reduction
