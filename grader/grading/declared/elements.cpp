#include "grading/declared/elements.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace lab32::grading {
namespace {

template <class T>
T read_as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
double read_element(const std::byte* from) {
  return static_cast<double>(read_as<T>(from));
}

template <class T>
bool write_element(std::byte* to, double value) {
  if constexpr (std::is_integral_v<T>) {
    // The largest value of a 64-bit type is no double: compare with the power of two above it.
    if (value != std::floor(value) ||
        value < static_cast<double>(std::numeric_limits<T>::lowest()) ||
        value >= std::ldexp(1.0, std::numeric_limits<T>::digits))
      return false;
  }
  const T converted = static_cast<T>(value);
  std::memcpy(to, &converted, sizeof converted);
  return true;
}

template <class T>
void write_random_value(std::byte* to, Random& random) {
  T value;
  if constexpr (std::is_floating_point_v<T>)
    value = random.unit();
  else
    do value = static_cast<T>(random.bits());
    while (value == static_cast<T>(~uint64_t{0}));
  std::memcpy(to, &value, sizeof value);
}

template <class T>
ElementType make_element_type(const char* name) {
  using Limits = std::numeric_limits<T>;
  ElementType made{name,
                   sizeof(T),
                   std::is_integral_v<T>,
                   &read_element<T>,
                   &write_element<T>,

                   &write_random_value<T>,
                   {}};
  made.special = {0.0, 1.0, static_cast<double>(Limits::lowest())};
  if (std::is_integral_v<T>) {
    if (std::is_signed_v<T> && sizeof(T) < 8)
      made.special.push_back(static_cast<double>(Limits::max()));
    return made;
  }
  for (const double more :
       {-0.0, -1.0, static_cast<double>(Limits::max()), static_cast<double>(Limits::min()),
        static_cast<double>(Limits::denorm_min()), 1 + static_cast<double>(Limits::epsilon()),
        HUGE_VAL, -HUGE_VAL})
    made.special.push_back(more);
  return made;
}

const std::vector<ElementType>& all_element_types() {
  static const std::vector<ElementType> types = {
      make_element_type<int>("int"),
      make_element_type<unsigned>("unsigned"),
      make_element_type<float>("float"),
      make_element_type<double>("double"),
      make_element_type<short>("short"),
      make_element_type<unsigned short>("unsigned short"),
      make_element_type<signed char>("signed char"),
      make_element_type<unsigned char>("unsigned char"),
      make_element_type<long long>("long long"),
      make_element_type<unsigned long long>("unsigned long long")};
  return types;
}

// One element of the range. `random.unit()` is in [-1, 1) in steps of 2^-23.
void write_uniform(TypedHostArray& to, size_t i, const ElementValueRange& range, Random& random) {
  if (!range.given) {
    to.type->write_random_value(to.bytes.data() + i * to.type->bytes, random);
    return;
  }
  const double width = range.below - range.from;
  to.set(i, to.type->whole ? range.from + std::floor(static_cast<double>(random.bits() >> 11) *
                                                     0x1p-53 * width)
                           : range.from + (double{random.unit()} + 1) / 2 * width);
}

void fill_uniform(TypedHostArray& to, const ElementValueRange& range, Random& random) {
  for (size_t i = 0; i < to.count; ++i) write_uniform(to, i, range, random);
}

// Nonzero whole numbers, the sum of whose absolute values is at most 2^24: floats add them exactly
// in any order, and a missing element always changes the sum.
void fill_exactly_summable_integers(TypedHostArray& to, const ElementValueRange& /*range*/,
                                    Random& random) {
  const size_t elements = std::max<size_t>(to.count, 1);
  const double largest = to.type->bytes == 1 ? 100 : 4096;
  const auto most = static_cast<uint32_t>(
      std::clamp(std::floor(0x1p24 / static_cast<double>(elements)), 1.0, largest));
  for (size_t i = 0; i < to.count; ++i) {
    const double value = 1 + random.below(most);
    if (!random.below(2) || !to.set(i, -value)) to.set(i, value);
  }
}

void fill_sorted(TypedHostArray& to, const ElementValueRange& range, Random& random) {
  fill_uniform(to, range, random);
  std::vector<double> values(to.count);
  for (size_t i = 0; i < to.count; ++i) values[i] = to.at(i);
  std::sort(values.begin(), values.end());
  for (size_t i = 0; i < to.count; ++i) to.set(i, values[i]);
}

void fill_constant(TypedHostArray& to, const ElementValueRange& range, Random& random) {
  if (to.count == 0) return;
  write_uniform(to, 0, range, random);
  for (size_t i = 1; i < to.count; ++i) to.set(i, to.at(0));
}

void fill_ramp(TypedHostArray& to, const ElementValueRange& range, Random& /*random*/) {
  for (size_t i = 0; i < to.count; ++i)
    to.set(i, range.given ? range.from + std::fmod(static_cast<double>(i), range.below - range.from)
                          : static_cast<double>(i));
}

void fill_special_values(TypedHostArray& to, const ElementValueRange& /*range*/, Random& random) {
  const std::vector<double>& all = to.type->special;
  for (size_t i = 0; i < to.count; ++i)
    to.set(i, all[random.below(static_cast<uint32_t>(all.size()))]);
}

// Uniform, and each special value once if there is room.
void fill_uniform_with_specials(TypedHostArray& to, const ElementValueRange& range,
                                Random& random) {
  fill_uniform(to, range, random);
  const std::vector<double>& all = to.type->special;
  const size_t part = to.count / all.size();
  for (size_t i = 0; part > 0 && i < all.size(); ++i)
    to.set(i * part + random.below(static_cast<uint32_t>(part)), all[i]);
}

void fill_minus_infinity(TypedHostArray& to, const ElementValueRange& /*range*/,
                         Random& /*random*/) {
  for (size_t i = 0; i < to.count; ++i) to.set(i, -HUGE_VAL);
}

struct NamedDistribution {
  const char* name;
  ArrayFillFn fill;
};
constexpr NamedDistribution kDistributions[] = {{"uniform", fill_uniform},
                                                {"small", fill_exactly_summable_integers},
                                                {"sorted", fill_sorted},
                                                {"constant", fill_constant},
                                                {"ramp", fill_ramp},
                                                {"special", fill_special_values},
                                                {"any", fill_uniform_with_specials},
                                                {"minus_infinity", fill_minus_infinity}};

}  // namespace

const ElementType* find_element_type(const std::string& name) {
  for (const ElementType& one : all_element_types())
    if (one.name == name) return &one;
  return nullptr;
}

std::vector<std::string> element_type_names() {
  std::vector<std::string> names;
  for (const ElementType& one : all_element_types()) names.push_back(one.name);
  return names;
}

ArrayFillFn find_distribution(const std::string& name) {
  for (const NamedDistribution& one : kDistributions)
    if (one.name == name) return one.fill;
  return nullptr;
}

std::vector<std::string> distribution_names() {
  std::vector<std::string> names;
  for (const NamedDistribution& one : kDistributions) names.emplace_back(one.name);
  return names;
}

std::string distribution_error(const std::string& distribution, const ElementType& type,
                               bool has_range) {
  if (distribution == "minus_infinity" && type.whole) return "an integer type has no infinity";
  const bool uses_range = distribution != "small" && distribution != "special" &&
                          distribution != "any" && distribution != "minus_infinity";
  if (has_range && !uses_range) return "it takes no `from` and `below`";
  return "";
}

}  // namespace lab32::grading
