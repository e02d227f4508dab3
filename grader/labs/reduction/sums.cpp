#include "labs/reduction/sums.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "grading/engine/check.h"

namespace lab32::checks::reduction {

std::vector<int> small_ints(Random& random, size_t count) {
  // Ranges of at least 32, so that sums of different parts differ.
  const uint32_t size = static_cast<uint32_t>((1u << 30) / std::max<size_t>(count, 1024));
  std::vector<int> values(count);
  for (int& v : values) v = static_cast<int>(random.below(2 * size)) - static_cast<int>(size);
  return values;
}

std::vector<int> ints_to_the_limit(Random& random, size_t count) {
  constexpr int64_t kLimit = 0x7fffffff;
  std::vector<int> values(count);
  const uint32_t mean = static_cast<uint32_t>(kLimit / static_cast<int64_t>(count));
  int64_t sum = 0;
  for (int& v : values) sum += v = static_cast<int>(mean / 2 + random.below(mean / 2));
  // The rest is spread evenly, so that no element stands out.
  const int64_t share = (kLimit - sum) / static_cast<int64_t>(count);
  for (int& v : values) v += static_cast<int>(share);
  values[random.below(static_cast<uint32_t>(count))] +=
      static_cast<int>(kLimit - sum - share * static_cast<int64_t>(count));
  return values;
}

std::vector<float> small_floats(Random& random, size_t count) {
  std::vector<float> values(count);
  for (float& v : values) v = (3.0f + random.unit()) / 32.0f;
  return values;
}

double bound_of(uint64_t n) {
  constexpr uint64_t kFewestThreads = 8192, kSmallestBlock = 256;
  const double chain = static_cast<double>((n + kFewestThreads - 1) / kFewestThreads) + 10 +
                       static_cast<double>((n + kSmallestBlock - 1) / kSmallestBlock);
  const double roundings = chain * 0x1p-24;
  return roundings / (1 - roundings);
}

std::string which_part(const std::vector<int>& in, int64_t sum, uint64_t block, uint64_t reach) {
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

void check_sum(Check& check, const std::string& cell, const std::string& launch, int line,
               const std::string& wrong) {
  if (wrong.empty()) return;
  check.measured("wrong, " + cell);
  check.expected("right");
  check.lose({Failure::Kind::wrong_result, launch}, line, launch + ": " + wrong);
}

}  // namespace lab32::checks::reduction
