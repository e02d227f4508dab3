// The swizzle lab, part E: the two tiles without conflicts, on a real card.

#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"
#include "labs/swizzle/weighed.h"

namespace lab32::checks::swizzle {
namespace {

MakeWork weighing(const std::string& kernel) {
  return [=](uint32_t tiles, size_t sets) {
    Random random = session().random();
    const std::vector<uint32_t> weights = strip_weights(random);
    const auto inputs =
        input_sets<uint16_t>(sets, [tiles](Random& own) { return tile_elements(own, tiles); });
    TimedWork work;
    work.arrays = {read_array("in", inputs), read_array("weight", weights),
                   written_array<uint16_t>("out", size_t{tiles} * kWeighedTile)};
    work.bytes = work.arrays[0].bytes + work.arrays[2].bytes;
    work.steps = [=](device::LoadedModule&, uint32_t) {
      return std::vector<device::TimedStep>{device::TimedLaunch{
          kernel + "<false>",
          {{tiles}, {kWeighingThreads}},
          {device::ArrayIndex{0}, device::ArrayIndex{1}, device::ArrayIndex{2}}}};
    };
    work.mismatch = [=](size_t set, const Outputs& outputs) {
      return mismatch("out", values_of<uint16_t>(outputs[0]),
                      weighed(*inputs[set], weights, false));
    };
    return work;
  };
}

}  // namespace

TEST_SUITE("lab:swizzle") {
  TEST_CASE("E1 padded: time" * takes_of_speed()) {
    credit_speed({"weigh_padded", weighing("weigh_padded")});
  }

  TEST_CASE("E2 swizzled: time" * takes_of_speed()) {
    credit_speed({"weigh_swizzled", weighing("weigh_swizzled")});
  }
}

}  // namespace lab32::checks::swizzle
