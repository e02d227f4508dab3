// Pictures of a check's launches: of the one that wasted most, or that went wrong; and what the
// reference solution's launches move, to be shown beside them. Those counts are a property of the
// program, so they are recorded (data/simulated/solutions.csv), and the solution need not be here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "device/device.h"
#include "grading/launch/launch.h"
#include "pictures/picture.h"
#include "report/result.h"

namespace lab32::grading {

struct Check;

// Before a launch: what the session wants to see of it. What a lab's file marks as given is not the
// student's, and is not looked at but where it calls what is, or where the check `draws_given`.
void look_closely(Check& check, const Launch& launch, device::LaunchOptions& options);

// After it, whatever came of it: in check.last_pictures, and in check.pictures if it has
// wasted more than the check's launches until now. Where it `answers`, only what ended it is drawn.
void keep_pictures(Check& check, const Launch& launch, const device::Run& run);
// Those of a launch that another check has made.
void offer_pictures(Check& check, const std::shared_ptr<const pictures::Launch>& pictures);

// To the result of the check that has ended, the access that it speaks of first. Withheld as long
// as a question is open that they would answer.
void add_pictures(Check& check, report::Test& test);

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
