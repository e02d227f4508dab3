// The work of a timing check: the arrays, the launches over them, and the verification of their
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/work.h"
#include "gpu/timer.h"
#include "grading/engine/check.h"

namespace lab32::grading {

// The arrays that launches write, in order.
using Outputs = std::vector<device::RefCountedBytes>;

struct TimedVersion {
  // Returns the launches of this version. `module` is the submission's or the reference solution's,
  // whose LAB32_LAUNCH records choose the shapes.
  std::function<std::vector<device::StepToTime>(device::LoadedModule& module,
                                                uint32_t multiprocessors)>
      steps;
  // Compares the outputs of a launch over the inputs of `set` with the expected values; "" if they
  // are right. Several threads call it, so it changes nothing and ends no check.
  std::function<std::string(size_t set, const Outputs& outputs)> mismatch;
  // For launches of a given kernel over inputs that are the same for every submission: the kernel
  // and what the inputs depend on. The modelled time is cached (given_time.h).
  struct GivenKernelCacheKey {
    std::string kernel, inputs;
  };
  std::optional<GivenKernelCacheKey> given = {};
};

// The work for one n, from the input to the final result.
struct WorkloadToTime : TimedVersion {
  std::vector<device::KernelArrayArgument> arrays;
  uint64_t bytes = 0;   // to move: each input read once, each output written once
  TimedVersion before;  // for a step: the previous version, on the same arrays
};
// `sets`: the number of different inputs to make.
using MakeWork = std::function<WorkloadToTime(Check& check, uint32_t n, size_t sets)>;

// One input per set. The inputs are large, so copies of this type share them.
template <class T>
using InputSets = std::vector<std::shared_ptr<const std::vector<T>>>;

// Makes the sets in parallel, each with random numbers of its own.
template <class T, class Make>
InputSets<T> generate_host_input_sets(Check& check, size_t sets, Make make) {
  Random random = check.random();
  InputSets<T> inputs(sets);
  std::vector<BackgroundWork> made;
  for (auto& set : inputs)
    made.emplace_back([&set, own = Random(random.bits()), make]() mutable {
      set = std::make_shared<const std::vector<T>>(make(own));
    });
  for (BackgroundWork& set : made) set.wait_and_rethrow();
  return inputs;
}
// `sets` inputs of `count` random floats.
InputSets<float> random_input_sets(Check& check, size_t sets, size_t count);

// Work that reads each float of the inputs once and writes as many. It has the arrays and their
// bytes; the caller adds steps and mismatch.
WorkloadToTime work_with_in_and_out(const InputSets<float>& inputs);

// The values of an array in the form that a KernelArrayArgument uses.
template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}
template <class T>
std::vector<T> values_of(const device::RefCountedBytes& bytes) {
  const auto* begin = reinterpret_cast<const T*>(bytes.data());
  return {begin, begin + bytes.size() / sizeof(T)};
}

// An array that the timed kernels read, with an input of its own for each set.
template <class T>
device::KernelArrayArgument input_array(const std::string& name, const InputSets<T>& inputs) {
  device::KernelArrayArgument array{name, inputs.at(0)->size() * sizeof(T), {}};
  for (const auto& input : inputs) array.sets.emplace_back(input);
  return array;
}
// An array that the timed kernels read, with the same values in each set.
template <class T>
device::KernelArrayArgument input_array(const std::string& name, const std::vector<T>& values) {
  return {name, values.size() * sizeof(T), {bytes_of(values)}};
}
template <class T>
device::KernelArrayArgument output_array(const std::string& name, size_t count) {
  return {name, count * sizeof(T), {}};
}

// The modelled time of a version's launches, one after the other from a cold L2, on the session's
// device. nullopt: the device has no model. A launch that fails loses the check.
std::optional<PredictedTime> predicted_time(Check& check, uint32_t n, const TimedVersion& version,
                                            const std::vector<device::KernelArrayArgument>& arrays);

}  // namespace lab32::grading
