// Every profile of data/devices, and the copy with which predictions are compared.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "simulator/timing/occupancy.h"
#include "simulator/timing/time.h"
#include "tests/fixtures/model_record.h"

using namespace lab32;

TEST_SUITE("model: profiles") {
  TEST_CASE("model: every profile is complete, and a large copy runs at its memory's speed") {
    const std::vector<std::string> ids = model::device_profile_ids();
    for (const std::string id :
         {"a100", "h100", "h200", "l4", "rtx3060", "rtx4060", "rtx4090", "rtx5090", "t4"})
      CHECK(std::count(ids.begin(), ids.end(), id) == 1);
    for (const std::string& id : ids) {
      CAPTURE(id);
      const model::DeviceProfile p = model::read_device_profile(id);
      CHECK(p.name.rfind("NVIDIA ", 0) == 0);
      for (const double error : p.time.error) CHECK((error > 0.01 && error < 1));
      // This many threads fill a multiprocessor, by the card's limit.
      CHECK(model::occupancy(p, 256, 32, 0, 0).warps == p.multiprocessor.max_threads / 32);
      const uint64_t bytes = uint64_t{1} << 30;
      const double seconds = model::predict(p, model::work_of_copy_kernel(p, bytes)).kernel_seconds;
      const double least = static_cast<double>(bytes) / p.time.dram_bytes_per_second;
      CHECK(seconds > 0.85 * least);
      CHECK(seconds < 1.6 * least);
      CHECK(device::open_device("sim:" + id)->modelled_copy_kernel_seconds(bytes).value() >
            seconds);
    }
  }

  TEST_CASE("model: a copy that is not launched is predicted like one that was counted") {
    const model::DeviceProfile h200 = model::read_device_profile("h200");
    std::map<int, const tests::SimulatedRow*> rows;
    const auto all = tests::read_simulated();
    for (const auto& row : all) rows[row.id] = &row;
    size_t compared = 0;
    for (const launches::CalibrationLaunchRow& l : tests::read_model_launches()) {
      if (l.kernel != "copy_quad" || l.set != "fit") continue;
      CAPTURE(l.id);
      const uint64_t threads = uint64_t{l.grid_x} * l.block_x;
      const double counted = model::predict(h200, rows.at(l.id)->cold.work).kernel_seconds;
      CHECK(model::predict(h200, model::work_of_copy_kernel(h200, 32 * threads)).kernel_seconds ==
            doctest::Approx(counted).epsilon(0.1));
      ++compared;
    }
    CHECK(compared == 6);
  }
}
