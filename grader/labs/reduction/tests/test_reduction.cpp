// Parts of the reduction lab's suite: inputs with known sums, the error bound for sums of floats,
// and the message about a wrong sum.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/environment.h"
#include "base/files.h"
#include "labs/reduction/sums.h"
#include "tests/fixtures/graded_lab.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/slow.h"

namespace lab32::checks::reduction {

TEST_CASE("checks: reduction: sums of the inputs stay in the range that they promise") {
  for (const size_t count : {size_t{1}, size_t{31}, size_t{1000}, size_t{1048575}}) {
    Random random(count);
    int64_t sizes = 0;
    for (int v : ints_without_sum_overflow(random, count)) sizes += std::abs(int64_t{v});
    CHECK(sizes <= int64_t{1} << 30);
  }
  for (const size_t count : {size_t{64}, size_t{2048}, size_t{1048575}}) {
    Random random(count);
    const std::vector<int> values = ints_with_largest_sum(random, count);
    int64_t sum = 0;
    for (int v : values) {
      CHECK(v >= 0);
      sum += v;
    }
    CHECK(sum == 0x7fffffff);
    // 24 bits cannot represent it.
    CHECK(double{std::accumulate(values.begin(), values.end(), 0.0f)} != 0x7fffffff);
  }
}

TEST_CASE("checks: reduction: one float accumulator breaks the bound, a sum by threads keeps it") {
  constexpr uint64_t kCount = 16777233, kThreads = 256, kBlocks = 1056;
  Random random(3);
  const std::vector<float> values = floats_defeating_serial_sum(random, kCount);
  const auto alike = std::count_if(values.begin(), values.end(), [&](float v) {
    return std::signbit(v) == std::signbit(values[0]) && std::ilogb(v) == std::ilogb(values[0]);
  });
  CHECK(values.size() - static_cast<size_t>(alike) <= 32);
  const double exact = std::accumulate(values.begin(), values.end(), 0.0);
  const double bound = relative_sum_error_bound(kCount, kBlocks * kThreads) * std::abs(exact);
  CHECK(bound < 6e-4 * std::abs(exact));

  CHECK(std::abs(std::accumulate(values.begin(), values.end(), 0.0f) - exact) > 10 * bound);

  std::vector<float> sum_of(kBlocks * kThreads);
  for (size_t i = 0; i < kCount; ++i) sum_of[i % sum_of.size()] += values[i];
  float sum = 0;
  for (size_t block = 0; block < kBlocks; ++block) {
    float* own = &sum_of[block * kThreads];
    for (size_t distance = kThreads / 2; distance > 0; distance /= 2)
      for (size_t t = 0; t < distance; ++t) own[t] += own[t + distance];
    sum += own[0];
  }
  CHECK(std::abs(sum - exact) <= bound);
  // Computed by hand: 63 elements per thread, 10 steps, and 8449 warps, u = 2^-24.
  CHECK(relative_sum_error_bound(kCount, kBlocks * kThreads) ==
        doctest::Approx(8522 * 0x1p-24).epsilon(1e-3));
}

TEST_CASE("checks: reduction: a sum of floats is not that of a sample, nor of an average input" *
          kSlow) {
  constexpr uint64_t kCount = 16777233, kThreads = 1 << 18;
  std::set<float> of_average;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    const std::vector<float> values = floats_defeating_serial_sum(random, kCount);
    const double exact = std::accumulate(values.begin(), values.end(), 0.0);
    const double bound = relative_sum_error_bound(kCount, kThreads) * std::abs(exact);
    double sample = 0;
    for (size_t i = 0; i < kCount; i += 15) sample += values[i];
    CHECK(std::abs(15 * sample - exact) > 2 * bound);
    of_average.insert(static_cast<float>(exact));
  }
  CHECK(of_average.size() == 6);
}

TEST_CASE("checks: reduction: the part of the input that a wrong sum stands for") {
  std::vector<int> in(1003);
  std::iota(in.begin(), in.end(), 1);
  const auto sum = [](int64_t count) { return count * (count + 1) / 2; };
  CHECK(partial_sum_note(in, sum(128), 128, 512).find("first block's elements") !=
        std::string::npos);
  CHECK(partial_sum_note(in, sum(512), 128, 512).find("the first 512 elements alone") !=
        std::string::npos);
  CHECK(partial_sum_note(in, sum(512), 128, 256).find("largest power of two") != std::string::npos);
  CHECK(partial_sum_note(in, sum(1000), 128, 256) == " The last 3 elements are missing.");
  CHECK(partial_sum_note(in, sum(992), 128, 256) == " The last 11 elements are missing.");
  CHECK(partial_sum_note(in, 17, 128, 256).empty());
  CHECK(partial_sum_note({}, 17, 128, 256).find("sum of no elements") != std::string::npos);
}

TEST_CASE("checks: reduction: a launch record that a kernel could change loses its checks") {
  const std::string solution = read_file(lab32_root() / "solutions/reduction/reduction.cu").value();
  const size_t at = solution.find("LAB32_LAUNCH(reduce_v8"), end = solution.find(';', at);
  REQUIRE(end != std::string::npos);
  tests::ScratchDirectory folder;
  const auto device = device::open_device("sim");
  tests::GradedLab lab(
      "reduction",
      folder.write(
          "reduction.cu",
          solution.substr(0, at) +
              "extern \"C\" { __device__ int lab32_launch_reduce_v8[4] = {256, 8, 4, 0}; }" +
              solution.substr(end + 1)),
      *device);
  const report::CheckResult test = lab.grade(1, {"v8: threads"}).tests.at(0);
  CHECK(test.score == 0);
  CHECK(test.message.find("`lab32_launch_reduce_v8` is no __constant__ variable.") !=
        std::string::npos);
}

}  // namespace lab32::checks::reduction
