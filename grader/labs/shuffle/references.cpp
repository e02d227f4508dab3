#include "labs/shuffle/references.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "grading/launch/arrays.h"

namespace lab32::checks::shuffle {
namespace {

constexpr double kRounding = 0x1p-24, kSmallest = 0x1p-149;

double roundings(size_t n) { return static_cast<double>(n) / 32 + 10; }

double largest_magnitude(const std::vector<float>& row) {
  double most = 0;
  for (float x : row) most = std::max(most, std::abs(double{x}));
  return most;
}

}  // namespace

const char* row_value_pattern_text(RowValuePattern kind) {
  switch (kind) {
    case RowValuePattern::noise:
      return "noise between -1 and 1";
    case RowValuePattern::equal:
      return "all equal";
    case RowValuePattern::offset:
      return "10000 and a little noise";
    case RowValuePattern::alternating:
      return "1e8, -1e8, 1e8, ...";
    case RowValuePattern::denormal:
      return "denormal numbers";
    case RowValuePattern::outlier:
      return "10000 and noise, but the first is 0";
    case RowValuePattern::steep:
      return "rising from -500 to 500";
    case RowValuePattern::padded:
      return "noise, and -inf to the end";
    case RowValuePattern::largest:
      return "the largest float, and minus that, by turns";
    case RowValuePattern::lowest:
      return "the lowest finite float";
    case RowValuePattern::nothing:
      return "nothing but -inf";
  }
  return "";
}

std::vector<float> make_row(RowValuePattern kind, Random& random, uint32_t n) {
  constexpr float kLargest = std::numeric_limits<float>::max(),
                  kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> row(n);
  const float level = 1.5f + random.unit() / 2;
  const uint32_t used = 1 + random.below(n);
  for (uint32_t i = 0; i < n; ++i) {
    const float noise = random.unit();
    switch (kind) {
      case RowValuePattern::noise:
        row[i] = noise;
        break;
      case RowValuePattern::equal:
        row[i] = level;
        break;
      case RowValuePattern::offset:
        row[i] = 10000 + noise;
        break;
      case RowValuePattern::alternating:
        row[i] = (i % 2 ? -1e8f : 1e8f) + 100 * noise;
        break;
      case RowValuePattern::denormal:
        row[i] = 1e-39f * noise;
        break;
      case RowValuePattern::outlier:
        row[i] = i == 0 ? 0 : 10000 + noise;
        break;
      case RowValuePattern::steep:
        row[i] = (1000.0f * static_cast<float>(i)) / static_cast<float>(n) - 500;
        break;
      case RowValuePattern::padded:
        row[i] = i < used ? noise : -kInfinity;
        break;
      case RowValuePattern::largest:
        row[i] = i % 2 ? -kLargest : kLargest;
        break;
      case RowValuePattern::lowest:
        row[i] = -kLargest;
        break;
      case RowValuePattern::nothing:
        row[i] = -kInfinity;
        break;
    }
  }
  return row;
}

ExpectedValue mean_of(const std::vector<float>& row) {
  double sum = 0;
  for (float x : row) sum += x;
  const double k = roundings(row.size());
  return {sum / static_cast<double>(row.size()),
          2 * k * (kRounding * largest_magnitude(row) + kSmallest)};
}

ExpectedValue variance_of(const std::vector<float>& row) {
  const ExpectedValue mean = mean_of(row);
  double squares = 0;
  for (float x : row) squares += (x - mean.value) * (x - mean.value);
  const double variance = squares / static_cast<double>(row.size());
  const double spread = std::sqrt(variance * (variance + mean.value * mean.value));
  return {variance, 4 * roundings(row.size()) * (kRounding * spread + kSmallest) +
                        mean.tolerance * mean.tolerance};
}

std::vector<ExpectedValue> softmax_of(const std::vector<float>& row) {
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0, weighted = 0;
  for (float x : row) {
    const double e = std::exp(x - top);
    sum += e;
    if (e > 0) weighted += e * (top - x);
  }
  const double base = 3 * weighted / sum + 8 * roundings(row.size()) + 16;
  std::vector<ExpectedValue> want;
  for (float x : row) {
    const double y = std::exp(x - top) / sum;
    want.push_back({y, y == 0 ? 0x1p-126 : kRounding * y * (3 * (top - x) + base) + 0x1p-126});
  }
  return want;
}

std::vector<ExpectedValue> layer_norm_of(const std::vector<float>& row,
                                         const std::vector<float>& weight,
                                         const std::vector<float>& bias, float epsilon) {
  const ExpectedValue mean = mean_of(row), variance = variance_of(row);
  const double spread = std::sqrt(variance.value + epsilon);
  std::vector<ExpectedValue> want;
  for (size_t i = 0; i < row.size(); ++i) {
    const double z = (row[i] - mean.value) / spread;
    const double of_variance = variance.tolerance / (2 * spread * spread);
    const double tolerance = mean.tolerance / spread + std::abs(z) * (of_variance + 8 * kRounding);
    want.push_back({z * weight[i] + bias[i],
                    tolerance * std::abs(weight[i]) + 8 * kRounding * std::abs(bias[i])});
  }
  return want;
}

std::string value_mismatch(const std::string& name, const std::vector<float>& got,
                           const std::vector<ExpectedValue>& want) {
  std::vector<size_t> wrong;
  size_t unwritten = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    // `<=` is false for NaN, which is thus wrong everywhere. The equality is for infinities, whose
    // difference is NaN.
    if (got[i] == want[i].value || std::abs(got[i] - want[i].value) <= want[i].tolerance) continue;
    wrong.push_back(i);
    unwritten += is_poison(got[i]);
  }
  if (wrong.empty()) return "";
  const size_t first = wrong.front();
  std::string expected_text = fmt::format("{:.9g}", want[first].value);
  if (want[first].tolerance > 0)
    expected_text += fmt::format(", give or take {:.1e},", want[first].tolerance);
  return mismatch_message(name, wrong, want.size(), is_poison(got[first]) ? "" : show(got[first]),
                          expected_text, unwritten);
}

}  // namespace lab32::checks::shuffle
