// The shuffle lab: rows against a copy. A row is read once and written once, whatever is computed.

#include <fmt/core.h>

#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"
#include "labs/shuffle/references.h"

namespace lab32::checks::shuffle {
namespace {

constexpr uint32_t kTimedBlock = 256, kColumns = 4096;
constexpr float kEpsilon = 1e-5f;

using Reference = std::function<std::vector<Near>(const std::vector<float>& row)>;

// `rows` rows of noise, and the check of each row of the result.
TimedWork row_work(uint32_t rows, size_t sets, const Reference& reference) {
  const InputSets<float> inputs = random_inputs(sets, size_t{rows} * kColumns);
  TimedWork work = from_in_to_out(inputs);
  work.mismatch = [inputs, rows, reference](size_t set, const Outputs& outputs) {
    const std::vector<float> got = values_of<float>(outputs[0]);
    for (ptrdiff_t row = 0; row < rows; ++row) {
      const auto cut = [row](const std::vector<float>& all) {
        return std::vector<float>(all.begin() + row * kColumns, all.begin() + (row + 1) * kColumns);
      };
      std::string wrong =
          far_off(fmt::format("out[{}]", row), cut(got), reference(cut(*inputs[set])));
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  };
  return work;
}

TimedWork softmax_work(uint32_t rows, size_t sets) {
  TimedWork work = row_work(rows, sets, softmax_of);
  work.steps = [rows](device::LoadedModule&, uint32_t) {
    return std::vector<device::TimedStep>{device::TimedLaunch{
        "softmax",
        {{rows}, {kTimedBlock}},
        {device::ArrayIndex{0}, device::ArrayIndex{1}, device::Arg(static_cast<int>(kColumns))}}};
  };
  return work;
}

TimedWork layer_norm_work(uint32_t rows, size_t sets) {
  Random random = session().random();
  const std::vector<float> weight = random.floats(kColumns), bias = random.floats(kColumns);
  TimedWork work = row_work(rows, sets, [weight, bias](const std::vector<float>& row) {
    return layer_norm_of(row, weight, bias, kEpsilon);
  });
  work.arrays.push_back(read_array("weight", weight));
  work.arrays.push_back(read_array("bias", bias));
  work.steps = [rows](device::LoadedModule&, uint32_t) {
    return std::vector<device::TimedStep>{device::TimedLaunch{
        "layer_norm",
        {{rows}, {kTimedBlock}},
        {device::ArrayIndex{0}, device::ArrayIndex{2}, device::ArrayIndex{3}, device::ArrayIndex{1},
         device::Arg(static_cast<int>(kColumns)), device::Arg(kEpsilon)}}};
  };
  return work;
}

}  // namespace

TEST_SUITE("lab:shuffle") {
  TEST_CASE("E1 softmax: time" * takes_of_speed()) { credit_speed({"softmax", softmax_work}); }

  TEST_CASE("E2 layer_norm: time" * takes_of_speed()) {
    credit_speed({"layer_norm", layer_norm_work});
  }
}

}  // namespace lab32::checks::shuffle
