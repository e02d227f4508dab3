// The values of a declared launch on the host: its scalars, its arrays before the launch, and what
// its `expected` expressions say of them afterwards.
#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/work.h"
#include "grading/declared/declared_launch.h"

namespace lab32::grading {
namespace {

constexpr size_t kPart = size_t{1} << 22, kParts = 16;
constexpr size_t kTogether = 1024;  // values that are computed at once
constexpr uint64_t kMostElements = uint64_t{1} << 28;

// Sets the elements from `begin` up to `end`. `no_value`: the error where the type cannot hold one.
template <class NoValue>
void fill_elements(TypedHostArray& to, const Expression& each, const ExpressionValues& values,
                   size_t begin, size_t end, NoValue no_value) {
  double results[kTogether];
  for (size_t first = begin, count; first < end; first += count) {
    count = std::min(kTogether, end - first);
    each.values_in_range(values, first, count, results);
    for (size_t i = 0; i < count; ++i)
      if (!to.set(first + i, results[i])) throw Error(no_value(first + i, results[i]));
  }
}

TypedHostArray initial_array_elements(const DeclaredArray& array,
                                      const std::vector<double>& numbers, size_t turn,
                                      Random& random) {
  const ExpressionValues values{numbers, {}};
  TypedHostArray elements(*array.type, array.count.whole_value(values, 0, kMostElements));
  if (array.contents.empty()) {
    elements.bytes.clear();
    return elements;
  }
  const ArrayFillRule& content = array.contents[turn % array.contents.size()];
  ElementValueRange range;
  if (array.below) range = {true, array.from->value(values), array.below->value(values)};
  if (!content.name.empty()) {
    find_distribution(content.name)(elements, range, random);
    return elements;
  }
  ExpressionValues each{numbers, {}, &random};
  each.numbers.push_back(0);  // the element's index, in each expression
  fill_elements(elements, content.each, each, 0, elements.count, [&](size_t, double value) {
    return fmt::format("`values` of {}: {} is no {}", array.name, value, array.type->name);
  });
  return elements;
}

// The array `before` after all additions. Doubles add whole numbers exactly.
TypedHostArray expected_sums(const DeclaredArray& output, const TypedHostArray& before,
                             const ExpressionValues& values) {
  TypedHostArray want(*output.type, before.count);
  std::vector<double> sums(want.count);
  for (size_t i = 0; i < want.count && !before.bytes.empty(); ++i) sums[i] = before.at(i);
  const ExpressionValues of_launch{{values.numbers.begin(), values.numbers.end() - 1}, {}, nullptr};
  const uint64_t over = output.over->whole_value(of_launch, 0, kMostElements);
  const auto add = [&output](ExpressionValues& of, std::vector<double>& to, size_t begin,
                             size_t end) {
    double places[kTogether], amounts[kTogether];
    for (size_t first = begin, count; first < end; first += count) {
      count = std::min(kTogether, end - first);
      output.at->values_in_range(of, first, count, places);
      output.expected->values_in_range(of, first, count, amounts);
      for (size_t i = 0; i < count; ++i) {
        if (!(places[i] >= 0 && places[i] < static_cast<double>(to.size())))
          throw Error(fmt::format("`at` of {}: {} is not among its {} elements", output.name,
                                  places[i], to.size()));
        to[static_cast<size_t>(places[i])] += amounts[i];
      }
    }
  };
  // Large arrays are those of timing checks.
  const size_t count = over > kPart ? kParts : 1;
  std::vector<std::vector<double>> part_sums(count, std::vector<double>(want.count));
  std::vector<BackgroundWork> parts;
  for (size_t k = 1; k < count; ++k)
    parts.emplace_back([&, k, own = values]() mutable {
      add(own, part_sums[k], over * k / count, over * (k + 1) / count);
    });
  ExpressionValues own = values;
  add(own, part_sums[0], 0, over / count);
  for (BackgroundWork& part : parts) part.wait_and_rethrow();
  for (const std::vector<double>& part : part_sums)
    for (size_t i = 0; i < want.count; ++i) sums[i] += part[i];
  for (size_t i = 0; i < want.count; ++i)
    if (!want.set(i, sums[i]))
      throw Error(
          fmt::format("the sum {}[{}]: {} is no {}", output.name, i, sums[i], output.type->name));
  return want;
}

}  // namespace

std::vector<double> size_and_scalar_values(const DeclaredLaunch& launch, const LaunchSize& size,
                                           Random& random) {
  ExpressionValues values{{size.begin(), size.end()}, {}, &random};
  for (const DeclaredScalar& scalar : launch.scalars) {
    TypedHostArray one(*scalar.type, 1);
    const double value = scalar.value.value(values);
    if (!one.set(0, value))
      throw Error(fmt::format("the scalar {}: {} is no {}", scalar.name, value, scalar.type->name));
    values.numbers.push_back(one.at(0));
  }
  return values.numbers;
}

std::vector<TypedHostArray> initial_elements_of_arrays(const std::vector<DeclaredArray>& arrays,
                                                       const std::vector<double>& numbers,
                                                       size_t turn, Random& random) {
  std::vector<TypedHostArray> drawn;
  for (const DeclaredArray& array : arrays)
    drawn.push_back(initial_array_elements(array, numbers, turn, random));
  return drawn;
}

std::vector<TypedHostArray> expected_elements(const DeclaredLaunch& launch,
                                              const std::vector<double>& numbers,
                                              const std::vector<TypedHostArray>& inputs,
                                              const std::vector<TypedHostArray>& outputs) {
  ExpressionValues values{numbers, {}};
  values.numbers.push_back(0);
  for (const auto* arrays : {&inputs, &outputs})
    for (const TypedHostArray& array : *arrays)
      values.arrays.push_back(
          {array.bytes.empty() ? 0 : array.count, [&array](size_t i) { return array.at(i); }});
  values.arrays.emplace_back();  // the expected values so far
  std::vector<TypedHostArray> expected;
  for (size_t k = 0; k < launch.outputs.size(); ++k) {
    const DeclaredArray& output = launch.outputs[k];
    expected.emplace_back();
    if (!output.expected) continue;
    TypedHostArray& want = expected.back() = TypedHostArray(*output.type, outputs[k].count);
    if (output.at) {
      want = expected_sums(output, outputs[k], values);
      continue;
    }
    const auto fill = [&output, &want](ExpressionValues& of, size_t begin, size_t end) {
      const auto no_value = [&](size_t i, double value) {
        return fmt::format("`expected` of {}[{}]: {} is no {}", output.name, i, value,
                           output.type->name);
      };
      if (!output.expected->uses_array("expected"))
        return fill_elements(want, *output.expected, of, begin, end, no_value);
      for (size_t i = begin; i < end; ++i) {
        of.arrays.back().count = i;
        fill_elements(want, *output.expected, of, i, i + 1, no_value);
      }
    };
    values.arrays.back().at = [&want](size_t i) { return want.at(i); };
    // Large arrays are those of timing checks. A value that needs those before it has to wait.
    const bool in_parts = want.count > kPart && !output.expected->uses_array("expected");
    std::vector<BackgroundWork> parts;
    for (size_t begin = 0; in_parts && begin < want.count; begin += want.count / kParts + 1)
      parts.emplace_back([&, begin, own = values]() mutable {
        fill(own, begin, std::min(want.count, begin + want.count / kParts + 1));
      });
    for (BackgroundWork& part : parts) part.wait_and_rethrow();
    if (!in_parts) fill(values, 0, want.count);
  }
  return expected;
}

}  // namespace lab32::grading
