// What every lab checks in the same way: results, global memory and shared memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device/device.h"
#include "grading/words/describe.h"

namespace lab32::grading {

struct Check;

// The sizes at which results are checked: the rubric's `sizes`, which anyone can read, and then
// five that the seed draws, one for each remainder by 4 and one of many blocks.
std::vector<uint32_t> sizes(Check& check);
// The rubric's.
double relative_tolerance(Check& check);

// Loses the check when `mismatch` (compare.h) found one. `line`: where the student should look.
void check_result(Check& check, const std::string& setting, int line, const std::string& mismatch);

// All results were right.
void right_result(Check& check);

// Points for what is counted are for work that is shared out: where less than the rubric's
// `threads_at_work` of all threads work, one with another, while the busiest warp does, only that
// share of them. (A serial sum needs few wavefronts, barriers and adds, too.)
void credit_work(Check& check, const device::Run& run);

// Points for the sectors that loads, stores and reductions of a run move, in proportion to `ideal`,
// what the task needs. Waste is explained by its worst access and `idea`.
void credit_sectors(Check& check, const device::Run& run, double ideal, const std::string& idea);

// Makes a launch beside the one that the table shows, whose words stay there if it is right, too.
device::Run launch_beside(Check& check, const std::function<device::Run()>& launch);

// A size for a second count, which nobody knows before: a multiple of `unit` between the two of the
// rubric's `drawn`. `share`: of the limits at the published size, the rubric's `key`, where the
// last block may be as dear as one that has `full` elements.
struct DrawnSize {
  uint32_t n;
  double share;
};
DrawnSize drawn_size(Check& check, uint32_t unit, uint32_t full, const std::string& key = "n");

// What is counted at a size that anyone can read has to hold where nobody could know it before,
// too: `got` of `what`, `waste` being the worst of it and `where` words for the launch. Credit
// limit / got, for who has all points until now: so a size that is drawn changes nobody's score but
// theirs who have one just for the published size.
void hold_elsewhere(Check& check, const std::string& where, const char* what, double limit,
                    uint64_t got, const Waste& waste);
// The same of the sectors of device memory.
void hold_sectors(Check& check, const std::string& where, double limit, const device::Run& run);

// Where something else is counted: who does it by way of device memory instead has points in
// proportion to the sectors that the task needs, `most`, atomics included.
void credit_most_sectors(Check& check, const device::Run& run, double most);

// Points for the requests of those accesses, of 16 bytes per lane where there are fewest, times the
// share for sectors: wider accesses must not scatter. `line`: the kernel's.
void credit_requests(Check& check, const device::Run& run, double ideal_sectors, double ideal,
                     int line);

// The line of the student's file whose shared accesses take most wavefronts beyond their ideal, and
// what its worst warp did. line 0: no access has a bank conflict.
Waste worst_shared(Check& check, const device::Run& run);

// Points for the wavefronts that all shared loads, stores and atomics of a run take, in proportion
// to `ideal`, what the task needs. Conflicts are explained by the worst access and `idea`.
// `line_to_show`: which line is quoted for an access that is on a line; empty: that one.
using LineToShow = std::function<int(int line)>;
void credit_wavefronts(Check& check, const device::Run& run, double ideal, const std::string& idea,
                       const LineToShow& line_to_show = {});

// Those of a second launch (standard_checks.h).
void hold_wavefronts(Check& check, const std::string& where, double limit, const device::Run& run);

// Loses the check when the kernel declares more static shared memory than `bytes` per block.
void limit_shared(Check& check, const std::string& kernel, double bytes);

}  // namespace lab32::grading
