// The documented ladder of reductions, predicted for an Ada card from simulated counts.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>

#include "base/environment.h"
#include "simulator/timing/time.h"
#include "tests/fixtures/model_record.h"
#include "toolchain/nvcc.h"

using namespace lab32;

namespace {

struct Step {
  const char *kernel, *documented;
  uint32_t threads, ints_per_block;
  double within;  // allowed relative error of the speed-up over the previous step
};

constexpr Step kSteps[] = {{"step_tree", "reduce_eliminate_divergence", 8, 8, 0},
                           {"step_vectors", "reduce_vectorized", 32, 32, 0.3},
                           {"step_coarse", "reduce_vec_v2", 32, 128, 0.35},
                           {"step_shuffles", "shuffle", 128, 512, 0.3}};

// The second speed-up is predicted a third too small, since the cost of blocks without work is not
// known for an Ada card (handouts/model-notes.md).
//
// Counted on a hundredth of the 100,000,000 ints: no int is read twice, and all blocks work
// equally, or one in four in step_vectors.
constexpr uint32_t kInts = 1'000'000;
constexpr double kTimes = 100;

}  // namespace

TEST_SUITE("model: ladder") {
  TEST_CASE("model: the speed-up of each step of the documented ladder is predicted") {
    const auto device = device::open_device("sim:rtx4060");
    const model::DeviceProfile profile = model::read_device_profile("rtx4060");
    const std::string path = "grader/tools/calibration/ladder.cu";
    const auto module =
        device->load(toolchain::compile((lab32_root() / path).string(), device->arch(), path));
    std::vector<uint32_t> ints(kInts);
    std::iota(ints.begin(), ints.end(), 0u);
    const device::DeviceAddressRange in = device->allocate(kInts * 4, "in"),
                                     out = device->allocate(4, "out");
    device->upload(in, ints.data(), kInts * 4);

    double documented_before = 0, predicted_before = 0;
    std::string predictions =
        "# modelled: grader/simulator/timing, device profile rtx4060, from "
        "grader/tools/calibration/ladder.cu\n"
        "kernel,documented,modelled_ms,bound\n";
    for (const Step& step : kSteps) {
      const uint32_t zero = 0;
      device->upload(out, &zero, 4);
      device::LaunchOptions options;
      options.check_hazards = false;
      options.model = device::LaunchOptions::Model::cold;
      device::LaunchShape shape;
      shape.grid.x = (kInts + step.ints_per_block - 1) / step.ints_per_block;
      shape.block.x = step.threads;
      device::Kernel* kernel = module->find(step.kernel);
      REQUIRE(kernel != nullptr);
      const device::LaunchResult run =
          device->launch(*kernel, shape, {in, out, static_cast<int>(kInts)}, options);
      REQUIRE_FALSE(run.fault);
      CHECK(run.occupancy->blocks == (step.threads <= 32 ? 24 : 12));
      uint32_t sum = 0;
      device->download(&sum, out, 4);
      CHECK(sum == std::accumulate(ints.begin(), ints.end(), 0u));

      const model::TimePrediction p = model::predict(profile, tests::scaled(*run.work, kTimes));
      double documented = 0;
      for (const tests::Row& row :
           read_csv_table(lab32_root().string() + "/data/documented/reduce_ladder.csv"))
        if (row.at("kernel") == step.documented && row.at("metric") == "Duration")
          documented = tests::number(row, "value") * 1e-3;
      REQUIRE(documented > 0);
      predictions += fmt::format("{},{},{:.3f},{}\n", step.kernel, step.documented, p.seconds * 1e3,
                                 p.resources[0].name);
      if (documented_before > 0) {
        const double wanted = documented_before / documented;
        const double predicted = predicted_before / p.seconds;
        CAPTURE(step.kernel);
        CHECK(std::abs(predicted / wanted - 1) <= step.within);
      }
      documented_before = documented;
      predicted_before = p.seconds;
    }
    // Nothing is modelled without a request.
    device::LaunchOptions options;
    options.check_hazards = false;
    const device::LaunchResult plain =
        device->launch(*module->find("step_coarse"), {{8, 1, 1}, {32, 1, 1}},
                       {in, out, static_cast<int>(kInts)}, options);
    CHECK(plain.occupancy.has_value());
    CHECK_FALSE(plain.caches.has_value());
    CHECK_FALSE(plain.predicted.has_value());

    const std::string path_of_predictions =
        lab32_root().string() + "/data/modelled/rtx4060-ladder.csv";
    if (is_set(variables::kUpdateModel)) std::ofstream(path_of_predictions) << predictions;
    std::ifstream in_file(path_of_predictions);
    std::ostringstream kept;
    kept << in_file.rdbuf();
    CHECK_MESSAGE(kept.str() == predictions,
                  "LAB32_UPDATE_MODEL=1 writes it again; then `make figures`");
  }
}
