#include "labs/reduction/ladder.h"

#include <fmt/core.h>

#include <memory>
#include <numeric>

#include "grading/engine/compiled.h"
#include "grading/engine/session.h"
#include "grading/launch/arrays.h"
#include "grading/launch/launch.h"
#include "labs/reduction/sums.h"

namespace lab32::checks::reduction {
namespace {

constexpr uint32_t kBlock = 128;
constexpr int kFirstWhole = 7;  // from here on one number is left

// How many ints one result of v1 to v6 is the sum of.
uint32_t part_of(int version) { return version < 4 ? kBlock : 2 * kBlock; }

size_t results_of(int version, uint32_t n) {
  return version < kFirstWhole ? n / part_of(version) : 1;
}

// For each set the sums of kBlock elements: every result is made of these.
using Parts = std::vector<std::vector<int>>;

std::vector<int> sums_of(const std::vector<int>& parts, size_t results) {
  std::vector<int> sums(results);
  for (size_t i = 0; i < parts.size(); ++i) sums[i / (parts.size() / results)] += parts[i];
  return sums;
}

std::vector<device::TimedStep> launches(int version, uint32_t n, size_t out,
                                        device::LoadedModule& module, uint32_t multiprocessors) {
  const device::ArrayIndex from{0}, to{out};
  const std::string own = fmt::format("reduce_v{}", version),
                    kernel = version == 1 ? given(own, module) : own;
  if (version < kFirstWhole)
    return {device::TimedLaunch{version == 6 ? fmt::format("{}<{}>", kernel, kBlock) : kernel,
                                {{n / part_of(version)}, {kBlock}},
                                {from, to}}};
  const LaunchConfig record = launch_config(kernel, module);
  std::vector<device::TimedStep> steps;
  if (version == 7) steps.push_back(device::Fill{to, 0});
  steps.push_back(device::TimedLaunch{
      version == 7 ? fmt::format("{}<int, {}>", kernel, record.block) : kernel + "<int>",
      record.shape(n, multiprocessors),
      {from, to, device::Arg(static_cast<int>(n))}});
  return steps;
}

// `out`: which array it writes, the first that is written being 1.
TimedVersion timed(int version, uint32_t n, size_t out, std::shared_ptr<const Parts> parts) {
  return {[=](device::LoadedModule& module, uint32_t multiprocessors) {
            return launches(version, n, out, module, multiprocessors);
          },
          [=](size_t set, const Outputs& outputs) {
            return mismatch("out", values_of<int>(outputs[out - 1]),
                            sums_of((*parts)[set], results_of(version, n)));
          }};
}

// Without `before` when that is 0.
TimedWork work_of(int version, int before, uint32_t n, size_t sets) {
  const auto inputs = input_sets<int>(sets, [n](Random& random) { return small_ints(random, n); });
  const auto parts = std::make_shared<Parts>();
  for (const auto& input : inputs) {
    parts->emplace_back();
    for (auto at = input->begin(); at != input->end(); at += kBlock)
      parts->back().push_back(std::accumulate(at, at + kBlock, 0));
  }
  TimedWork work;
  static_cast<TimedVersion&>(work) = timed(version, n, 1, parts);
  work.arrays = {read_array("in", inputs), written_array<int>("out", results_of(version, n))};
  work.bytes = work.arrays[0].bytes;
  if (before > 0) {
    work.before = timed(before, n, 2, parts);
    work.arrays.push_back(written_array<int>("out of the version before", results_of(before, n)));
  }
  return work;
}

}  // namespace

TimedWork ladder_work(int version, uint32_t n, size_t sets) { return work_of(version, 0, n, sets); }

TimedWork ladder_step(int version, uint32_t n, size_t sets) {
  return work_of(version, version - 1, n, sets);
}

}  // namespace lab32::checks::reduction
