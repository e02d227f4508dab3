// Declared timing checks: the launches of a row, timed as timing/timing_checks.h says.

#include <memory>
#include <string>

#include "base/work.h"
#include "grading/declared/declared_launch.h"
#include "grading/engine/compiled.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"

namespace lab32::grading {
namespace {

// One input of each set.
using Sets = std::vector<std::shared_ptr<const std::vector<TypedHostArray>>>;

// The arrays of the timer: inputs with the values of each set, then the outputs of each version.
void add_timed_outputs(WorkloadToTime& work, const std::vector<TypedHostArray>& outputs,
                       const DeclaredLaunch& launch, const std::string& of_version) {
  for (size_t i = 0; i < outputs.size(); ++i)
    work.arrays.push_back(
        {launch.outputs[i].name + of_version, outputs[i].count * outputs[i].type->bytes, {}});
}

// `first_output`: the place of the version's outputs among the timer's arrays.
std::vector<device::StepToTime> declared_steps(Check& check, const DeclaredLaunch& launch,
                                               const std::vector<double>& numbers,
                                               size_t first_output, device::LoadedModule& module) {
  std::vector<device::StepToTime> steps;
  for (size_t i = 0; i < launch.outputs.size(); ++i)
    if (!launch.outputs[i].contents.empty())
      steps.emplace_back(device::FillToTime{device::KernelArrayArgumentIndex{first_output + i}, 0});
  const device::LaunchShape shape = shape_of(check, launch, numbers, module);
  // Only the submission knows the block of a template that LAB32_LAUNCH chooses.
  std::string kernel = launch.kernel;
  if (const size_t at = kernel.find("{block}"); at != std::string::npos)
    kernel.replace(at, std::string("{block}").size(), std::to_string(shape.block.count()));
  device::LaunchToTime timed{kernel_name_with_namespace(kernel, module), shape, {}};
  for (const DeclaredArgumentSource& argument : launch.arguments) {
    if (argument.kind == DeclaredArgumentSource::Kind::input)
      timed.args.emplace_back(device::KernelArrayArgumentIndex{argument.index});
    else if (argument.kind == DeclaredArgumentSource::Kind::output)
      timed.args.emplace_back(device::KernelArrayArgumentIndex{first_output + argument.index});
    else
      timed.args.emplace_back(scalar_kernel_argument(launch, argument, numbers));
  }
  steps.emplace_back(std::move(timed));
  return steps;
}

// Adds the arrays that the version writes to those of `work`.
TimedVersion declared_version(Check& check, const DeclaredLaunch& launch, const LaunchSize& size,
                              const Sets& sets, WorkloadToTime& work) {
  Random random = check.random();
  const std::vector<double> numbers = size_and_scalar_values(launch, size, random);
  const auto outputs = std::make_shared<const std::vector<TypedHostArray>>(
      initial_elements_of_arrays(launch.outputs, numbers, 0, random));
  const size_t first_output = work.arrays.size(), inputs = launch.inputs.size();
  add_timed_outputs(work, *outputs, launch, first_output > inputs ? " of the version before" : "");
  const double tolerance = check.row.has("relative_tolerance") ? relative_tolerance(check) : 0;
  TimedVersion version;
  version.steps = [&check, &launch, numbers, first_output](device::LoadedModule& module, uint32_t) {
    return declared_steps(check, launch, numbers, first_output, module);
  };
  version.mismatch = [&launch, numbers, sets, outputs, tolerance, first = first_output - inputs](
                         size_t set, const Outputs& written) {
    const std::vector<TypedHostArray> expected =
        expected_elements(launch, numbers, *sets[set], *outputs);
    for (size_t i = 0; i < launch.outputs.size(); ++i) {
      const std::vector<std::byte> got = values_of<std::byte>(written[first + i]);
      const std::string wrong =
          elements_mismatch(launch.outputs[i].name, got, expected[i], tolerance);
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  };
  return version;
}

// A matrix that is timed has as many rows as columns.
WorkloadToTime declared_work(Check& check, const CheckDeclaration& declaration, uint32_t n,
                             size_t count) {
  const DeclaredLaunch& launch = declaration.launches.front();
  const LaunchSize size(launch.extents.size(), n);
  Random random = check.random();
  const std::vector<double> numbers = size_and_scalar_values(launch, size, random);
  Sets sets(count);
  std::vector<BackgroundWork> made;
  for (auto& set : sets)
    made.emplace_back([&set, &launch, &numbers, own = Random(random.bits())]() mutable {
      set = std::make_shared<const std::vector<TypedHostArray>>(
          initial_elements_of_arrays(launch.inputs, numbers, 0, own));
    });
  for (BackgroundWork& set : made) set.wait_and_rethrow();
  WorkloadToTime work;
  for (size_t i = 0; i < launch.inputs.size(); ++i) {
    work.arrays.push_back({launch.inputs[i].name, (*sets[0])[i].bytes.size(), {}});
    for (const auto& set : sets)
      work.arrays.back().sets.emplace_back(
          std::shared_ptr<const std::vector<std::byte>>(set, &(*set)[i].bytes));
  }
  const ExpressionValues values = values_with_launch_shape(
      launch, numbers, shape_of(check, launch, numbers, check.session.module));
  work.bytes = declaration.bytes.whole_value(values, 1, uint64_t{1} << 40);
  static_cast<TimedVersion&>(work) = declared_version(check, launch, size, sets, work);
  if (declaration.before)
    work.before = declared_version(check, *declaration.before, size, sets, work);
  return work;
}

}  // namespace

void run_declared_timing_check(Check& check, const CheckDeclaration& declaration) {
  const MakeWork make = [&declaration](Check& own, uint32_t n, size_t sets) {
    return declared_work(own, declaration, n, sets);
  };
  const std::string& kernel = declaration.launches.front().function;
  if (declaration.before)
    return credit_speedup_of_step(
        check, {kernel, declaration.before->function, declaration.form_before, make});
  credit_bandwidth_vs_copy(
      check, {kernel, make,
              check.row.has("baseline") ? device::Baseline::cub_sum_int : device::Baseline::none});
}

}  // namespace lab32::grading
