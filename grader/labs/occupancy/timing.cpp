// The occupancy lab, part D: copying with few warps, and the tile, on a real card.

#include <algorithm>

#include "grading/engine/suite.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"

namespace lab32::checks::occupancy {
namespace {

TimedWork copy_work(uint32_t n, size_t sets) {
  const InputSets<float> inputs = random_inputs(sets, n);
  TimedWork work = from_in_to_out(inputs);
  work.steps = [n](device::LoadedModule&, uint32_t multiprocessors) {
    return std::vector<device::TimedStep>{device::TimedLaunch{
        "copy",
        {{multiprocessors}, {256}},
        {device::ArrayIndex{0}, device::ArrayIndex{1}, device::Arg(static_cast<int>(n))}}};
  };
  work.mismatch = [inputs](size_t set, const Outputs& outputs) {
    return mismatch("out", values_of<float>(outputs[0]), *inputs[set]);
  };
  return work;
}

}  // namespace

TEST_SUITE("lab:occupancy") {
  TEST_CASE("D1 copy: time with 8 warps" * takes_of_speed()) { credit_speed({"copy", copy_work}); }
}

}  // namespace lab32::checks::occupancy
