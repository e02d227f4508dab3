// What the parts of the reduction lab share: inputs whose sums are known, and what a wrong sum
// looks like.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "grading/words/names.h"

namespace lab32::checks::reduction {

// `count` ints that add up to no more than 2^30 in size, in whatever order and however grouped.
std::vector<int> small_ints(Random& random, size_t count);

// `count` ints, none negative, that add up to 2^31 - 1: no order of adding them overflows an int,
// and nothing narrower than an int, nor the 24 bits of a float, holds the sum.
std::vector<int> ints_to_the_limit(Random& random, size_t count);

// Floats in [1/16, 1/8). Once a sum has reached 2^20 one of these is less than an ulp of it, so
// that who adds more than 2^24 of them one after the other is wrong by far more than bound_of
// allows.
std::vector<float> small_floats(Random& random, size_t count);

// How far a sum of floats may be off, as a share of the sum of their sizes: g(k) = k u / (1 - k u),
// u = 2^-24, where k is the longest chain of additions that an element goes through (Higham,
// Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2). Here k = the elements of a
// thread where 8192 share the work, one after the other, + 10 for a tree of at most 1024 threads +
// one for each block where each takes 256 elements. One bound for all launches: whoever gives the
// work to fewer threads must be as exact.
double bound_of(uint64_t n);

// A sum that is wrong may be the sum of a part of the input: what is known about it. `reach` is how
// many elements one round of the grid takes, `block` how many the first block takes of these.
std::string which_part(const std::vector<int>& in, int64_t sum, uint64_t block, uint64_t reach);

// Loses the check when `wrong` says anything. `launch` names the launch in the message, `cell` in
// the column of the score report, which is narrow.
void check_sum(Check& check, const std::string& cell, const std::string& launch, int line,
               const std::string& wrong);

}  // namespace lab32::checks::reduction
