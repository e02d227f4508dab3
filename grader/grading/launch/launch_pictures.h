// Pictures of a check's launches: of the one that wasted most, or that faulted, together with the
// traffic of the reference solution's launch. That traffic depends on the program only, so it is
// recorded in data/simulated/solutions.csv and does not need the solution itself.
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

// Before a launch: requests the details that the session's pictures need. A given kernel is not the
// student's code, so it is left out unless it calls a function of the submission
// (`pictures_of_given`).
void request_picture_details(Check& check, const Launch& launch, device::LaunchOptions& options);

// After a launch, also a failed one: stores its pictures in check.last_pictures, and in
// check.pictures if it has wasted more than earlier launches of the check.
void keep_launch_pictures(Check& check, const Launch& launch, const device::LaunchResult& run);
// Keeps the pictures of a launch that another check has made, as keep_launch_pictures() does.
void keep_pictures_if_more_wasteful(
    Check& check, const std::shared_ptr<const pictures::PicturedLaunch>& pictures);

// After a check: adds its pictures to the result, beginning with the access that its message is
// about. Withholds them while a question is open that they would answer.
void add_pictures(Check& check, report::CheckResult& test);

// What two submissions' launches must have in common to be compared: the kernel without template
// arguments, and the setting without the shape that a submission chooses. A launch of "44 blocks of
// 128" is 44 times "a block of 128".
struct SolutionTrafficKey {
  std::string lab, kernel, setting;
  uint64_t times = 1;

  bool operator<(const SolutionTrafficKey& other) const {
    return std::tie(lab, kernel, setting) < std::tie(other.lab, other.kernel, other.setting);
  }
};
SolutionTrafficKey solution_traffic_key_of(const std::string& lab,
                                           const pictures::PicturedLaunch& launch);

// The recorded traffic of the reference solution's launch of the task; absent if there is none.
std::optional<pictures::PicturedTraffic> solution_traffic_of_task(const SolutionTrafficKey& task);

// A row of data/simulated/solutions.csv. Its counts are those of one of the task's `times` equal
// parts.
struct SolutionTrafficRow {
  SolutionTrafficKey task;
  pictures::PicturedTraffic traffic;
};
std::vector<SolutionTrafficRow> read_solution_traffic_rows();  // none if the file does not exist
std::string solution_traffic_csv(const std::vector<SolutionTrafficRow>& rows);

// The launch as a row of the record. Its counts are divided by `times` if all of them are
// divisible; cache counts are kept for whole launches only.
std::optional<SolutionTrafficRow> solution_traffic_row_of_launch(
    const std::string& lab, const pictures::PicturedLaunch& launch);

}  // namespace lab32::grading
