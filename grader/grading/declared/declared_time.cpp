#include "grading/declared/declared_time.h"

#include <memory>

#include "grading/declared/compare.h"
#include "grading/declared/declared_launch.h"
#include "grading/engine/check.h"
#include "grading/engine/compiled.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"

namespace lab32::grading {
namespace {

using Sets = std::vector<std::shared_ptr<const DeclaredArrays>>;

// The arrays of the timer: inputs, with the values of each set, then outputs.
std::vector<device::TimedArray> timed_arrays(const DeclaredLaunch& launch, const Sets& sets) {
  std::vector<device::TimedArray> arrays;
  for (size_t i = 0; i < launch.inputs.size(); ++i) {
    device::TimedArray array{launch.inputs[i].name, sets[0]->inputs[i].bytes.size(), {}};
    for (const auto& set : sets)
      array.sets.emplace_back(
          std::shared_ptr<const std::vector<std::byte>>(set, &set->inputs[i].bytes));
    arrays.push_back(std::move(array));
  }
  for (size_t i = 0; i < launch.outputs.size(); ++i) {
    const Elements& output = sets[0]->outputs[i];
    arrays.push_back({launch.outputs[i].name, output.count * output.type->bytes, {}});
  }
  return arrays;
}

std::vector<device::TimedStep> steps_of(Check& check, const DeclaredLaunch& launch,
                                        const std::vector<double>& numbers,
                                        device::LoadedModule& module) {
  std::vector<device::TimedStep> steps;
  const size_t first_output = launch.inputs.size();
  for (size_t i = 0; i < launch.outputs.size(); ++i)
    if (!launch.outputs[i].contents.empty())
      steps.emplace_back(device::Fill{device::ArrayIndex{first_output + i}, 0});
  device::TimedLaunch timed{
      given_kernel(launch.kernel, module), shape_of(check, launch, numbers, module), {}};
  for (const DeclaredArgument& argument : launch.arguments) {
    if (argument.kind == DeclaredArgument::Kind::input)
      timed.args.emplace_back(device::ArrayIndex{argument.index});
    else if (argument.kind == DeclaredArgument::Kind::output)
      timed.args.emplace_back(device::ArrayIndex{first_output + argument.index});
    else
      timed.args.emplace_back(number_of(launch, argument, numbers));
  }
  steps.emplace_back(std::move(timed));
  return steps;
}

TimedWork work_of(Check& check, const Declaration& declaration, uint32_t n, size_t count) {
  const DeclaredLaunch& launch = declaration.launch;
  Random random = check.random();
  const std::vector<double> numbers = draw_numbers(launch, n, random);
  Sets sets(count);
  for (auto& set : sets)
    set = std::make_shared<const DeclaredArrays>(draw_arrays(launch, numbers, 0, random));
  TimedWork work;
  work.arrays = timed_arrays(launch, sets);
  ExpressionValues values{numbers, {}, nullptr};
  const device::Shape shape = shape_of(check, launch, numbers, check.session.module);
  values.numbers.push_back(double{1} * shape.grid.x * shape.grid.y * shape.grid.z);
  values.numbers.push_back(double{1} * shape.block.x * shape.block.y * shape.block.z);
  work.bytes = declaration.bytes.count(values, 1, uint64_t{1} << 40);
  work.steps = [&check, &launch, numbers](device::LoadedModule& module, uint32_t) {
    return steps_of(check, launch, numbers, module);
  };
  const double tolerance = check.row.has("relative_tolerance") ? relative_tolerance(check) : 0;
  work.mismatch = [&launch, numbers, sets, tolerance](size_t set, const Outputs& outputs) {
    const std::vector<Elements> expected = expected_elements(launch, numbers, *sets[set]);
    for (size_t i = 0; i < launch.outputs.size(); ++i) {
      const std::vector<std::byte> got = values_of<std::byte>(outputs[i]);
      const std::string wrong =
          elements_mismatch(launch.outputs[i].name, got, expected[i], tolerance);
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  };
  return work;
}

}  // namespace

void run_declared_time(Check& check, const Declaration& declaration) {
  credit_speed(check, {base_name(declaration.launch.kernel),
                       [&declaration](Check& own, uint32_t n, size_t sets) {
                         return work_of(own, declaration, n, sets);
                       }});
}

}  // namespace lab32::grading
