// What a timing check times: arrays, launches over them, and how their results are verified.
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

// The arrays without sets, in order, as a launch has left them.
using Outputs = std::vector<device::Bytes>;

struct TimedVersion {
  // The launches; `module` is whose LAB32_LAUNCH records count, the submission's or the
  // reference's.
  std::function<std::vector<device::TimedStep>(device::LoadedModule& module,
                                               uint32_t multiprocessors)>
      steps;
  // "" or what is wrong with the outputs that a launch over the inputs of `set` has left. Several
  // outputs are looked at side by side, so it changes nothing and ends no check.
  std::function<std::string(size_t set, const Outputs& outputs)> mismatch;
  // Where the launches are of a given kernel, over inputs that are the same for every submission:
  // which, and what the inputs follow from. What is modelled of it is kept (given_time.h).
  struct Given {
    std::string kernel, inputs;
  };
  std::optional<Given> given = {};
};

// For one n: all between the input and the final result.
struct TimedWork : TimedVersion {
  std::vector<device::TimedArray> arrays;
  uint64_t bytes = 0;   // that must be moved: each input read once, each output written once
  TimedVersion before;  // of a step: the version that it is a step up from, on the same arrays
};
// `sets`: how many different inputs are made.
using MakeWork = std::function<TimedWork(Check& check, uint32_t n, size_t sets)>;

// An input for each set. They are large: whoever needs them later shares them.
template <class T>
using InputSets = std::vector<std::shared_ptr<const std::vector<T>>>;

// `make` makes one set of its own random numbers, each on a thread.
template <class T, class Make>
InputSets<T> input_sets(Check& check, size_t sets, Make make) {
  Random random = check.random();
  InputSets<T> inputs(sets);
  std::vector<Background> made;
  for (auto& set : inputs)
    made.emplace_back([&set, own = Random(random.bits()), make]() mutable {
      set = std::make_shared<const std::vector<T>>(make(own));
    });
  for (Background& set : made) set.get();
  return inputs;
}
// `sets` inputs of `count` random floats.
InputSets<float> random_inputs(Check& check, size_t sets, size_t count);

// Work that reads each float of `in` once and writes each of `out`, as long, once: arrays and bytes
// of it; steps and mismatch are the caller's.
TimedWork from_in_to_out(const InputSets<float>& inputs);

// The values of an array, as a TimedArray takes and gives them.
template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}
template <class T>
std::vector<T> values_of(const device::Bytes& bytes) {
  const auto* begin = reinterpret_cast<const T*>(bytes.data());
  return {begin, begin + bytes.size() / sizeof(T)};
}

// An array that is read, with an input a set; and one of `count` elements that is written.
template <class T>
device::TimedArray read_array(const std::string& name, const InputSets<T>& inputs) {
  device::TimedArray array{name, inputs.at(0)->size() * sizeof(T), {}};
  for (const auto& input : inputs) array.sets.emplace_back(input);
  return array;
}
// The same values in each set.
template <class T>
device::TimedArray read_array(const std::string& name, const std::vector<T>& values) {
  return {name, values.size() * sizeof(T), {bytes_of(values)}};
}
template <class T>
device::TimedArray written_array(const std::string& name, size_t count) {
  return {name, count * sizeof(T), {}};
}

// What the model says that the launches of a version take from a cold L2, one after the other, on
// the session's device.
// nullopt: the device has no model. A launch that goes wrong loses the check.
std::optional<PredictedTime> predicted_time(Check& check, uint32_t n, const TimedVersion& version,
                                            const std::vector<device::TimedArray>& arrays);

}  // namespace lab32::grading
