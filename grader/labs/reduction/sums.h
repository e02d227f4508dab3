// Inputs of the reduction lab with known sums, the tolerance of float sums, and explanations of
// wrong sums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "grading/words/names.h"

namespace lab32::checks::reduction {

// `count` ints, the sum of whose absolute values is at most 2^30, so no order of adding overflows.
std::vector<int> small_ints(Random& random, size_t count);

// `count` nonnegative ints with the sum 2^31 - 1. No order of adding them overflows an int, and no
// narrower type holds the sum, nor do the 24 bits of a float.
std::vector<int> ints_to_the_limit(Random& random, size_t count);

// Floats in [1/16, 1/8). Once a sum has reached 2^20, each of them is less than an ulp of it, so a
// kernel that adds more than 2^24 of them one after the other is wrong by far more than bound_of()
// allows.
std::vector<float> small_floats(Random& random, size_t count);

// The tolerance of a float sum, relative to the sum of absolute values: g(k) = k u / (1 - k u), u =
// 2^-24, where k is the longest chain of additions of an element (Higham, Accuracy and Stability of
// Numerical Algorithms, 2nd ed., section 4.2). Here k is the number of elements per thread if 8192
// threads share the work, + 10 for a tree of at most 1024 threads, + one for each block of 256
// elements. All launches have the same tolerance: a kernel that uses fewer threads must be as
// exact.
double bound_of(uint64_t n);

// If a wrong sum is that of a part of the input, the sentence that says so. `reach`: the elements
// of one iteration of the whole grid; `block`: those of the first block in it.
std::string which_part(const std::vector<int>& in, int64_t sum, uint64_t block, uint64_t reach);

// Loses the check if `wrong` is not empty. `launch` names the launch in the message, and `cell` in
// the narrow column of the score report.
void check_sum(Check& check, const std::string& cell, const std::string& launch, int line,
               const std::string& wrong);

}  // namespace lab32::checks::reduction
