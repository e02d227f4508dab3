#include "grading/declared/declared_launch.h"

#include <fmt/core.h>

#include <cstring>
#include <memory>
#include <stdexcept>

#include "base/error.h"
#include "device/run_text.h"
#include "grading/engine/compiled.h"
#include "grading/launch/arrays.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"

namespace lab32::grading {
namespace {

constexpr uint64_t kMostBlocks = 0x7fffffff, kMostThreads = 1024;

// A device array with the values of a TypedHostArray.
class ElementsOnDevice : public DeviceArray {
 public:
  enum class Use : uint8_t { input, output };

  // An array of `values`; an output without values is poisoned.
  ElementsOnDevice(Check& check, const DeclaredArray& array, const TypedHostArray& values, Use use)
      : DeviceArray(check, array.name, values.type->bytes * array.fields,
                    values.count / array.fields),
        values_(values),
        is_input_(use == Use::input) {
    if (!values.bytes.empty()) upload(values.bytes.data());
  }
  std::vector<std::byte> read() const {
    std::vector<std::byte> bytes(count() * element_bytes());
    download(bytes.data());
    return bytes;
  }
  ptrdiff_t first_changed_input_element() const override {
    return is_input_ ? first_difference(values_.bytes.data()) : -1;
  }
  bool read_only() const override { return is_input_; }

 private:
  const TypedHostArray& values_;
  bool is_input_;
};

using OnDevice = std::vector<std::unique_ptr<ElementsOnDevice>>;

OnDevice allocate_arrays(Check& check, const std::vector<DeclaredArray>& declared,
                         const std::vector<TypedHostArray>& values, ElementsOnDevice::Use use) {
  OnDevice arrays;
  for (size_t i = 0; i < declared.size(); ++i)
    arrays.push_back(std::make_unique<ElementsOnDevice>(check, declared[i], values[i], use));
  return arrays;
}

std::vector<device::KernelArgument> arguments_of(const DeclaredLaunch& launch,
                                                 const std::vector<double>& numbers,
                                                 const OnDevice& inputs, const OnDevice& outputs) {
  std::vector<device::KernelArgument> args;
  for (const DeclaredArgumentSource& argument : launch.arguments) {
    if (argument.kind == DeclaredArgumentSource::Kind::input)
      args.emplace_back(inputs[argument.index]->buffer());
    else if (argument.kind == DeclaredArgumentSource::Kind::output)
      args.emplace_back(outputs[argument.index]->buffer());
    else
      args.push_back(scalar_kernel_argument(launch, argument, numbers));
  }
  return args;
}

ExpressionValues expression_values(std::vector<double> numbers) { return {std::move(numbers), {}}; }

Dim3 evaluate_extents(const DeclaredExtents& extents, const std::vector<double>& numbers,
                      uint64_t most) {
  uint32_t xyz[3] = {1, 1, 1};
  for (size_t i = 0; i < extents.size(); ++i) {
    // CUDA cannot launch an empty grid.
    const uint64_t extent = extents[i].whole_value(expression_values(numbers), 0, most);
    xyz[i] = static_cast<uint32_t>(std::max<uint64_t>(extent, 1));
  }
  return {xyz[0], xyz[1], xyz[2]};
}

// Runs the lab's reference kernel and returns its outputs. Its arrays are freed before the
// submission's are allocated: expected values never stay on the device.
std::vector<TypedHostArray> run_reference_kernel(Check& check, const DeclaredLaunch& launch,
                                                 const std::vector<double>& numbers,
                                                 const InitialLaunchArrays& arrays) {
  const std::string& lab = check.session.rubric.lab();
  const std::string name = kernel_name_with_namespace(check, launch.reference);
  device::Kernel* kernel = check.session.module.find(name);
  if (!kernel || !is_given_kernel(name))
    throw Error(fmt::format("grader/labs/{}/given.cu has no kernel `{}`, the `reference` of \"{}\"",
                            lab, launch.reference, check.row.check));
  using Use = ElementsOnDevice::Use;
  const OnDevice inputs = allocate_arrays(check, launch.inputs, arrays.inputs, Use::input),
                 outputs = allocate_arrays(check, launch.outputs, arrays.outputs, Use::output);
  const device::LaunchShape shape{evaluate_extents(launch.reference_grid, numbers, kMostBlocks),
                                  evaluate_extents(launch.reference_block, numbers, kMostThreads)};
  device::LaunchOptions options;
  options.check_hazards = options.count = false;
  const device::LaunchResult run = check.device().launch(
      *kernel, shape, arguments_of(launch, numbers, inputs, outputs), options);
  if (run.fault)
    throw Error(fmt::format("the reference kernel `{}`: {}", launch.reference,
                            device::describe(*run.fault)));
  std::vector<TypedHostArray> expected = arrays.outputs;
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i].bytes = outputs[i]->read();
    outputs[i]->poison();
  }
  return expected;
}

// All checks of one launch get the same arrays, so that they can share it.
Random random_for_launch(Check& check, const DeclaredLaunch& launch, const std::string& setting) {
  return Random(seed_of_stream(check.session.setup.seed, launch.check + ", " + setting));
}

}  // namespace

std::string setting_of(const DeclaredLaunch& launch, const LaunchSize& size, size_t turn) {
  std::string setting;
  if (launch.setting) {
    // Scalars may be random, so only the size is shown.
    std::vector<double> numbers(size.begin(), size.end());
    numbers.resize(size.size() + launch.scalars.size());
    setting = launch.setting->filled(expression_values(numbers));
  } else {
    for (size_t i = 0; i < size.size(); ++i)
      setting += fmt::format("{}{} = {}", i > 0 ? ", " : "", launch.extents[i], size[i]);
    if (!launch.variant.empty()) setting += ", " + launch.variant;
  }
  for (const auto* arrays : {&launch.inputs, &launch.outputs})
    for (const DeclaredArray& array : *arrays) {
      if (array.contents.size() < 2) continue;
      const ArrayFillRule& content = array.contents[turn % array.contents.size()];
      setting += content.name.empty() ? fmt::format(", {} = {}", array.name, content.each.text())
                                      : fmt::format(", {} {}", array.name, content.name);
    }
  return setting;
}

device::LaunchShape shape_of(Check& check, const DeclaredLaunch& launch,
                             const std::vector<double>& numbers, device::LoadedModule& module) {
  using Shape = DeclaredLaunch::Shape;
  if (launch.shape == Shape::launch_record)
    return launch_config(check, base_name(launch.kernel), module)
        .shape(static_cast<uint64_t>(numbers[0]), check.device().multiprocessors());
  if (launch.shape == Shape::tile_record)
    return tile_config(check, base_name(launch.kernel), module)
        .shape(static_cast<uint32_t>(numbers[0]), static_cast<uint32_t>(numbers[1]));
  return {evaluate_extents(launch.grid, numbers, kMostBlocks),
          evaluate_extents(launch.block, numbers, kMostThreads)};
}

ExpressionValues values_with_launch_shape(const DeclaredLaunch& launch,
                                          const std::vector<double>& numbers,
                                          const device::LaunchShape& shape) {
  const auto extent = [](const Dim3& d) { return double{1} * d.x * d.y * d.z; };
  ExpressionValues values = expression_values(numbers);
  values.numbers.push_back(extent(shape.grid));
  values.numbers.push_back(extent(shape.block));
  for (const auto* arrays : {&launch.inputs, &launch.outputs})
    for (const DeclaredArray& array : *arrays)
      values.numbers.push_back(static_cast<double>(array.type->bytes));
  return values;
}

device::KernelArgument scalar_kernel_argument(const DeclaredLaunch& launch,
                                              const DeclaredArgumentSource& argument,
                                              const std::vector<double>& numbers) {
  if (argument.kind == DeclaredArgumentSource::Kind::scalar) {
    TypedHostArray one(*launch.scalars[argument.index].type, 1);
    one.set(0, numbers[launch.extents.size() + argument.index]);
    return device::KernelArgument::from_bytes(one.bytes.data(), one.bytes.size());
  }
  return static_cast<int>(argument.number.whole_value(expression_values(numbers), 0, 0x7fffffff));
}

namespace {

// The mismatch of an output, with the rubric's note about its first wrong element.
std::string output_mismatch(const DeclaredArray& output, const std::vector<std::byte>& got,
                            const TypedHostArray& want, const std::vector<double>& numbers,
                            double tolerance) {
  std::string wrong = elements_mismatch(output.name, got, want, tolerance);
  if (wrong.empty() || !output.note) return wrong;
  const auto element = [&](const std::vector<std::byte>& of, size_t i) {
    const auto first = of.begin() + static_cast<ptrdiff_t>(i * want.type->bytes);
    return std::vector<std::byte>(first, first + static_cast<ptrdiff_t>(want.type->bytes));
  };
  for (size_t i = 0; i < want.count; ++i) {
    TypedHostArray one(*want.type, 1);
    one.bytes = element(want.bytes, i);
    if (elements_mismatch("", element(got, i), one, tolerance).empty()) continue;
    ExpressionValues values = expression_values(numbers);
    values.numbers.push_back(static_cast<double>(i));
    return wrong + " " + output.note->filled(values);
  }
  return wrong;
}

// A declared launch with its arrays, and what it must leave in them.
class LaunchWithExpectedOutputs {
 public:
  LaunchWithExpectedOutputs(Check& check, const DeclaredLaunch& launch, const LaunchSize& size,
                            size_t turn)
      : LaunchWithExpectedOutputs(
            check, launch, size, turn,
            random_for_launch(check, launch, setting_of(launch, size, turn))) {}

  const device::LaunchShape& shape() const { return shape_; }
  std::vector<device::KernelArgument> arguments() const {
    return arguments_of(launch_, numbers_, inputs_, outputs_);
  }
  // Empty: all outputs are right.
  std::string wrong_output_message() const {
    const double tolerance = check_.row.has("relative_tolerance") ? relative_tolerance(check_) : 0;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const std::string wrong = output_mismatch(launch_.outputs[i], outputs_[i]->read(),
                                                expected_[i], numbers_, tolerance);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  using Use = ElementsOnDevice::Use;
  LaunchWithExpectedOutputs(Check& check, const DeclaredLaunch& launch, const LaunchSize& size,
                            size_t turn, Random random)
      : check_(check),
        launch_(launch),
        numbers_(size_and_scalar_values(launch, size, random)),
        arrays_{initial_elements_of_arrays(launch.inputs, numbers_, turn, random),
                initial_elements_of_arrays(launch.outputs, numbers_, turn, random)},
        expected_(expected_elements(launch, numbers_, arrays_.inputs, arrays_.outputs)) {
    if (!launch.reference.empty()) {
      const std::vector<TypedHostArray> computed =
          run_reference_kernel(check, launch, numbers_, arrays_);
      for (size_t i = 0; i < expected_.size(); ++i)
        if (!launch.outputs[i].expected) expected_[i] = computed[i];
    }
    inputs_ = allocate_arrays(check, launch.inputs, arrays_.inputs, Use::input);
    outputs_ = allocate_arrays(check, launch.outputs, arrays_.outputs, Use::output);
    shape_ = shape_of(check, launch, numbers_, check.session.module);
  }

  Check& check_;
  const DeclaredLaunch& launch_;
  std::vector<double> numbers_;
  InitialLaunchArrays arrays_;
  std::vector<TypedHostArray> expected_;
  OnDevice inputs_, outputs_;
  device::LaunchShape shape_;
};

}  // namespace

device::LaunchResult run_declared_launch(Check& check, const DeclaredLaunch& launch,
                                         const LaunchSize& size, size_t turn) {
  const std::string setting = setting_of(launch, size, turn);
  const LaunchWithExpectedOutputs prepared(check, launch, size, turn);
  device::LaunchResult done = run(check, {kernel_name_with_namespace(check, launch.kernel),
                                          prepared.shape(), prepared.arguments(), setting});
  check_result(check, setting, check.line_of(launch.function), prepared.wrong_output_message());
  return done;
}

std::optional<device::LaunchResult> launch_result_if_correct(Check& check, device::Kernel& kernel,
                                                             const DeclaredLaunch& launch,
                                                             const LaunchSize& size) {
  constexpr uint64_t kMost = 100'000;  // a removed access may leave a loop without an end
  const LaunchWithExpectedOutputs prepared(check, launch, size, 0);
  device::LaunchResult done =
      launch_without_verdict(check, kernel, prepared.shape(), prepared.arguments(), kMost);
  if (done.fault || has_hazard_finding(done) || !prepared.wrong_output_message().empty())
    return std::nullopt;
  return done;
}

ExpressionValues values_for_ideal(Check& check, const DeclaredLaunch& launch,
                                  const LaunchSize& size) {
  Random random = random_for_launch(check, launch, setting_of(launch, size, 0));
  const std::vector<double> numbers = size_and_scalar_values(launch, size, random);
  return values_with_launch_shape(launch, numbers,
                                  shape_of(check, launch, numbers, check.session.module));
}

std::pair<device::LaunchResult, std::vector<TypedHostArray>> run_given_launch(
    Check& check, const GivenKernelLaunch& given) {
  const DeclaredLaunch& launch = given.launch;
  Random random = check.random();
  const std::vector<double> numbers = size_and_scalar_values(launch, given.size, random);
  std::vector<TypedHostArray> before =
                                  initial_elements_of_arrays(launch.inputs, numbers, 0, random),
                              after =
                                  initial_elements_of_arrays(launch.outputs, numbers, 0, random);
  using Use = ElementsOnDevice::Use;
  const OnDevice inputs = allocate_arrays(check, launch.inputs, before, Use::input),
                 outputs = allocate_arrays(check, launch.outputs, after, Use::output);
  device::LaunchResult done =
      run_to_count(check, {kernel_name_with_namespace(check, launch.kernel),
                           shape_of(check, launch, numbers, check.session.module),
                           arguments_of(launch, numbers, inputs, outputs), launch.kernel});
  for (size_t i = 0; i < after.size(); ++i) after[i].bytes = outputs[i]->read();
  return {std::move(done), std::move(after)};
}

std::string base_name(const std::string& kernel) { return kernel.substr(0, kernel.find('<')); }

namespace {

template <class T>
std::vector<T> elements_from_bytes(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T>
std::string typed_mismatch(const std::string& name, const std::vector<std::byte>& got,
                           const std::vector<std::byte>& want, double relative_tolerance) {
  return mismatch(name, elements_from_bytes<T>(got), elements_from_bytes<T>(want),
                  relative_tolerance);
}

struct TypedComparison {
  const char* type;
  std::string (*mismatch)(const std::string&, const std::vector<std::byte>&,
                          const std::vector<std::byte>&, double);
};
constexpr TypedComparison kComparisons[] = {
    {"int", &typed_mismatch<int>},
    {"unsigned", &typed_mismatch<unsigned>},
    {"float", &typed_mismatch<float>},
    {"double", &typed_mismatch<double>},
    {"short", &typed_mismatch<short>},
    {"unsigned short", &typed_mismatch<unsigned short>},
    {"signed char", &typed_mismatch<signed char>},
    {"unsigned char", &typed_mismatch<unsigned char>},
    {"long long", &typed_mismatch<long long>},
    {"unsigned long long", &typed_mismatch<unsigned long long>}};

}  // namespace

std::string elements_mismatch(const std::string& name, const std::vector<std::byte>& got,
                              const TypedHostArray& want, double relative_tolerance) {
  for (const TypedComparison& comparison : kComparisons)
    if (want.type->name == comparison.type)
      return comparison.mismatch(name, got, want.bytes, relative_tolerance);
  throw std::logic_error("elements of type " + want.type->name + " cannot be compared");
}

}  // namespace lab32::grading
