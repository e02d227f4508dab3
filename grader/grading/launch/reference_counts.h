// What the reference solution's launches move, to be shown beside the student's: counts, and
// nothing of how it is done. They are a property of the program, so they are recorded
// (data/simulated/solutions.csv), and the solution itself need not be here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "pictures/picture.h"

namespace lab32::grading {

// The launches of two submissions that have the same to do: the kernel without the values of its
// templates, the setting without the shape that a submission chooses. A launch of "44 blocks of
// 128" is 44 times "a block of 128".
struct Task {
  std::string lab, kernel, setting;
  uint64_t times = 1;

  bool operator<(const Task& other) const {
    return std::tie(lab, kernel, setting) < std::tie(other.lab, other.kernel, other.setting);
  }
};
Task task_of(const std::string& lab, const pictures::Launch& launch);

// Of the launch that has the same to do; absent where none is recorded.
std::optional<pictures::Traffic> reference_counts(const Task& task);

// The record: a row per task, of one `times`.
struct ReferenceRow {
  Task task;
  pictures::Traffic traffic;
};
std::vector<ReferenceRow> read_reference_rows();  // none where the file is not there
std::string print_reference_rows(const std::vector<ReferenceRow>& rows);

// A launch as a row: divided by `times`, where all counts can be; caches are kept of whole ones.
std::optional<ReferenceRow> reference_row(const std::string& lab, const pictures::Launch& launch);

}  // namespace lab32::grading
