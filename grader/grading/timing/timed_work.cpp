#include "grading/timing/timed_work.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "grading/engine/check.h"
#include "grading/launch/arrays.h"
#include "grading/launch/launch.h"

namespace lab32::grading {
namespace {

// An array on the session's device with elements of any type.
class ByteArray : public DeviceArray {
 public:
  ByteArray(Check& check, const device::KernelArrayArgument& array)
      : DeviceArray(check, array.name, 1, array.bytes) {
    if (!array.sets.empty()) upload(array.sets.front().data());
  }
  void fill(uint8_t value) { upload(std::vector<uint8_t>(count(), value).data()); }
};

}  // namespace

InputSets<float> random_input_sets(Check& check, size_t sets, size_t count) {
  return generate_host_input_sets<float>(check, sets,
                                         [count](Random& random) { return random.floats(count); });
}

WorkloadToTime work_with_in_and_out(const InputSets<float>& inputs) {
  WorkloadToTime work;
  const size_t count = inputs.at(0)->size();
  work.arrays = {input_array("in", inputs), output_array<float>("out", count)};
  work.bytes = 2 * count * sizeof(float);
  return work;
}

std::optional<PredictedTime> predicted_time(Check& check, uint32_t n, const TimedVersion& version,
                                            const std::vector<device::KernelArrayArgument>& given) {
  GradingSession& s = check.session;
  std::vector<std::unique_ptr<ByteArray>> arrays;
  for (const device::KernelArrayArgument& array : given)
    arrays.push_back(std::make_unique<ByteArray>(check, array));
  PredictedTime all;
  for (const device::StepToTime& step : version.steps(s.module, check.device().multiprocessors())) {
    if (const device::FillToTime* fill = std::get_if<device::FillToTime>(&step)) {
      arrays.at(fill->array.index)->fill(fill->value);
      continue;
    }
    const auto& launch = std::get<device::LaunchToTime>(step);
    Launch what{launch.kernel, launch.shape, {}, fmt::format("n = {}", n)};
    for (const device::ArgOfLaunchToTime& arg : launch.args) {
      if (const device::KernelArrayArgumentIndex* at =
              std::get_if<device::KernelArrayArgumentIndex>(&arg))
        what.args.push_back(*arrays.at(at->index));
      else
        what.args.push_back(std::get<device::KernelArgument>(arg));
    }
    // Later launches find in L2 what earlier ones have left there.
    what.model =
        all.seconds > 0 ? device::LaunchOptions::Model::warm : device::LaunchOptions::Model::cold;
    const device::LaunchResult ran = run_to_count(check, what);
    if (!ran.predicted || !ran.predicted->unreliable.empty()) return std::nullopt;
    if (ran.predicted->seconds > all.seconds) all.bottleneck = ran.predicted->bottleneck;
    all.seconds += ran.predicted->seconds;
    all.error = std::max(all.error, ran.predicted->error);
  }
  return all;
}

}  // namespace lab32::grading
