#include "gpu/interval.h"

#include <algorithm>
#include <cmath>

namespace lab32::device {

Interval median_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  Interval result;
  result.median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  // The largest `cut` for which fewer than `cut` values below the median is a case of at most 1 in
  // 40.
  size_t cut = 0;
  double log_term = -static_cast<double>(n) * std::log(2.0), below = 0;
  for (size_t k = 0; k < n / 2; ++k) {
    below += std::exp(log_term);
    if (below > 0.025) break;
    cut = k + 1;
    log_term += std::log(static_cast<double>(n - k)) - std::log(static_cast<double>(k + 1));
  }
  const size_t first = cut > 0 ? cut - 1 : 0;
  result.low = values[first];
  result.high = values[n - 1 - first];
  return result;
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(std::min(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) result[i] = a[i] / b[i];
  return result;
}

}  // namespace lab32::device
