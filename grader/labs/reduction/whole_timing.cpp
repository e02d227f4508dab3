// The reduction lab on a real card: v7 and v8 against the bandwidth of a copy, v8 against CUB, and
// each version against the previous one.

#include <fmt/core.h>

#include <memory>
#include <numeric>

#include "grading/engine/check.h"
#include "grading/engine/compiled.h"
#include "grading/engine/suite.h"
#include "grading/launch/arrays.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timed_work.h"
#include "grading/timing/timing_checks.h"
#include "grading/words/words.h"
#include "labs/reduction/sums.h"

namespace lab32::checks::reduction {
namespace {

constexpr uint32_t kBlock = 128;
constexpr int kFirstWhole = 7;  // from this version on the result is one number

// The number of ints that a block of v1 to v6 adds up to one result.
uint32_t part_of(int version) { return version < 4 ? kBlock : 2 * kBlock; }

size_t result_count(int version, uint32_t n) {
  return version < kFirstWhole ? n / part_of(version) : 1;
}

// For each set of inputs, the sums of every kBlock elements, from which the expected results of all
// versions are computed.
using Parts = std::vector<std::vector<int>>;

std::vector<int> partial_sums(const std::vector<int>& parts, size_t results) {
  std::vector<int> sums(results);
  for (size_t i = 0; i < parts.size(); ++i) sums[i / (parts.size() / results)] += parts[i];
  return sums;
}

std::vector<device::TimedStep> timed_launches(Check& check, int version, uint32_t n, size_t out,
                                              device::LoadedModule& module,
                                              uint32_t multiprocessors) {
  const device::ArrayIndex from{0}, to{out};
  const std::string own = fmt::format("reduce_v{}", version),
                    kernel = version == 1 ? given_kernel(own, module) : own;
  if (version < kFirstWhole)
    return {device::TimedLaunch{version == 6 ? fmt::format("{}<{}>", kernel, kBlock) : kernel,
                                {{n / part_of(version)}, {kBlock}},
                                {from, to}}};
  const LaunchConfig record = launch_config(check, kernel, module);
  std::vector<device::TimedStep> steps;
  if (version == 7) steps.push_back(device::Fill{to, 0});
  steps.push_back(device::TimedLaunch{
      version == 7 ? fmt::format("{}<int, {}>", kernel, record.block) : kernel + "<int>",
      record.shape(n, multiprocessors),
      {from, to, device::Arg(static_cast<int>(n))}});
  return steps;
}

// `out`: the index of the array that the version writes; array 0 is the input.
TimedVersion timed_version(Check& check, int version, uint32_t n, size_t out,
                           std::shared_ptr<const Parts> parts) {
  return {[=, &check](device::LoadedModule& module, uint32_t multiprocessors) {
            return timed_launches(check, version, n, out, module, multiprocessors);
          },
          [=](size_t set, const Outputs& outputs) {
            return mismatch("out", values_of<int>(outputs[out - 1]),
                            partial_sums((*parts)[set], result_count(version, n)));
          }};
}

// The timed work of a version from 1 to 8 over n ints, alone if `before` is 0, otherwise next to
// version `before`. n is a multiple of 256. v1 to v6 leave a sum per block of 128 threads, as on
// the G80. v7 and v8 leave one number and have the shape that the submission chooses; setting v7's
// output to zero is timed, too.
TimedWork ladder_work(Check& check, int version, int before, uint32_t n, size_t sets) {
  const auto inputs =
      input_sets<int>(check, sets, [n](Random& random) { return small_ints(random, n); });
  const auto parts = std::make_shared<Parts>();
  for (const auto& input : inputs) {
    parts->emplace_back();
    for (auto at = input->begin(); at != input->end(); at += kBlock)
      parts->back().push_back(std::accumulate(at, at + kBlock, 0));
  }
  TimedWork work;
  static_cast<TimedVersion&>(work) = timed_version(check, version, n, 1, parts);
  work.arrays = {input_array("in", inputs), output_array<int>("out", result_count(version, n))};
  work.bytes = work.arrays[0].bytes;
  if (before > 0) {
    work.before = timed_version(check, before, n, 2, parts);
    work.arrays.push_back(output_array<int>("out of the version before", result_count(before, n)));
  }
  return work;
}

MakeWork work_maker(int version) {
  return [=](Check& check, uint32_t n, size_t sets) {
    return ladder_work(check, version, 0, n, sets);
  };
}

// Checks the step from the previous version to this one. v1 is given.
void check_step(Check& check, int version) {
  StepCheck step;
  step.kernel = fmt::format("reduce_v{}", version);
  step.form_before = fmt::format("v{}", version - 1);
  step.before = "reduce_" + step.form_before;
  step.make = [=](Check& check, uint32_t n, size_t sets) {
    return ladder_work(check, version, version - 1, n, sets);
  };
  credit_step(check, step);
}

}  // namespace

TEST_SUITE("lab:reduction") {
  LAB_CHECK("v7: time" * takes_of_speed()) { credit_speed(check, {"reduce_v7", work_maker(7)}); }

  LAB_CHECK("v8: time" * takes_of_speed()) {
    credit_speed(check, {"reduce_v8", work_maker(8), device::Baseline::cub_sum_int});
  }

  LAB_CHECK("v1 to v2: time" * takes_of_step()) { check_step(check, 2); }
  LAB_CHECK("v2 to v3: time" * takes_of_step()) { check_step(check, 3); }
  LAB_CHECK("v3 to v4: time" * takes_of_step()) { check_step(check, 4); }
  LAB_CHECK("v4 to v5: time" * takes_of_step()) { check_step(check, 5); }
  LAB_CHECK("v5 to v6: time" * takes_of_step()) { check_step(check, 6); }
  LAB_CHECK("v6 to v7: time" * takes_of_step()) { check_step(check, 7); }
  LAB_CHECK("v7 to v8: time" * takes_of_step()) { check_step(check, 8); }
}

}  // namespace lab32::checks::reduction
