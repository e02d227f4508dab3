// The bank-conflict lab, part D: the two walks along rows, where conflicts cost most, on a real
// card.

#include "labs/bank_conflicts_references.h"
#include "labs/rule.h"
#include "labs/speed.h"
#include "labs/suite.h"

namespace lab32::labs {
namespace {

constexpr uint32_t kBlock = 256;

// A row a thread: `n` rows come in, and a result goes out whose values are `want` of the input.
template <class T, class Want>
TimedWork row_work(const char* kernel, uint32_t n, std::vector<std::vector<T>> inputs, Want want) {
  TimedWork work;
  const auto kept = std::make_shared<const std::vector<std::vector<T>>>(std::move(inputs));
  const size_t results = want(kept->front()).size();
  work.arrays = {read_array("in", *kept), written_array<int>("out", results)};
  work.bytes = work.arrays[0].bytes + work.arrays[1].bytes;
  work.steps = [=](device::Module&, uint32_t) {
    return std::vector<device::TimedStep>{device::TimedLaunch{
        kernel,
        {{blocks_for(n, kBlock)}, {kBlock}},
        {device::ArrayIndex{0}, device::ArrayIndex{1}, device::Arg(static_cast<int>(n))}}};
  };
  work.mismatch = [=](size_t set, const Outputs& outputs) {
    return mismatch("out", values_of<int>(outputs[0]), want((*kept)[set]));
  };
  return work;
}

TimedWork row_scan_work(uint32_t n, size_t sets) {
  Random random = session().random();
  std::vector<std::vector<int>> inputs;
  for (size_t s = 0; s < sets; ++s)
    inputs.push_back(integers(random, size_t{n} * kRowLength, 1000));
  return row_work("row_scan", n, std::move(inputs), row_scan_of);
}

TimedWork row_moments_work(uint32_t n, size_t sets) {
  Random random = session().random();
  std::vector<std::vector<uint8_t>> inputs;
  for (size_t s = 0; s < sets; ++s) inputs.push_back(pixels(random, size_t{n} * kRowLength));
  return row_work("row_moments", n, std::move(inputs), row_moments_of);
}

}  // namespace

TEST_SUITE("lab:bank_conflicts") {
  TEST_CASE("D1 row_scan: time" * timed(5)) {
    credit_speed(Rule("row_scan_time"), {"row_scan", "B1 row_scan: result", row_scan_work});
  }

  TEST_CASE("D2 row_moments: time" * timed(5)) {
    credit_speed(Rule("row_moments_time"),
                 {"row_moments", "B4 row_moments: result", row_moments_work});
  }
}

}  // namespace lab32::labs
