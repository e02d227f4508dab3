// The counters of the reduction lab's steps, per block or per element. LaunchCounterVerdict checks
// and explains them: the counter that a step improves, those that earlier steps have improved, and
// those that only later steps may improve.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "device/device.h"
#include "grading/launch/standard_checks.h"
#include "grading/words/words.h"

namespace lab32::checks::reduction {

// All blocks of a launch do the same, so dividing the counts of a launch by its blocks is exact.
struct NormalisedReductionCounts {
  NormalisedReductionCounts(Check& check, const device::LaunchResult& run, uint64_t blocks,
                            uint64_t elements);
  NormalisedReductionCounts(const counters::Counters& c, double blocks, double elements);

  // Per block; an access is one instruction of a warp that reads or writes shared memory.
  double accesses, wavefronts, barriers;
  double lanes;         // active lanes per access
  double idle_lanes;    // inactive lanes of these accesses, per element
  double instructions;  // PTX instructions of a warp, per 32 elements
};

// A counter of NormalisedReductionCounts; key_of() is the name of its limit in the rubric.
enum class Counter { accesses, wavefronts, idle_lanes, barriers, instructions };
const char* key_of(Counter counter);

// Checks the counters of one launch. The smallest share of several counters decides, because the
// counters depend on each other and their shares must not multiply.
class LaunchCounterVerdict {
 public:
  // `block`: threads of a block, for messages.
  LaunchCounterVerdict(Check& check, const device::LaunchResult& run, uint32_t block,
                       uint64_t blocks, uint64_t elements);

  // Takes points in proportion if few lanes are active in the accesses on which the sum depends.
  // `needed` counts these accesses; nullopt means that the sum depends on all. A lane that does
  // something else meanwhile counts as inactive.
  void credit_working_lanes(const std::optional<NormalisedReductionCounts>& needed) const;
  // Records all counters, for plots.
  void record_figures() const;
  // Checks the counter that the step improves. Credit is limit / reached, and the table shows the
  // count; `idea` is the hint.
  void credit_counter_against_limit(Counter counter, double limit, const std::string& idea);
  // Checks a counter that an earlier step has improved. Credit is limit / reached, and the message
  // mentions the counter only if points are lost.
  void limit_credit_by_earlier_counter(Counter counter, double limit);
  // The share of the points: limit / reached, at most 1.
  double credit_share_for_limit(Counter counter, double limit) const;
  // Checks the counter in a launch other than the published one; the smaller of the two
  // shares counts. `published` and `here` name the two launches in the message: "in blocks of 512".
  void limit_credit_to_other_launch(Counter counter, double limit, const std::string& published,
                                    const std::string& here);
  // Loses the check if the counter is below the rubric's `least_...`, because the kernel then uses
  // the idea of a later step already; `later` says which one. `needed` counts the kernel without
  // its needless work (grading/launch/counting.h); nullopt means that it has none.
  void require_no_later_step(
      Counter counter, const std::string& later,
      const std::function<std::optional<NormalisedReductionCounts>(Counter counter)>& needed);

 private:
  double reached(Counter counter) const { return counter_value(counts_, counter); }
  static double counter_value(const NormalisedReductionCounts& counts, Counter counter);
  void explain_excess(Counter counter) const;

  Check& check_;
  const device::LaunchResult& run_;
  uint32_t block_;
  uint64_t blocks_;
  NormalisedReductionCounts counts_;
};

}  // namespace lab32::checks::reduction
