// Launches what a rubric row declares: draws its numbers and arrays, launches the kernel as
// launch/launch.h does, and compares the outputs with the expected values. run_declared_check()
// runs the whole check.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grading/declared/declaration.h"
#include "grading/declared/elements.h"
#include "grading/engine/check.h"

namespace lab32::grading {

// Arrays on the host before a launch, one for each declared array. That of an output without
// declared contents is empty.
struct InitialLaunchArrays {
  std::vector<TypedHostArray> inputs, outputs;
};

// The size and the values of the scalars.
std::vector<double> size_and_scalar_values(const DeclaredLaunch& launch, const LaunchSize& size,
                                           Random& random);
// `turn`: which of several contents the arrays get.
std::vector<TypedHostArray> initial_elements_of_arrays(const std::vector<DeclaredArray>& arrays,
                                                       const std::vector<double>& numbers,
                                                       size_t turn, Random& random);
// What the `expected` expressions say of these arrays; an output without one is left empty.
std::vector<TypedHostArray> expected_elements(const DeclaredLaunch& launch,
                                              const std::vector<double>& numbers,
                                              const std::vector<TypedHostArray>& inputs,
                                              const std::vector<TypedHostArray>& outputs);
// The declared shape, or that of the module's LAB32_LAUNCH or LAB32_TILE record.
device::LaunchShape shape_of(Check& check, const DeclaredLaunch& launch,
                             const std::vector<double>& numbers, device::LoadedModule& module);
// The values of expressions that also use `blocks`, `threads`, and the arrays' bytes per element.
ExpressionValues values_with_launch_shape(const DeclaredLaunch& launch,
                                          const std::vector<double>& numbers,
                                          const device::LaunchShape& shape);
// The argument as its kernel takes it, if it is no array.
device::KernelArgument scalar_kernel_argument(const DeclaredLaunch& launch,
                                              const DeclaredArgumentSource& argument,
                                              const std::vector<double>& numbers);

// What tells a launch from others: "n = 1000, block = 96".
std::string setting_of(const DeclaredLaunch& launch, const LaunchSize& size, size_t turn);

// Launches the kernel. The check is lost if the launch fails or its result is wrong.
device::LaunchResult run_declared_launch(Check& check, const DeclaredLaunch& launch,
                                         const LaunchSize& size, size_t turn);
// Launches another version of the kernel. Gives no verdict. nullopt: its result is wrong, or it has
// a hazard or a fault.
std::optional<device::LaunchResult> launch_result_if_correct(Check& check, device::Kernel& kernel,
                                                             const DeclaredLaunch& launch,
                                                             const LaunchSize& size);
// The values for `ideal` of that launch, without launching.
ExpressionValues values_for_ideal(Check& check, const DeclaredLaunch& launch,
                                  const LaunchSize& size);
// Launches a given kernel for a question. Returns its outputs, too.
std::pair<device::LaunchResult, std::vector<TypedHostArray>> run_given_launch(
    Check& check, const GivenKernelLaunch& given);

// "histogram_shared<256>" -> "histogram_shared"
std::string base_name(const std::string& kernel);

// As mismatch() of launch/arrays.h: empty if all values are equal.
std::string elements_mismatch(const std::string& name, const std::vector<std::byte>& got,
                              const TypedHostArray& want, double relative_tolerance);

// Runs a timing check: the bandwidth of the launch, or the step from the previous version.
void run_declared_timing_check(Check& check, const CheckDeclaration& declaration);
// Runs the check that the row of `check` declares.
void run_declared_check(Check& check);

}  // namespace lab32::grading
