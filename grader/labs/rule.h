// A line of the score board as data/limits/<lab>.toml has it: its numbers, and the checks that
// every lab makes in the same way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device.h"

namespace lab32::labs {

class Rule {
 public:
  // `table` is the table's name there. Throws Error when its points are not those of the TEST_CASE:
  // the two stand apart, since one explains and the other decides.
  explicit Rule(const std::string& table);

  double number(const std::string& key) const;
  uint32_t count(const std::string& key) const { return static_cast<uint32_t>(number(key)); }
  std::vector<double> numbers(const std::string& key) const;

  // The test is lost unless the test `name` has passed: a kernel that does nothing is fast.
  void after(const std::string& name) const;

 private:
  std::string table_;
};

// The sizes at which results are checked.
std::vector<uint32_t> sizes();
double relative_tolerance();

// Loses the test when `mismatch` (compare.h) found one. `line`: where the student should look.
void check_result(const std::string& setting, int line, const std::string& mismatch);

// All results were right.
void right_result();

// Points for the sectors that loads, stores and reductions of a run move, in proportion to `ideal`,
// what the task needs. Waste is explained by its worst access and `idea`.
void credit_sectors(const device::Run& run, double ideal, const std::string& idea);

// Points for the requests of those accesses, of 16 bytes a lane where there are fewest, times the
// share for sectors: wider accesses must not scatter. `line`: the kernel's.
void credit_requests(const device::Run& run, double ideal_sectors, double ideal, int line);

}  // namespace lab32::labs
