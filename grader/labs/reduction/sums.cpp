#include "labs/reduction/sums.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "grading/engine/check.h"

namespace lab32::checks::reduction {

std::vector<int> ints_without_sum_overflow(Random& random, size_t count) {
  // `size` is at least 32 up to 2^25 elements, so that sums of different parts of the array differ.
  const uint32_t size = static_cast<uint32_t>((1u << 30) / std::max<size_t>(count, 1024));
  std::vector<int> values(count);
  for (int& v : values) v = static_cast<int>(random.below(2 * size)) - static_cast<int>(size);
  return values;
}

std::vector<int> ints_with_largest_sum(Random& random, size_t count) {
  constexpr int64_t kLimit = 0x7fffffff;
  std::vector<int> values(count);
  const uint32_t mean = static_cast<uint32_t>(kLimit / static_cast<int64_t>(count));
  int64_t sum = 0;
  for (int& v : values) sum += v = static_cast<int>(mean / 2 + random.below(mean / 2));
  // Adds what is missing from the sum evenly to all elements, so that no element stands out.
  const int64_t share = (kLimit - sum) / static_cast<int64_t>(count);
  for (int& v : values) v += static_cast<int>(share);
  values[random.below(static_cast<uint32_t>(count))] +=
      static_cast<int>(kLimit - sum - share * static_cast<int64_t>(count));
  return values;
}

std::vector<int> zeros_with_one_int_min(Random& random, size_t count) {
  std::vector<int> values(count);
  values[random.below(static_cast<uint32_t>(count))] = std::numeric_limits<int>::min();
  return values;
}

std::vector<float> floats_defeating_serial_sum(Random& random, size_t count) {
  constexpr size_t kBetweenLarge = 1 << 12;
  const float scale =
      std::ldexp(random.below(2) ? 1.0f : -1.0f, static_cast<int>(random.below(9)) - 4);
  // In units of `scale`: the mean is 1.15 to 1.85, and the spread keeps the elements between 1 and
  // 2. All are divided by 16.
  const float mean = 1.5f + 0.35f * random.unit(),
              spread = std::min(mean - 1, 2 - mean) * (0.6f + 0.3f * random.unit());
  std::vector<float> values(count);
  for (float& v : values) v = scale * (mean + spread * random.unit()) / 16;
  // The large elements add up to an eighth to three eighths of the sum of the others.
  const size_t large = std::min<size_t>(count / kBetweenLarge, 32);
  for (size_t i = 0; i < large; ++i)
    values[random.below(static_cast<uint32_t>(count))] =
        scale * (0.25f + 0.125f * random.unit()) * static_cast<float>(count / large) * mean / 16;
  return values;
}

double relative_sum_error_bound(uint64_t n, uint64_t threads) {
  constexpr uint64_t kFewestThreads = 8192, kWarp = 32, kSmallestPart = 256;
  const uint64_t sharing = std::max(threads, kFewestThreads),
                 sums = std::min(threads / kWarp, n / kSmallestPart) + 1;
  const double chain = static_cast<double>((n + sharing - 1) / sharing + 10 + sums);
  const double roundings = chain * 0x1p-24;
  return roundings / (1 - roundings);
}

std::string partial_sum_note(const std::vector<int>& in, int64_t sum, uint64_t block,
                             uint64_t reach) {
  const auto is_sum_of = [&](uint64_t count) {
    return count < in.size() && count > 0 &&
           std::accumulate(in.begin(), in.begin() + static_cast<ptrdiff_t>(count), int64_t{0}) ==
               sum;
  };
  if (in.empty()) return " The sum of no elements is 0, which the kernel must write.";
  if (is_sum_of(block)) return " It is the sum of the first block's elements alone.";
  if (is_sum_of(reach)) return fmt::format(" It is the sum of the first {} elements alone.", reach);
  uint64_t power = 1;
  while (2 * power <= in.size()) power *= 2;
  if (is_sum_of(power))
    return fmt::format(" It is the sum of the first {} elements: the largest power of two in n.",
                       power);
  for (uint64_t unit : {uint64_t{4}, uint64_t{32}, block})
    if (is_sum_of(in.size() / unit * unit))
      return fmt::format(" The last {} elements are missing.", in.size() % unit);
  return "";
}

uint32_t random_from_range(Check& check, const std::string& key, Random& random) {
  const std::vector<double> range = check.row.required_numbers(key);
  const uint32_t least = static_cast<uint32_t>(range.at(0));
  return least + random.below(static_cast<uint32_t>(range.at(1)) - least + 1);
}

void lose_if_wrong_sum_text_given(Check& check, const std::string& cell, const std::string& launch,
                                  int line, const std::string& wrong) {
  if (wrong.empty()) return;
  check.measured("wrong, " + cell);
  check.expected("right");
  check.fail_and_throw({CheckFailureReason::Kind::wrong_result, launch}, line,
                       launch + ": " + wrong);
}

}  // namespace lab32::checks::reduction
