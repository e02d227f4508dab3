// What every lab checks in the same way: results, and global memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device.h"

namespace lab32::grading {

// The sizes at which results are checked: the rubric's `sizes`, which anyone can read, and then
// five that the seed draws, one for each remainder by 4 and one of many blocks.
std::vector<uint32_t> sizes();
// The rubric's.
double relative_tolerance();

// Loses the check when `mismatch` (compare.h) found one. `line`: where the student should look.
void check_result(const std::string& setting, int line, const std::string& mismatch);

// All results were right.
void right_result();

// Points for the sectors that loads, stores and reductions of a run move, in proportion to `ideal`,
// what the task needs. Waste is explained by its worst access and `idea`.
void credit_sectors(const device::Run& run, double ideal, const std::string& idea);

// Points for the requests of those accesses, of 16 bytes per lane where there are fewest, times the
// share for sectors: wider accesses must not scatter. `line`: the kernel's.
void credit_requests(const device::Run& run, double ideal_sectors, double ideal, int line);

}  // namespace lab32::grading
