// The expected results of the shuffle lab's row kernels, in double precision, and the tolerance of
// a float kernel. Pure functions of a row.
//
// Every tolerance counts roundings. At least a warp adds the n elements of a row, in any order:
// each lane takes ceil(n / 32) steps, merging the lanes takes five, and merging the warps of a
// block a few more. So k(n) = n / 32 + 10 roundings lie between an element and the result; u =
// 2^-24 is one rounding.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "grading/words/words.h"

namespace lab32::checks::shuffle {

enum class RowValuePattern {
  noise,
  equal,
  offset,
  alternating,
  denormal,
  outlier,
  steep,
  padded,
  largest,
  lowest,
  nothing
};

// "10000 and a little noise": for messages.
const char* row_value_pattern_text(RowValuePattern kind);

// Makes n >= 1 values. In a `padded` row some values at the end, never all, are -infinity; in a row
// of `nothing` all are. The values of all other kinds are finite.
std::vector<float> make_row(RowValuePattern kind, Random& random, uint32_t n);

struct ExpectedValue {
  double value = 0, tolerance = 0;
};

// The tolerance is 2 k u max|x|: k roundings of a sum, twice, because an update also rounds a
// difference.
ExpectedValue mean_of(const std::vector<float>& row);

// The variance of the whole population (divided by n). Chan, Golub and LeVeque (The American
// Statistician 37, 1983): the relative error of an update is at most k u times the condition number
// sqrt(1 + mean^2 / variance), with a small factor, 4 here. If the mean is found first, the square
// of its error is added. x^2 - mean^2 has the square of the condition number instead.
ExpectedValue variance_of(const std::vector<float>& row);

// e^(x - max) / sum. The exponent x - max is rounded, and a fast exponential rounds it again. An
// absolute error of the exponent is a relative error of the result, in the numerator and, weighted,
// in the sum. 8 k + 16 roundings cover adding, rescaling and dividing. Below 2^-126 floats lose
// digits.
std::vector<ExpectedValue> softmax_of(const std::vector<float>& row);

// (x - mean) / sqrt(variance + epsilon) * weight + bias. The tolerance covers the errors of mean
// and variance, and 8 roundings.
std::vector<ExpectedValue> layer_norm_of(const std::vector<float>& row,
                                         const std::vector<float>& weight,
                                         const std::vector<float>& bias, float epsilon);

// Empty if every value is within its tolerance; a NaN never is. Otherwise a sentence like that of
// mismatch() in arrays.h.
std::string value_mismatch(const std::string& name, const std::vector<float>& got,
                           const std::vector<ExpectedValue>& want);

}  // namespace lab32::checks::shuffle
