// Inputs of the reduction lab with known sums, the tolerance of float sums, and explanations of
// wrong sums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "grading/words/words.h"

namespace lab32::checks::reduction {

// `count` ints, the sum of whose absolute values is at most 2^30, so no order of adding overflows.
std::vector<int> ints_without_sum_overflow(Random& random, size_t count);

// `count` nonnegative ints with the sum 2^31 - 1. No order of adding them overflows an int, and no
// narrower type holds the sum, nor do the 24 bits of a float.
std::vector<int> ints_with_largest_sum(Random& random, size_t count);

// Zeros, and at one place the least int, -2^31.
std::vector<int> zeros_with_one_int_min(Random& random, size_t count);

// Floats of one sign, which is drawn, as are their mean and spread. Most lie between a power of two
// and the next: once a sum is 2^24 times as large as the lower one, each of them is less than an
// ulp of it, so a kernel that adds more than 2^24 of them one after the other is wrong by far more
// than relative_sum_error_bound() allows. In a large array up to 32 elements are so large that a
// sum without one of them, or one computed from a sample, is wrong, too.
std::vector<float> floats_defeating_serial_sum(Random& random, size_t count);

// The tolerance of a float sum, relative to the sum of absolute values: g(k) = k u / (1 - k u), u =
// 2^-24, where k is the longest chain of additions of an element (Higham, Accuracy and Stability of
// Numerical Algorithms, 2nd ed., section 4.2). Here k is the number of elements per thread of the
// launch, + 10 for a tree of at most 1024 threads, + one for each warp's sum. A kernel with fewer
// than 8192 threads must be as exact as with so many, and one with less than 256 elements per warp
// as if it had these.
double relative_sum_error_bound(uint64_t n, uint64_t threads);

// A sentence that says of which part of the input `sum` is the sum; empty if of none. `reach`: the
// elements that the whole grid adds in one iteration; `block`: those that its first block adds in
// one.
std::string partial_sum_note(const std::vector<int>& in, int64_t sum, uint64_t block,
                             uint64_t reach);

// A random whole number from the range, two numbers, that the check's rubric row has under `key`.
uint32_t random_from_range(Check& check, const std::string& key, Random& random);

// Loses the check if `wrong_sum_text` is not empty. `launch` names the launch in the message, and
// `report_cell` in the narrow column of the score report.
void lose_if_wrong_sum_text_given(Check& check, const std::string& report_cell,
                                  const std::string& launch, int line,
                                  const std::string& wrong_sum_text);

}  // namespace lab32::checks::reduction
