// The reduction lab, part B: v2 to v6, each with one idea. Contract: labs/reduction/reduction.cu.
//
// The rubric sets the blocks, the grid and the elements per thread. Each step must improve its own
// counter, keep what earlier steps have improved, and leave the ideas of later steps alone, so
// neither a faster nor a slower kernel passes as this step.

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "grading/engine/suite.h"
#include "grading/launch/counting.h"
#include "grading/launch/launch.h"
#include "labs/reduction/counts.h"
#include "labs/reduction/sums.h"

namespace lab32::checks::reduction {
namespace {

struct ReductionVersion {
  const char* kernel;
  uint32_t elements;  // per thread
  bool templated;     // a template over the block size

  std::string kernel_name(uint32_t block) const {
    return templated ? fmt::format("{}<{}>", kernel, block) : kernel;
  }
};

const ReductionVersion kV2{"reduce_v2", 1, false}, kV3{"reduce_v3", 1, false},
    kV4{"reduce_v4", 2, false}, kV5{"reduce_v5", 2, false}, kV6{"reduce_v6", 2, true};

device::LaunchResult launch_and_check_step(Check& check, const ReductionVersion& step,
                                           uint32_t block, std::vector<int> values,
                                           const std::string& what) {
  const size_t part = size_t{block} * step.elements;
  const uint32_t blocks = static_cast<uint32_t>(values.size() / part);
  const std::string setting =
      fmt::format("{} block{} of {}{}", blocks, blocks == 1 ? "" : "s", block, what);
  Input<int> in(check, "in", std::move(values));
  Output<int> out(check, "out", blocks);
  device::LaunchResult launched =
      run(check, {step.kernel_name(block), {{blocks}, {block}}, {in, out}, setting});
  std::vector<int> want(blocks);
  for (size_t b = 0; b < blocks; ++b) {
    const auto first = in.values().begin() + static_cast<ptrdiff_t>(b * part);
    want[b] = std::accumulate(first, first + static_cast<ptrdiff_t>(part), 0);
  }
  lose_if_wrong_sum_text_given(check, fmt::format("blocks of {}", block), setting,
                               check.line_of(step.kernel), mismatch("out", out.read(), want));
  end_if_repetition_done(check);
  return launched;
}

// The launch in blocks of one size, with its counters. The seed decides the number of blocks.
struct ReductionVersionRun {
  std::shared_ptr<const device::LaunchResult> run;
  uint32_t block;
  uint64_t blocks, elements;
};

ReductionVersionRun run_reduction_version(Check& check, const ReductionVersion& step,
                                          uint32_t block) {
  const std::string key = fmt::format("{} in blocks of {}", step.kernel, block);
  Random random(seed_of_stream(check.session.setup.seed, key));
  const uint32_t blocks = random_from_range(check, "many", random);
  const uint64_t elements = uint64_t{blocks} * block * step.elements;
  return {reused_launch(check, key, step.kernel_name(block),
                        [&] {
                          return launch_and_check_step(
                              check, step, block, ints_without_sum_overflow(random, elements), "");
                        }),
          block, blocks, elements};
}

void check_block_sizes(Check& check, const ReductionVersion& step) {
  Random random = check.random();
  std::vector<double> blocks = check.row.required_numbers("blocks");
  // The smallest block size comes last: in blocks of two warps most steps of a tree stay within one
  // warp, so a missing __syncthreads() would be reported as a missing __syncwarp().
  std::rotate(blocks.begin(), blocks.begin() + 1, blocks.end());
  for (double threads : blocks) {
    const uint32_t block = static_cast<uint32_t>(threads), part = block * step.elements;
    launch_and_check_step(check, step, block, ints_without_sum_overflow(random, part), "");
    run_reduction_version(check, step, block);
    launch_and_check_step(check, step, block, ints_with_largest_sum(random, part),
                          ", a sum of 2147483647");
    launch_and_check_step(check, step, block, zeros_with_one_int_min(random, part),
                          ", a sum of -2147483648");
  }
  const uint32_t smallest = static_cast<uint32_t>(blocks.back());
  launch_and_check_step(
      check, step, smallest,
      ints_without_sum_overflow(
          random, size_t{random_from_range(check, "most", random)} * smallest * step.elements),
      "");
  report_right_result(check);
}

// The rubric's limit of a counter for a block size; the lists of limits are as long as `blocks`.
double limit_for_block_size(Check& check, Counter counter, uint32_t block) {
  const std::vector<double> blocks = check.row.required_numbers("blocks"),
                            limits = check.row.required_numbers(key_of(counter));
  return limits.at(std::find(blocks.begin(), blocks.end(), block) - blocks.begin());
}

// Counts a small launch of the kernel without its needless work; nullopt if it has no needless
// work.
std::optional<NormalisedReductionCounts> counts_of_run_without_needless_work(
    Check& check, const ReductionVersion& step, uint32_t block, RemovableInstructions work) {
  constexpr uint32_t kBlocks = 2;
  constexpr uint64_t kMost = 100'000;  // without an access, a loop may be endless
  Random random = check.random();
  const size_t part = size_t{block} * step.elements;
  const Input<int> in(check, "in", ints_without_sum_overflow(random, kBlocks * part));
  Output<int> out(check, "out", kBlocks);
  std::vector<int> want(kBlocks);
  for (size_t i = 0; i < in.count(); ++i) want[i / part] += in.values()[i];
  const auto attempt = [&](device::Kernel& kernel) -> std::optional<device::LaunchResult> {
    out.poison();
    device::LaunchResult run =
        launch_without_verdict(check, kernel, {{kBlocks}, {block}}, {in, out}, kMost);
    if (run.fault || has_hazard_finding(run) || out.read() != want) return std::nullopt;
    return run;
  };
  const auto found = find_removable_instructions(check, step.kernel_name(block), work, attempt);
  if (!found) return std::nullopt;
  return NormalisedReductionCounts(*found->run.counters, kBlocks, static_cast<double>(in.count()));
}

class ReductionStepCounterCheck {
 public:
  ReductionStepCounterCheck(Check& check, const ReductionVersion& step)
      : check_(check),
        step_(step),
        main_(run_reduction_version(check, step, check.row.required_count("block"))),
        verdict_(check, *main_.run, main_.block, main_.blocks, main_.elements) {
    verdict_.record_figures();
  }

  void require_no_later_step(Counter counter, const std::string& later) {
    verdict_.require_no_later_step(counter, later, [this](Counter needed) {
      needed_ = counts_of_run_without_needless_work(check_, step_, main_.block,
                                                    needed == Counter::barriers
                                                        ? RemovableInstructions::barriers
                                                        : RemovableInstructions::shared_accesses);
      return needed_;
    });
  }
  void credit_counter_against_limit(Counter counter, const std::string& idea) {
    verdict_.credit_counter_against_limit(counter,
                                          limit_for_block_size(check_, counter, main_.block), idea);
    counters_.push_back(counter);
  }
  void limit_credit_by_earlier_counter(Counter counter) {
    verdict_.limit_credit_by_earlier_counter(counter,
                                             limit_for_block_size(check_, counter, main_.block));
    counters_.push_back(counter);
  }
  // Checks the same counters in the other block sizes. The smallest share of all sizes counts, and
  // the message is about that size.
  void recount_in_all_block_sizes() {
    std::optional<ReductionVersionRun> worst;
    Counter counter{};
    double least = 1;
    for (double threads : check_.row.required_numbers("blocks")) {
      const uint32_t block = static_cast<uint32_t>(threads);
      if (block == main_.block) continue;
      const ReductionVersionRun other = run_reduction_version(check_, step_, block);
      const LaunchCounterVerdict in_others(check_, *other.run, block, other.blocks, other.elements);
      for (Counter each : counters_) {
        const double share =
            in_others.credit_share_for_limit(each, limit_for_block_size(check_, each, block));
        if (share >= least) continue;
        least = share;
        counter = each;
        worst = other;
      }
    }
    if (worst)
      LaunchCounterVerdict(check_, *worst->run, worst->block, worst->blocks, worst->elements)
          .limit_credit_to_other_launch(counter,
                                        limit_for_block_size(check_, counter, worst->block),
                                        fmt::format("in blocks of {}", main_.block),
                                        fmt::format("in blocks of {}", worst->block));
    verdict_.credit_working_lanes(needed_);
  }

 private:
  Check& check_;
  const ReductionVersion& step_;
  ReductionVersionRun main_;
  LaunchCounterVerdict verdict_;
  std::optional<NormalisedReductionCounts>
      needed_;  // the counts without needless work; nullopt: there is none
  std::vector<Counter> counters_;
};

const char kBarrierEachStep[] =
    "A tree in which one warp adds values that another warp has written needs a "
    "barrier after each step. Saving barriers is v5's idea.";
const char kTreeInMemory[] =
    "This step still reduces to 64 sums in shared memory. Reducing within each "
    "warp first is an idea for v8.";

}  // namespace

namespace {

// The block sizes lie between those for which the submission's file instantiates the kernels.
const RubricKey kOneBlock = power_of_two("block", 64, 1024),
                kBlocks = powers_of_two("blocks", 64, 1024),
                kMany = interval_valued_key("many", 1, 4096);

// Rubric keys: the limits of a counter, one for each size of `blocks`; and the count below which a
// kernel is a later step.
RubricKey limits_per_block_size(const char* counter) {
  return with_length_of("blocks", numbers(counter, 0, 1e6));
}
RubricKey least(const char* counter) { return number(counter, 0, 1e6); }

}  // namespace

TEST_SUITE("lab:reduction") {
  LAB_CHECK("v2: result" *
            takes_rubric_keys(kBlocks, kMany, interval_valued_key("most", 1, 4096))) {
    check_block_sizes(check, kV2);
  }

  LAB_CHECK("v2: divergence" * takes_rubric_keys("min_working_share", "min_access_share", kOneBlock,
                                                 limits_per_block_size("accesses"),
                                                 least("least_wavefronts"), least("least_barriers"),
                                                 kBlocks, kMany)) {
    ReductionStepCounterCheck v2(check, kV2);
    v2.require_no_later_step(
        Counter::wavefronts,
        "v2 adds the same words as v1: they are 2 * distance apart, in few banks. "
        "Avoiding these conflicts is v3's idea.");
    v2.require_no_later_step(Counter::barriers, kBarrierEachStep);
    v2.credit_counter_against_limit(
        Counter::accesses,
        "An access of a warp costs the same for one lane as for 32. In the step at "
        "distance d, the threads with t % (2 * d) == 0 add: which threads would add "
        "if they were numbered without gaps?");
    v2.recount_in_all_block_sizes();
  }

  LAB_CHECK("v3: result" *
            takes_rubric_keys(kBlocks, kMany, interval_valued_key("most", 1, 4096))) {
    check_block_sizes(check, kV3);
  }

  LAB_CHECK("v3: wavefronts" * takes_rubric_keys("min_working_share", "min_access_share", kOneBlock,
                                                 limits_per_block_size("wavefronts"),
                                                 limits_per_block_size("accesses"),
                                                 least("least_barriers"), kBlocks, kMany)) {
    ReductionStepCounterCheck v3(check, kV3);
    v3.require_no_later_step(Counter::barriers, kBarrierEachStep);
    v3.credit_counter_against_limit(
        Counter::wavefronts,
        "A sum does not depend on which two words are added first. Which order of "
        "distances lets neighbouring threads read neighbouring words in every step?");
    v3.limit_credit_by_earlier_counter(Counter::accesses);
    v3.recount_in_all_block_sizes();
  }

  LAB_CHECK("v4: result" *
            takes_rubric_keys(kBlocks, kMany, interval_valued_key("most", 1, 4096))) {
    check_block_sizes(check, kV4);
  }

  LAB_CHECK("v4: idle lanes" * takes_rubric_keys("min_working_share", "min_access_share", kOneBlock,
                                                 limits_per_block_size("idle_lanes"),
                                                 limits_per_block_size("accesses"),
                                                 limits_per_block_size("wavefronts"),
                                                 least("least_barriers"), kBlocks, kMany)) {
    ReductionStepCounterCheck v4(check, kV4);
    v4.require_no_later_step(Counter::barriers, kBarrierEachStep);
    v4.credit_counter_against_limit(
        Counter::idle_lanes,
        "Begin with your v3. A thread that has two elements can add them in a register, "
        "before it writes anything to shared memory.");
    v4.limit_credit_by_earlier_counter(Counter::accesses);
    v4.limit_credit_by_earlier_counter(Counter::wavefronts);
    v4.recount_in_all_block_sizes();
  }

  LAB_CHECK("v5: result" *
            takes_rubric_keys(kBlocks, kMany, interval_valued_key("most", 1, 4096))) {
    check_block_sizes(check, kV5);
  }

  LAB_CHECK("v5: barriers" * takes_rubric_keys("min_working_share", "min_access_share", kOneBlock,
                                               limits_per_block_size("barriers"),
                                               limits_per_block_size("wavefronts"),
                                               least("least_accesses"), kBlocks, kMany)) {
    ReductionStepCounterCheck v5(check, kV5);
    v5.require_no_later_step(Counter::accesses, kTreeInMemory);
    v5.credit_counter_against_limit(
        Counter::barriers,
        "Begin with your v4. Once 64 sums are left, which warps still add, and which "
        "warps wait for them at every barrier?");
    v5.limit_credit_by_earlier_counter(Counter::wavefronts);
    v5.recount_in_all_block_sizes();
  }

  LAB_CHECK("v6: result" *
            takes_rubric_keys(kBlocks, kMany, interval_valued_key("most", 1, 4096))) {
    check_block_sizes(check, kV6);
  }

  LAB_CHECK("v6: instructions" * takes_rubric_keys("min_working_share", "min_access_share",
                                                   kOneBlock, limits_per_block_size("instructions"),
                                                   limits_per_block_size("barriers"),
                                                   least("least_accesses"), kBlocks, kMany)) {
    ReductionStepCounterCheck v6(check, kV6);
    v6.require_no_later_step(Counter::accesses, kTreeInMemory);
    v6.credit_counter_against_limit(
        Counter::instructions,
        "Begin with your v5. Which instructions of the loop do not add, and which of "
        "these can the compiler do if it knows the block's size? It knows kThreads.");
    v6.limit_credit_by_earlier_counter(Counter::barriers);
    v6.recount_in_all_block_sizes();
  }
}

}  // namespace lab32::checks::reduction
