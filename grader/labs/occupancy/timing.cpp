// The occupancy lab, part D: copying with few warps, and the shapes of part B, on a real card. Each
// shape is timed as a step from the skeleton's shape or launch bounds. The limit depends on the
// reference solution's gain on the same card.

#include <fmt/core.h>

#include <algorithm>

#include "grading/engine/compiled.h"
#include "grading/engine/suite.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"
#include "labs/occupancy/cases.h"

namespace lab32::checks::occupancy {
namespace {

WorkloadToTime timed_work_of_copy_kernel(Check& check, uint32_t n, size_t sets) {
  const InputSets<float> inputs = random_input_sets(check, sets, n);
  WorkloadToTime work = work_with_in_and_out(inputs);
  work.steps = [n](device::LoadedModule&, uint32_t multiprocessors) {
    return std::vector<device::StepToTime>{device::LaunchToTime{
        "copy",
        {{multiprocessors}, {256}},
        {device::KernelArrayArgumentIndex{0}, device::KernelArrayArgumentIndex{1},
         device::KernelArgument(static_cast<int>(n))}}};
  };
  work.mismatch = [inputs](size_t set, const Outputs& outputs) {
    return mismatch("out", values_of<float>(outputs[0]), *inputs[set]);
  };
  return work;
}

using device::KernelArrayArgumentIndex;

constexpr int kOrbitSteps = 32;

// The skeleton's shape: threads per block and items per thread.
LaunchShapeRule skeleton_launch_config(Check& check) {
  const std::vector<double> numbers = check.row.required_numbers("skeleton");
  LaunchShapeRule config;
  config.block = static_cast<uint32_t>(numbers.at(0));
  config.items_per_thread = static_cast<uint32_t>(numbers.at(1));
  return config;
}

// A given kernel in the shape of the submission's LAB32_LAUNCH, or, if `as_given`, in the
// skeleton's shape.
struct KernelAtSubmittedConfig {
  std::string kernel;
  uint32_t n = 0;
  std::vector<device::ArgOfLaunchToTime> args;
  // For a tile in dynamic shared memory: bytes per pixel, and the width of the border in pixels.
  uint32_t pixel = 0, border = 0;
  std::string inputs = "";  // what the inputs depend on besides n

  TimedVersion timed_version(Check& check, bool as_given,
                             decltype(TimedVersion::mismatch) mismatch) const {
    TimedVersion made;
    const LaunchShapeRule skeletons = skeleton_launch_config(check);
    made.steps = [*this, &check, as_given, skeletons](device::LoadedModule& module,
                                                      uint32_t multiprocessors) {
      const LaunchShapeRule config =
          as_given ? skeletons
                   : launch_config(check, kernel, module, launch_fields_left_to_student(kernel));
      device::LaunchShape shape = config.shape(n, multiprocessors);
      if (pixel > 0) {
        const uint64_t width =
            ceil_div(n, static_cast<uint32_t>(shape.grid.count()) * config.block) *
            uint64_t{config.block};
        shape.dynamic_shared =
            static_cast<uint32_t>(std::min<uint64_t>(pixel * (width + border), UINT32_MAX / 2));
      }
      return std::vector<device::StepToTime>{
          device::LaunchToTime{kernel_name_with_namespace(kernel, module), shape, args}};
    };
    made.mismatch = std::move(mismatch);
    made.given = {kernel, inputs};
    return made;
  }
};

// Work of a given kernel that reads `inputs` and writes `outputs` floats, in the submission's shape
// and in the skeleton's, each to an array of its own. All sets have the expected values `want`.
template <class T>
WorkloadToTime work_in_own_and_skeleton_shape(Check& check, KernelAtSubmittedConfig shaped,
                                              std::vector<device::KernelArrayArgument> inputs,
                                              std::shared_ptr<const std::vector<T>> want,
                                              double tolerance,
                                              const std::vector<device::KernelArgument>& numbers) {
  WorkloadToTime work;
  work.arrays = std::move(inputs);
  const size_t out = work.arrays.size();
  for (const device::KernelArrayArgument& array : work.arrays) work.bytes += array.bytes;
  work.bytes += want->size() * sizeof(T);
  work.arrays.push_back(output_array<T>("out", want->size()));
  work.arrays.push_back(output_array<T>("out of the given shape", want->size()));
  const auto version = [&](bool as_given) {
    const size_t index = out + (as_given ? 1 : 0);
    shaped.args.clear();
    for (size_t i = 0; i < out; ++i) shaped.args.emplace_back(KernelArrayArgumentIndex{i});
    shaped.args.emplace_back(KernelArrayArgumentIndex{index});
    for (const device::KernelArgument& number : numbers) shaped.args.emplace_back(number);
    return shaped.timed_version(check, as_given, [=](size_t, const Outputs& outputs) {
      return mismatch("out", values_of<T>(outputs[as_given ? 1 : 0]), *want, tolerance);
    });
  };
  static_cast<TimedVersion&>(work) = version(false);
  work.before = version(true);
  return work;
}

WorkloadToTime timed_work_of_follow_kernel(Check& check, uint32_t n, uint32_t nodes,
                                           uint32_t steps) {
  const std::vector<int32_t> next = random_next_nodes_by_sector(nodes);
  auto want = std::make_shared<std::vector<int32_t>>(n);
  for (uint32_t i = 0; i < n; ++i) {
    int32_t at = static_cast<int32_t>(i);
    for (uint32_t k = 0; k < steps; ++k) at = next[static_cast<size_t>(at)];
    (*want)[i] = at;
  }
  KernelAtSubmittedConfig shaped{"follow", n, {}};
  shaped.inputs = fmt::format("nodes {}, steps {}", nodes, steps);
  return work_in_own_and_skeleton_shape<int32_t>(check, shaped, {input_array("next", next)}, want,
                                                 0, {static_cast<int>(n), static_cast<int>(steps)});
}

WorkloadToTime timed_work_of_smooth_kernel(Check& check, uint32_t n, double tolerance) {
  constexpr size_t kReach = 64, kStep = 32;
  Random random(n);
  const std::vector<float> in = random.floats(size_t{4} * n);
  auto want = std::make_shared<std::vector<float>>(in.size());
  for (size_t i = 0; i < n; ++i)
    for (size_t part = 0; part < 4; ++part) {
      double sum = 0;
      for (size_t k = 0; k <= 2 * kReach; k += kStep)
        if (i + k >= kReach && i + k - kReach < n) sum += in[4 * (i + k - kReach) + part];
      (*want)[4 * i + part] = static_cast<float>(sum / 5);
    }
  KernelAtSubmittedConfig shaped{"smooth", n, {}};
  shaped.pixel = 16, shaped.border = 2 * kReach;
  return work_in_own_and_skeleton_shape<float>(check, shaped, {input_array("in", in)}, want,
                                               tolerance, {static_cast<int>(n)});
}

// The points of the orbits stay near 0, so a double follows them closely enough.
WorkloadToTime timed_work_of_orbits_kernel(Check& check, uint32_t n, double tolerance) {
  auto want = std::make_shared<std::vector<float>>(n);
  for (uint32_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int p = 0; p < 8; ++p) {
      const double a = i * 1e-7 - p * 0.03125, b = p * 0.03125 - i * 1e-7;
      double x = a, y = b;
      for (int k = 0; k < kOrbitSteps; ++k) {
        const double real = x * x - y * y + a;
        y = 2 * x * y + b;
        x = real;
      }
      sum += x * y;
    }
    (*want)[i] = static_cast<float>(sum);
  }
  return work_in_own_and_skeleton_shape<float>(check, {"orbits", n, {}}, {}, want, tolerance,
                                               {static_cast<int>(n), kOrbitSteps});
}

// Values are multiples of 1/8, so that sums of their products are exact.
WorkloadToTime timed_work_of_row_dot_products(Check& check, uint32_t n) {
  constexpr size_t kColumns = 32, kArrays = 4;
  Random random(n);
  std::vector<std::vector<float>> rows(kArrays, std::vector<float>(kColumns * n));
  for (std::vector<float>& array : rows)
    for (float& value : array) value = static_cast<float>(1 + random.below(64)) / 8;
  auto want = std::make_shared<std::vector<float>>(n);
  for (size_t row = 0; row < n; ++row) {
    float sum = 0;
    for (size_t k = kColumns * row; k < kColumns * (row + 1); ++k)
      sum += rows[0][k] * rows[1][k] + rows[2][k] * rows[3][k];
    (*want)[row] = sum;
  }
  std::vector<device::KernelArrayArgument> inputs;
  for (size_t i = 0; i < kArrays; ++i)
    inputs.push_back(input_array(std::string(1, "abcd"[i]), rows[i]));
  return work_in_own_and_skeleton_shape<float>(check, {"match", n, {}}, std::move(inputs), want, 0,
                                               {static_cast<int>(n)});
}

// Times trace in blocks of 1024 threads: the submission's kernel next to the kernel without launch
// bounds.
WorkloadToTime timed_work_of_trace_kernel(Check& check, uint32_t n, uint32_t steps,
                                          double tolerance, size_t sets) {
  constexpr uint32_t kBlock = 1024;
  const auto fields = generate_host_input_sets<FieldCellStepAndValue>(
      check, sets, [](Random& random) { return random_vector_field(random.bits()); });
  const std::vector<float> start = clustered_particle_positions(n, 0);
  WorkloadToTime work;
  work.arrays = {input_array("field", fields), input_array("start", start),
                 output_array<float>("out", size_t{kTraced} * n),
                 output_array<float>("out of the given bounds", size_t{kTraced} * n)};
  work.bytes = (size_t{kTraced} + 3) * n * sizeof(float);
  const auto version = [&](bool as_given) {
    TimedVersion made;
    made.steps = [=](device::LoadedModule& module, uint32_t) {
      return std::vector<device::StepToTime>{device::LaunchToTime{
          as_given ? kernel_name_with_namespace("trace_as_given", module) : "trace",
          {{blocks_for(n, kBlock)}, {kBlock}},
          {KernelArrayArgumentIndex{0}, KernelArrayArgumentIndex{1},
           KernelArrayArgumentIndex{size_t{as_given ? 3u : 2u}}, static_cast<int>(n),
           static_cast<int>(steps)}}};
    };
    made.mismatch = [=](size_t set, const Outputs& outputs) {
      return mismatch("out", values_of<float>(outputs[as_given ? 1 : 0]),
                      expected_path_statistics(*fields[set], start, n, steps), tolerance);
    };
    return made;
  };
  static_cast<TimedVersion&>(work) = version(false);
  work.before = version(true);
  return work;
}

void credit_launch_shape_speedup(Check& check, const std::string& kernel, const std::string& before,
                                 MakeWork make) {
  StepCheckWorkload step;
  step.kernel = kernel;
  step.before = kernel + " as given";
  step.form_before = before;
  step.make = std::move(make);
  credit_speedup_of_step(check, step);
}

const RubricKey kSkeleton = wholes("skeleton", 1, 1024, 2),
                kStepsOfEach = whole("steps_of_each", 1, 4096);

}  // namespace

TEST_SUITE("lab:occupancy") {
  LAB_CHECK("D1 copy: time with 8 warps" * keys_of_speed_check()) {
    credit_bandwidth_vs_copy(check, {"copy", timed_work_of_copy_kernel});
  }

  LAB_CHECK("D2 follow: time" * takes_rubric_keys("n", "n_modelled", kSkeleton,
                                                  whole("nodes", 8, 1 << 24, 8), kStepsOfEach,
                                                  "steps.share_of_gain", "steps.least_gain")) {
    const uint32_t nodes = check.row.required_count("nodes"),
                   steps = check.row.required_count("steps_of_each");
    credit_launch_shape_speedup(check, "follow", "the given shape",
                                [=](Check& check, uint32_t n, size_t) {
                                  return timed_work_of_follow_kernel(check, n, nodes, steps);
                                });
  }

  LAB_CHECK("D3 trace: time" * takes_rubric_keys("n", "n_modelled", kStepsOfEach,
                                                 "relative_tolerance", "steps.share_of_gain",
                                                 "steps.least_gain")) {
    const uint32_t steps = check.row.required_count("steps_of_each");
    const double tolerance = relative_tolerance(check);
    credit_launch_shape_speedup(
        check, "trace", "the given bounds", [=](Check& check, uint32_t n, size_t sets) {
          return timed_work_of_trace_kernel(check, n, steps, tolerance, sets);
        });
  }

  LAB_CHECK("D4 smooth: time" * takes_rubric_keys("n", "n_modelled", kSkeleton,
                                                  "relative_tolerance", "steps.share_of_gain",
                                                  "steps.least_gain")) {
    const double tolerance = relative_tolerance(check);
    credit_launch_shape_speedup(check, "smooth", "the given shape",
                                [=](Check& check, uint32_t n, size_t) {
                                  return timed_work_of_smooth_kernel(check, n, tolerance);
                                });
  }

  LAB_CHECK("D5 orbits: time" * takes_rubric_keys("n", "n_modelled", kSkeleton,
                                                  "relative_tolerance", "steps.share_of_gain",
                                                  "steps.least_gain")) {
    const double tolerance = relative_tolerance(check);
    credit_launch_shape_speedup(check, "orbits", "the given shape",
                                [=](Check& check, uint32_t n, size_t) {
                                  return timed_work_of_orbits_kernel(check, n, tolerance);
                                });
  }

  LAB_CHECK("D6 match: time" *
            takes_rubric_keys("n", kSkeleton, "steps.share_of_gain", "steps.least_gain")) {
    credit_launch_shape_speedup(
        check, "match", "the given shape",
        [](Check& check, uint32_t n, size_t) { return timed_work_of_row_dot_products(check, n); });
  }
}

}  // namespace lab32::checks::occupancy
