// Checks of speed: the submission's kernels against a copy of as many bytes, timed in turns on the
// same card. Where there is no card they are not run, and what the model predicts is shown instead.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device/stopwatch.h"
#include "labs/rule.h"

namespace lab32::labs {

// What is timed, for one n: all between the input and the final result.
struct TimedWork {
  std::vector<device::TimedArray> arrays;
  // The launches; `module` is whose LAB32_LAUNCH records count, the submission's or the
  // reference's.
  std::function<std::vector<device::TimedStep>(device::Module& module, uint32_t multiprocessors)>
      steps;
  uint64_t bytes = 0;  // that must be moved: each input read once, each output written once
  // "" or what is wrong with the outputs (the arrays without sets, in order) that a launch over the
  // inputs of `set` has left.
  std::function<std::string(size_t set, const std::vector<std::vector<std::byte>>& outputs)>
      mismatch;
};
// `sets`: how many different inputs are wanted.
using MakeWork = std::function<TimedWork(uint32_t n, size_t sets)>;

// Work that reads each float of `in` (an input a set) once and writes each of `out`, as long, once:
// arrays and bytes of it; steps and mismatch are the caller's.
TimedWork from_in_to_out(const std::vector<std::vector<float>>& inputs);
// `sets` inputs of `count` random floats.
std::vector<std::vector<float>> random_inputs(size_t sets, size_t count);

struct SpeedCheck {
  std::string kernel;  // whose line is quoted
  std::string after;   // the test of its result: a kernel that does nothing is fast
  MakeWork make;
  device::Yardstick yardstick = device::Yardstick::none;
};

// Points for time: all where the card gives the work at least rule's `fraction` of the bandwidth of
// a copy in the same run, in proportion below. rule's `n` is timed; `n_modelled` is what is
// simulated where there is no card. Inconclusive (the interval holds the limit) counts for the
// student.
void credit_speed(const Rule& rule, const SpeedCheck& check);

// The values of an array, as a TimedArray takes and gives them.
template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}
template <class T>
std::vector<T> values_of(const std::vector<std::byte>& bytes) {
  const auto* begin = reinterpret_cast<const T*>(bytes.data());
  return {begin, begin + bytes.size() / sizeof(T)};
}

}  // namespace lab32::labs
