// The inputs of the bank-conflict lab's tasks, and what their results are.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "grading/words/names.h"

namespace lab32::checks::bank_conflicts {

constexpr uint32_t kRowLength = 32;  // elements of a row of B1's matrix and of B4's image

std::vector<int> integers(Random& random, size_t count, uint32_t bound);
std::vector<uint8_t> pixels(Random& random, size_t count);

// B1: running sums along each row. B4: for each row the sum of (column + 1) * pixel.
std::vector<int> row_scan_of(std::vector<int> in);
std::vector<int> row_moments_of(const std::vector<uint8_t>& in);

}  // namespace lab32::checks::bank_conflicts
