// Theoretical occupancy compared with Nsight Compute's for real launches, and with values computed
// by hand.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "simulator/timing/occupancy.h"
#include "tests/fixtures/model_record.h"

using namespace lab32;

TEST_SUITE("model: occupancy") {
  TEST_CASE("model: the occupancy of every measured launch is ncu's") {
    const auto counted = tests::h200_record("-counters");
    size_t compared = 0;
    for (const tests::SimulatedRow& row : tests::read_simulated()) {
      const tests::Row& ncu = counted.at(row.id);
      double least = 1e9;
      for (const char* what : {"registers", "shared_mem", "warps", "blocks"})
        least =
            std::min(least, tests::number(ncu, fmt::format("launch__occupancy_limit_{}", what)));
      CAPTURE(row.id);
      CHECK(row.cold.work.occupancy.blocks == least);
      ++compared;
    }
    CHECK(compared >= 140);
  }

  TEST_CASE("model: the limit of the occupancy is named") {
    const model::DeviceProfile h200 = model::read_device_profile("h200"),
                               t4 = model::read_device_profile("t4");
    const auto on = [](const model::DeviceProfile& gpu, uint32_t threads, uint32_t registers,
                       uint32_t shared) {
      const model::Occupancy o = model::occupancy(gpu, threads, registers, shared, 0);
      return fmt::format("{} x {} warps, {:.0f} %: {}", o.blocks, o.warps / o.blocks,
                         100 * o.theoretical, o.limiter);
    };
    // 65536 registers: 512 threads with 32 registers use a quarter.
    CHECK(on(h200, 512, 32, 0) == "4 x 16 warps, 100 %: registers and warps");
    CHECK(on(h200, 512, 64, 0) == "2 x 16 warps, 50 %: registers");
    CHECK(on(h200, 32, 16, 0) == "32 x 1 warps, 50 %: blocks");
    // 228 KiB, of which the system reserves one per block.
    CHECK(on(h200, 128, 16, 40 * 1024) == "5 x 4 warps, 31 %: shared memory");
    CHECK(on(t4, 256, 32, 0) == "4 x 8 warps, 100 %: warps");
    CHECK(on(model::read_device_profile("rtx4060"), 32, 32, 0) == "24 x 1 warps, 50 %: blocks");
  }

  TEST_CASE("model: L1 gets the capacity that shared memory leaves") {
    const model::DeviceProfile h200 = model::read_device_profile("h200");
    CHECK(model::occupancy(h200, 256, 16, 0, 0).l1_bytes == (256 - 32) * 1024);
    // The carveout selects the smallest split that holds as much, and at least one block (the
    // answers of an H200).
    const std::pair<int, uint32_t> carveouts[] = {{-1, 6}, {0, 1},  {25, 1},
                                                  {50, 3}, {75, 5}, {100, 6}};
    for (const auto& [percent, blocks] : carveouts)
      CHECK(model::occupancy(h200, 256, 16, 0, 33000, percent).blocks == blocks);
    CHECK(model::occupancy(h200, 128, 16, 0, 100 * 1024).l1_bytes == (256 - 228) * 1024);
  }

  TEST_CASE("model: a launch that cannot run is refused with the reason") {
    const model::DeviceProfile h200 = model::read_device_profile("h200");
    CHECK_THROWS_WITH_AS(model::occupancy(h200, 1024, 128, 0, 0),
                         "not one block of 1024 threads, 128 registers per thread and 0 bytes of "
                         "shared memory fits a multiprocessor of the NVIDIA H200",
                         Error);
  }
}
