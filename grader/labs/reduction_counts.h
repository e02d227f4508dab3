// The counters that the reduction lab's steps move, for a block or an element, and how each is
// judged and explained.
#pragma once

#include <cstdint>
#include <string>

#include "device/device.h"
#include "labs/rule.h"

namespace lab32::labs {

// Counts of a launch are sums over its blocks, which all do the same: shares of one are exact.
struct StepCounts {
  StepCounts(const device::Run& run, uint64_t blocks, uint64_t elements);

  double accesses, wavefronts, barriers;  // a block; accesses: of a warp to shared memory
  double lanes;                           // active, of an access
  double idle_lanes;                      // in these accesses, an element
  double instructions;                    // of PTX, a warp's, for 32 elements

 private:
  StepCounts(const observe::Counters& c, double blocks, double elements);
};

// A counter with its limit: the key of a rule's table.
enum class Counter { accesses, wavefronts, idle_lanes, barriers, instructions };

class StepVerdict {
 public:
  // Figures of all counters; `block` threads, for messages.
  StepVerdict(const Rule& rule, const device::Run& run, uint32_t block, uint64_t blocks,
              uint64_t elements);

  // What the step is about: credit limit / reached, shown on the board; `idea` mends it.
  void moves(Counter counter, const std::string& idea);
  // What an earlier step has won: credit limit / reached, said only where it is lost.
  void keeps(Counter counter);
  // What a later step is about: a kernel with less than the rule's `least_...` is not this step.
  // `later` says which idea that is. Loses the test.
  void leaves(Counter counter, const std::string& later);

 private:
  double reached(Counter counter) const;
  // The worst share decides: the counters hang together, so that shares do not multiply.
  static void share(double limit, double got);
  void explain_excess(Counter counter) const;

  const Rule& rule_;
  const device::Run& run_;
  uint32_t block_;
  uint64_t blocks_;
  StepCounts counts_;
};

}  // namespace lab32::labs
