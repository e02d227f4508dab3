// Device arrays of a check: Input for arrays that a kernel may only read, Output for those that it
// writes. Outputs are poisoned before each launch, and the harness compares inputs afterwards, to
// find kernels that change them. mismatch() compares an output with the expected values on the
// host; these never go to the device.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "base/random.h"
#include "device/device.h"

namespace lab32::grading {

struct Check;

// An allocation that is freed at the end of its scope. `name` is the name in messages: that of the
// kernel's parameter.
class DeviceArray {
 public:
  DeviceArray(Check& check, std::string name, size_t element_bytes, size_t count);
  virtual ~DeviceArray();
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  device::DeviceAddressRange buffer() const { return buffer_; }
  operator device::KernelArgument() const { return device::KernelArgument(buffer_); }
  const std::string& name() const { return name_; }
  size_t count() const { return count_; }
  size_t element_bytes() const { return element_bytes_; }

  void poison();
  // The index of the first element that a launch has changed although kernels may only read the
  // array; -1: there is none.
  virtual ptrdiff_t first_changed_input_element() const { return -1; }
  virtual bool read_only() const { return false; }  // whether kernels may only read it

 protected:
  void upload(const void* from);
  void download(void* to) const;
  // The index of the first element that differs from `values`; -1: none.
  ptrdiff_t first_difference(const void* values) const;

 private:
  Check& check_;
  std::string name_;
  size_t element_bytes_, count_;
  device::DeviceAddressRange buffer_;
};

// An array that a kernel only reads.
template <class T>
class Input : public DeviceArray {
 public:
  Input(Check& check, std::string name, std::vector<T> values)
      : DeviceArray(check, std::move(name), sizeof(T), values.size()), values_(std::move(values)) {
    upload(values_.data());
  }
  const std::vector<T>& values() const { return values_; }

  ptrdiff_t first_changed_input_element() const override {
    return first_difference(values_.data());
  }
  bool read_only() const override { return true; }

 private:
  std::vector<T> values_;
};

// An array that a kernel writes. It is poisoned at first.
template <class T>
class Output : public DeviceArray {
 public:
  Output(Check& check, std::string name, size_t count)
      : DeviceArray(check, std::move(name), sizeof(T), count) {}
  // An array that the kernel updates in place. It holds `values` at first.
  Output(Check& check, std::string name, const std::vector<T>& values)
      : DeviceArray(check, std::move(name), sizeof(T), values.size()) {
    upload(values.data());
  }
  std::vector<T> read() const {
    std::vector<T> values(count());
    download(values.data());
    return values;
  }
};

// "in[17]", by the arrays of the last launch; the plain address if no array holds it.
std::string name_of_address(Check& check, uint64_t address);

// What the ascending indices `wrong` of `total` elements have in common: "every 2nd element from 1
// on", "only the last element", "all elements from 1048576 on". Empty: no simple pattern.
std::string index_pattern_text(const std::vector<size_t>& wrong, size_t total);

// A value for messages. Poison is shown as "unwritten value", since 0xffffffff or NaN says little.
template <class T>
std::string show(const T& value) {
  if constexpr (std::is_same_v<T, float>)
    return fmt::format("{:.9g}", value);
  else
    return fmt::format("{}", value);
}

// Poison is all ones: an element that still has it has not been written.
template <class T>
bool is_poison(const T& value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  for (unsigned char b : bytes)
    if (b != 0xff) return false;
  return true;
}

// NaN equals nothing, as in IEEE 754, so a NaN in an output always fails.
template <class T>
bool matches(const T& got, const T& want, double relative_tolerance) {
  if constexpr (std::is_floating_point_v<T>)
    return got == want || (std::isfinite(want) && std::abs(double{got} - double{want}) <=
                                                      relative_tolerance * std::abs(double{want}));
  else
    return got == want;
}

// The message of mismatch(), from what mismatch() has found: `wrong` holds the indices of the wrong
// elements, and `got` and `want` are the values of the first one; `got` is empty if that was not
// written. `unwritten`: how many of them were not written.
std::string mismatch_message(const std::string& name, const std::vector<size_t>& wrong,
                             size_t total, const std::string& got, const std::string& want,
                             size_t unwritten);

// Empty if all values are equal. Otherwise "out[32] is 0 where 1.5 was expected; 1 of 33 elements
// is wrong: only the last one".
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

// ---- special values ----

// Inputs with values that a wrong kernel may treat differently from others. labs/<lab>/inputs.toml
// says which of them each task allows.

// Replaces one element of `values` by each of `special`, at places that are drawn. Leaves arrays
// that are shorter as they are.
template <class T>
void overwrite_at_random_places(Random& random, std::vector<T>& values,
                                const std::vector<T>& special) {
  const size_t part = values.size() / special.size();
  if (part == 0) return;
  for (size_t i = 0; i < special.size(); ++i)
    values[i * part + random.below(static_cast<uint32_t>(part))] = special[i];
}

// Floats of any kind but NaN, which equals nothing.
inline std::vector<float> special_floats_without_nan(Random& random, size_t count) {
  using Limits = std::numeric_limits<float>;
  std::vector<float> values = random.floats(count);
  overwrite_at_random_places(random, values,
                             {0.0f, -0.0f, Limits::denorm_min(), -Limits::min() / 3, Limits::max(),
                              Limits::lowest(), Limits::infinity(), -Limits::infinity()});
  return values;
}

}  // namespace lab32::grading
