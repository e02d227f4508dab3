// The bank-conflict lab, part D: the two walks along rows, where conflicts cost most, on a real
// card.

#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"
#include "labs/bank_conflicts/references.h"

namespace lab32::checks::bank_conflicts {
namespace {

constexpr uint32_t kTimedBlock = 256;

// A row a thread: `n` rows come in, and `results` values go out, which are `want` of the input.
template <class T, class Want>
TimedWork row_work(const char* kernel, uint32_t n, size_t results, const InputSets<T>& inputs,
                   Want want) {
  TimedWork work;
  work.arrays = {read_array("in", inputs), written_array<int>("out", results)};
  work.bytes = work.arrays[0].bytes + work.arrays[1].bytes;
  work.steps = [=](device::LoadedModule&, uint32_t) {
    return std::vector<device::TimedStep>{device::TimedLaunch{
        kernel,
        {{blocks_for(n, kTimedBlock)}, {kTimedBlock}},
        {device::ArrayIndex{0}, device::ArrayIndex{1}, device::Arg(static_cast<int>(n))}}};
  };
  work.mismatch = [=](size_t set, const Outputs& outputs) {
    return mismatch("out", values_of<int>(outputs[0]), want(*inputs[set]));
  };
  return work;
}

TimedWork row_scan_work(uint32_t n, size_t sets) {
  const size_t count = size_t{n} * kRowLength;
  const auto inputs =
      input_sets<int>(sets, [count](Random& random) { return integers(random, count, 1000); });
  return row_work("row_scan", n, count, inputs, row_scan_of);
}

TimedWork row_moments_work(uint32_t n, size_t sets) {
  const auto inputs = input_sets<uint8_t>(
      sets, [n](Random& random) { return pixels(random, size_t{n} * kRowLength); });
  return row_work("row_moments", n, n, inputs, row_moments_of);
}

}  // namespace

TEST_SUITE("lab:bank_conflicts") {
  TEST_CASE("D1 row_scan: time" * takes_of_speed()) { credit_speed({"row_scan", row_scan_work}); }

  TEST_CASE("D2 row_moments: time" * takes_of_speed()) {
    credit_speed({"row_moments", row_moments_work});
  }
}

}  // namespace lab32::checks::bank_conflicts
