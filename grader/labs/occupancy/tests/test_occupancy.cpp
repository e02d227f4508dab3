// The occupancy lab's cases: compared with the toolkit's cuda_occupancy.h, and chosen so that a
// wrong calculator fails.

#include <doctest/doctest.h>

#include <algorithm>

#include "labs/occupancy/cases.h"

using namespace lab32;
using namespace checks::occupancy;

namespace {

// The rules of the handout, implemented independently; each can be disabled.
struct Rules {
  int lanes = 32, quarters = 4;
  bool register_unit = true, reserved = true, shared_unit = true, blocks = true;
};

int by_rules(const OccupancyCase& c, const Rules& rules) {
  const MultiprocessorLimits sm = c.limits_of_gpu();
  const auto up = [](int n, int unit) { return (n + unit - 1) / unit * unit; };
  const int warps = up(c.usage.threads, rules.lanes) / rules.lanes;
  const int of_warp =
      up(c.usage.registers * rules.lanes, rules.register_unit ? sm.register_unit : 1);
  const int of_block = up(c.usage.shared + (rules.reserved ? sm.shared_reserved : 0),
                          rules.shared_unit ? sm.shared_unit : 1);
  int most = std::min(sm.threads / rules.lanes / warps,
                      sm.registers / rules.quarters / of_warp * rules.quarters / warps);
  if (of_block > 0) most = std::min(most, sm.shared / of_block);
  return rules.blocks ? std::min(most, sm.blocks) : most;
}

}  // namespace

TEST_SUITE("checks: occupancy") {
  TEST_CASE("checks: the calculator's rules are cuda_occupancy.h's, and each decides many cases") {
    for (uint64_t seed : {1, 2, 3}) {
      Random random(seed);
      const auto cases = occupancy_cases(random, 150);
      CHECK(cases.size() == 3 * (17 + 150) + 150);
      const auto wrong = [&](const Rules& rules) {
        return std::count_if(cases.begin(), cases.end(), [&](const OccupancyCase& c) {
          return by_rules(c, rules) != c.blocks;
        });
      };
      CHECK(wrong({}) == 0);
      CHECK(wrong({1, 4}) > 20);
      CHECK(wrong({32, 1}) > 10);
      CHECK(wrong({32, 4, false}) > 10);
      CHECK(wrong({32, 4, true, false}) > 10);
      CHECK(wrong({32, 4, true, true, false}) > 5);
      CHECK(wrong({32, 4, true, true, true, false}) > 20);
    }
  }

  TEST_CASE(
      "checks: what limits is some of four resources, and each is met, alone and with others") {
    Random random(1);
    int alone = 0, several = 0;
    for (const OccupancyCase& c : occupancy_cases(random, 150)) {
      CHECK(c.limits > 0);
      CHECK(c.limits < 16);
      ((c.limits & (c.limits - 1)) == 0 ? alone : several) |= c.limits;
    }
    CHECK(alone == 15);
    CHECK(several == 15);
    CHECK(limit_names(5) == "threads and registers");
  }

  TEST_CASE("checks: particles that start in a cell stay together, and end where steps add up to") {
    const std::vector<FieldCellStepAndValue> field(64 * 64 * 64,
                                                   FieldCellStepAndValue{1, 2, 0.5, 0.25});
    const std::vector<float> start = clustered_particle_positions(20, 0);
    const std::vector<float> out = expected_path_statistics(field, start, 20, 4);
    CHECK(out[3] == 3.0f / 16 + 4);
    CHECK(out[20 + 3] == 8);
    CHECK(out[3 * 20 + 3] == 14);          // length
    CHECK(out[7 * 20 + 3] == 4 * 0.0625);  // squares
  }
}
