// Launches what a rubric row declares: draws its numbers and arrays, launches the kernel as
// launch/launch.h does, and compares the outputs with the expected values. run_declared() runs the
// whole check.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grading/declared/declaration.h"
#include "grading/declared/elements.h"
#include "grading/engine/check.h"

namespace lab32::grading {

// Arrays on the host before a launch. An output without contents has none here.
struct DeclaredArrays {
  std::vector<Elements> inputs, outputs;
};

// n and the values of the scalars.
std::vector<double> random_numbers(const DeclaredLaunch& launch, uint32_t n, Random& random);
// `turn`: which of several contents the arrays get.
DeclaredArrays random_arrays(const DeclaredLaunch& launch, const std::vector<double>& numbers,
                             size_t turn, Random& random);
// What the `expected` expressions say; an output without one is left empty.
std::vector<Elements> expected_elements(const DeclaredLaunch& launch,
                                        const std::vector<double>& numbers,
                                        const DeclaredArrays& before);
// The declared shape, or that of the module's LAB32_LAUNCH record.
device::Shape shape_of(Check& check, const DeclaredLaunch& launch,
                       const std::vector<double>& numbers, device::LoadedModule& module);
// The argument as its kernel takes it, if it is no array.
device::Arg number_argument(const DeclaredLaunch& launch, const DeclaredArgument& argument,
                            const std::vector<double>& numbers);

// A launch whose result was right, and the values for expressions with `blocks` and `threads`.
struct DeclaredRun {
  device::Run run;
  ExpressionValues values;
};

// What tells a launch from others: "n = 1000, block = 96".
std::string setting_of(const DeclaredLaunch& launch, uint32_t n, size_t turn);

// Launches the kernel for n elements. The check is lost if the launch fails or its result is wrong.
DeclaredRun run_declared_launch(Check& check, const DeclaredLaunch& launch, uint32_t n,
                                size_t turn);
// Launches another version of the kernel. Gives no verdict. nullopt: its result is wrong, or it has
// a hazard or a fault.
std::optional<DeclaredRun> try_declared_launch(Check& check, device::Kernel& kernel,
                                               const DeclaredLaunch& launch, uint32_t n);
// The values for `ideal` of that launch, without launching.
ExpressionValues values_for_ideal(Check& check, const DeclaredLaunch& launch, uint32_t n);

// "histogram_shared<256>" -> "histogram_shared"
std::string base_name(const std::string& kernel);

// As mismatch() of launch/arrays.h: empty if all values are equal.
std::string elements_mismatch(const std::string& name, const std::vector<std::byte>& got,
                              const Elements& want, double relative_tolerance);

// Runs the check that the row of `check` declares.
void run_declared(Check& check);

}  // namespace lab32::grading
