// Medians with an interval that assumes nothing about how times are distributed: they have a floor,
// a long tail and sometimes two humps, so no mean and no standard deviation says much about them.
#pragma once

#include <vector>

namespace lab32::device {

struct Interval {
  double median = 0, low = 0, high = 0;  // low..high holds the true median with 95 % confidence
  // Half of its width, as a share of the median.
  double spread() const { return median > 0 ? (high - low) / 2 / median : 0; }
};

// By order statistics: each value is below the true median with probability 1/2, so the number that
// are is binomial. Below six values no interval has 95 %: low and high are the extremes then.
// `values` must not be empty.
Interval median_interval(std::vector<double> values);

// a[i] / b[i], paired: what disturbs a round disturbs both, and falls out.
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace lab32::device
