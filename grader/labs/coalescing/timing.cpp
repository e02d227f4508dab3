// The coalescing lab, part D: how much faster the fixed patterns are on a real card.

#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"

namespace lab32::checks::coalescing {
namespace {

constexpr uint32_t kTimedBlock = 256;

// push without a field and with a time step of 0: out equals in exactly, and only moving the
// structures takes time.
TimedWork push_work(Check& check, uint32_t n, size_t sets) {
  constexpr size_t kFloats = 8;
  const InputSets<float> inputs = input_sets<float>(check, sets, [n](Random& random) {
    std::vector<float> input = random.floats(n * kFloats);
    for (float& v : input) v = 1.5f + 0.5f * v;
    return input;
  });
  TimedWork work = work_from_in_to_out(inputs);
  work.steps = [n](device::LoadedModule&, uint32_t) {
    const float none = 0;
    return std::vector<device::TimedStep>{device::TimedLaunch{
        "push",
        {{blocks_for(n, kTimedBlock)}, {kTimedBlock}},
        {device::ArrayIndex{0}, device::ArrayIndex{1}, device::Arg(none), device::Arg(none),
         device::Arg(none), device::Arg(none), device::Arg(static_cast<int>(n))}}};
  };
  work.mismatch = [&check, inputs](size_t set, const Outputs& outputs) {
    return mismatch("out (eight floats a particle)", values_of<float>(outputs[0]), *inputs[set],
                    relative_tolerance(check));
  };
  return work;
}

}  // namespace

TEST_SUITE("lab:coalescing") {
  LAB_CHECK("D2 push: time" * takes_of_speed() * takes("relative_tolerance")) {
    credit_speed(check, {"push", push_work});
  }
}

}  // namespace lab32::checks::coalescing
