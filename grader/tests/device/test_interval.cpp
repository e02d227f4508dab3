// The interval of a median, against tables and against coin tosses.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "gpu/timer.h"

using namespace lab32::device;

TEST_SUITE("device interval") {
  TEST_CASE("device: the ranks of the interval are those of the sign test's tables") {
    // Conover, Practical Nonparametric Statistics: 95 % intervals of a median by sample size.
    const struct {
      int n, rank;
    } table[] = {{6, 1}, {8, 1}, {9, 2}, {11, 2}, {12, 3}, {15, 4}, {20, 6}, {25, 8}, {30, 10}};
    for (const auto& row : table) {
      std::vector<double> values;
      for (int i = row.n; i >= 1; --i) values.push_back(i);
      const MedianInterval interval = median_interval(values);
      CAPTURE(row.n);
      CHECK(interval.low == row.rank);
      CHECK(interval.high == row.n + 1 - row.rank);
      CHECK(interval.median == (row.n + 1) / 2.0);
    }
  }

  TEST_CASE(
      "device: it holds the true median at least 95 times in 100, whatever the distribution") {
    std::mt19937 random(7);
    std::exponential_distribution<double> skewed(1.0);
    const double truth = std::log(2.0);
    int held = 0;
    const int tries = 2000;
    for (int t = 0; t < tries; ++t) {
      std::vector<double> values(31);
      for (double& v : values) v = skewed(random);
      const MedianInterval interval = median_interval(values);
      held += interval.low <= truth && truth <= interval.high;
    }
    CHECK(held >= 0.95 * tries - 30);  // three standard deviations of the count
  }

  TEST_CASE("device: the median's interval is right for few, equal and many values") {
    CHECK(median_interval({3}).low == 3);
    CHECK(median_interval({3}).high == 3);
    CHECK(median_interval({1, 2}).median == 1.5);
    CHECK(median_interval(std::vector<double>(50, 2.0)).spread() == 0);
    std::vector<double> many(1001);
    for (int i = 0; i <= 1000; ++i) many[static_cast<size_t>(i)] = i;
    const MedianInterval interval = median_interval(many);
    // 500 -+ 1.96 * sqrt(1001) / 2
    CHECK(std::abs(interval.low - 469) <= 1);
    CHECK(std::abs(interval.high - 531) <= 1);
  }

  TEST_CASE("device: ratios are computed round by round") {
    CHECK(ratios({2, 9}, {1, 3}) == std::vector<double>{2, 3});
  }
}
