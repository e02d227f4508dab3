// What the row kernels of the shuffle lab should give, in double precision, and how far a float
// kernel may be from it. Pure functions of a row.
//
// Every bound counts roundings. A row of n elements is summed by a warp at least, in some order: a
// lane takes ceil(n / 32) steps, the merge of the lanes five, a block's warps a few more. So
// k(n) = n / 32 + 10 roundings lie between an element and the result; u = 2^-24 is one rounding.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "grading/words/names.h"

namespace lab32::checks::shuffle {

enum class RowKind { noise, equal, offset, alternating, denormal, outlier, steep, padded };

// "10000 and a little noise": for messages.
const char* name_of(RowKind kind);

// n >= 1 finite values, but for `padded`: some tail of it, never all, is -infinity.
std::vector<float> make_row(RowKind kind, Random& random, uint32_t n);

struct Near {
  double value = 0, tolerance = 0;
};

// |error| <= 2 k u max|x|: a sum's k roundings, twice, since an update adds a difference.
Near mean_of(const std::vector<float>& row);

// Of the whole population (divided by n). Chan, Golub and LeVeque (The American Statistician 37,
// 1983): an update's relative error is at most k u times the condition number
// sqrt(1 + mean^2 / variance), with a small factor, 4 here; the square of the mean's error comes on
// top where the mean is found first. x^2 - mean^2 has the condition number's square instead.
Near variance_of(const std::vector<float>& row);

// e^(x - max) / sum. The exponent x - max is rounded, and a fast exponential rounds it once more:
// an absolute error of the exponent is a relative one of the result, in the numerator and,
// weighted, in the sum; 8 k + 16 roundings for adding up, rescaling and dividing. Below 2^-126
// floats lose digits.
std::vector<Near> softmax_of(const std::vector<float>& row);

// (x - mean) / sqrt(variance + epsilon) * weight + bias: the errors of mean and variance, passed
// on, and 8 roundings.
std::vector<Near> layer_norm_of(const std::vector<float>& row, const std::vector<float>& weight,
                                const std::vector<float>& bias, float epsilon);

// Empty: every value is near enough (NaN never is). Else the sentence of compare.h's mismatch.
std::string far_off(const std::string& name, const std::vector<float>& got,
                    const std::vector<Near>& want);

}  // namespace lab32::checks::shuffle
