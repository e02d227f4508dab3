// Comparing an output with what was expected, in words that help: the first wrong index, how many
// are wrong, and the pattern that they make.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace lab32::grading {

// "every 2nd element from 1 on", "only the last element", "all elements from 1048576 on": what the
// ascending indices `wrong` of `total` have in common; empty: nothing that is easily said.
std::string pattern(const std::vector<size_t>& wrong, size_t total);

// A value as messages print it; poison is named, since 0xffffffff or NaN says little.
template <class T>
std::string show(const T& value) {
  if constexpr (std::is_same_v<T, float>)
    return fmt::format("{:.9g}", value);
  else
    return fmt::format("{}", value);
}

// Fresh and poisoned memory is all ones: what still is has not been written.
template <class T>
bool is_poison(const T& value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  for (unsigned char b : bytes)
    if (b != 0xff) return false;
  return true;
}

// NaN equals nothing, as in IEEE 754: a NaN in an output always fails.
template <class T>
bool matches(const T& got, const T& want, double relative_tolerance) {
  if constexpr (std::is_floating_point_v<T>)
    return got == want ||
           std::abs(double{got} - double{want}) <= relative_tolerance * std::abs(double{want});
  else
    return got == want;
}

// Composes the sentence from its parts; the template below finds them.
std::string mismatch_message(const std::string& name, const std::vector<size_t>& wrong,
                             size_t total, const std::string& got, const std::string& want,
                             size_t unwritten);

// Empty: equal. Else "out[32] is 0 where 1.5 was expected; 1 of 33 elements is wrong: only the
// last one".
template <class T>
std::string mismatch(const std::string& name, const std::vector<T>& got, const std::vector<T>& want,
                     double relative_tolerance = 0) {
  std::vector<size_t> wrong;
  size_t unwritten = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    if (matches(got[i], want[i], relative_tolerance)) continue;
    wrong.push_back(i);
    unwritten += is_poison(got[i]);
  }
  if (wrong.empty()) return "";
  const size_t first = wrong.front();
  return mismatch_message(name, wrong, want.size(), is_poison(got[first]) ? "" : show(got[first]),
                          show(want[first]), unwritten);
}

}  // namespace lab32::grading
