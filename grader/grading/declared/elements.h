// Element types of declared arrays and the ways to fill an array: a named distribution or an
// expression per element. Values pass through double, so 64-bit integers are exact up to 2^53.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/random.h"

namespace lab32::grading {

struct ElementType {
  std::string name;  // as in C++: "float", "unsigned"
  size_t bytes;
  bool whole;  // an integer type
  double (*read)(const std::byte* from);
  // Returns false if the type cannot hold the value, which floating-point types round instead.
  bool (*write)(std::byte* to, double value);
  // All bits random, except poison and values that are no number.
  void (*write_random_value)(std::byte* to, Random& random);
  std::vector<double> special;  // the smallest, the largest, zeros, infinities
};

// nullptr: there is no such type.
const ElementType* find_element_type(const std::string& name);
std::vector<std::string> element_type_names();

// Values of an array on the host.
struct TypedHostArray {
  const ElementType* type = nullptr;
  size_t count = 0;
  std::vector<std::byte> bytes = {};

  TypedHostArray() = default;
  TypedHostArray(const ElementType& of, size_t elements)
      : type(&of), count(elements), bytes(elements * of.bytes) {}
  double at(size_t i) const { return type->read(bytes.data() + i * type->bytes); }
  bool set(size_t i, double value) { return type->write(bytes.data() + i * type->bytes, value); }
};

// What a distribution draws from: the numbers from `from` up to, but not including, `below`.
// Without it: floats from -1 to 1, integers of any bits.
struct ElementValueRange {
  bool given = false;
  double from = 0, below = 0;
};

using ArrayFillFn = void (*)(TypedHostArray& to, const ElementValueRange& range, Random& random);
// uniform, any, small, sorted, constant, ramp, special, minus_infinity; nullptr: there is no such
// one.
ArrayFillFn find_distribution(const std::string& name);
std::vector<std::string> distribution_names();
// Why the distribution cannot fill arrays of this type; empty: it can.
std::string distribution_error(const std::string& distribution, const ElementType& type,
                               bool has_range);

}  // namespace lab32::grading
