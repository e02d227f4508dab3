// The reduction lab: v7 and v8 against the card's memory, and v8 beside CUB.

#include <fmt/core.h>

#include <numeric>

#include "labs/launch_record.h"
#include "labs/reduction_sums.h"
#include "labs/rule.h"
#include "labs/speed.h"
#include "labs/suite.h"

namespace lab32::labs {
namespace {

// `templated`: the kernel's block is a template parameter. `starts_at_0`: it adds to out[0], and
// the zero that it needs is part of what is timed.
TimedWork sum_work(const std::string& kernel, bool templated, bool starts_at_0, uint32_t n,
                   size_t sets) {
  TimedWork work;
  Random random = session().random();
  std::vector<int64_t> sums;
  device::TimedArray in{"in", uint64_t{n} * 4, {}};
  for (size_t s = 0; s < sets; ++s) {
    const std::vector<int> values = small_ints(random, n);
    sums.push_back(std::accumulate(values.begin(), values.end(), int64_t{0}));
    in.sets.push_back(bytes_of(values));
  }
  work.bytes = in.bytes;
  work.arrays = {std::move(in), {"out", 4, {}}};
  work.steps = [=](device::Module& module, uint32_t multiprocessors) {
    const LaunchRecord record = launch_record(kernel, module);
    std::vector<device::TimedStep> steps;
    if (starts_at_0) steps.push_back(device::Fill{{1}, 0});
    steps.push_back(device::TimedLaunch{
        templated ? fmt::format("{}<int, {}>", kernel, record.block) : kernel + "<int>",
        record.shape(n, multiprocessors),
        {device::ArrayIndex{0}, device::ArrayIndex{1}, device::Arg(static_cast<int>(n))}});
    return steps;
  };
  work.mismatch = [sums](size_t set, const std::vector<std::vector<std::byte>>& outputs) {
    return mismatch("out", values_of<int>(outputs[0]), {static_cast<int>(sums[set])});
  };
  return work;
}

}  // namespace

TEST_SUITE("lab:reduction") {
  TEST_CASE("v7: time" * timed(5)) {
    const MakeWork make = [](uint32_t n, size_t sets) {
      return sum_work("reduce_v7", true, true, n, sets);
    };
    credit_speed(Rule("v7_time"), {"reduce_v7", "v7 int: result", make});
  }

  TEST_CASE("v8: time" * timed(5)) {
    const MakeWork make = [](uint32_t n, size_t sets) {
      return sum_work("reduce_v8", false, false, n, sets);
    };
    credit_speed(Rule("v8_time"),
                 {"reduce_v8", "v8 int: result", make, device::Yardstick::cub_sum_int});
  }
}

}  // namespace lab32::labs
