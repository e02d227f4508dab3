// The result of a grading: labs, their checks, scores and messages. The graders fill it in, and
// every renderer (render.h) prints this record and nothing else. Points are in steps of 0.01.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pictures/picture.h"

namespace lab32::report {

// not_graded applies to labs: the machine was at fault, not the submission.
enum class Status : uint8_t { passed, failed, not_run, error, not_graded };

// Why a check lost points.
struct CheckFailureReason {
  enum class Kind : uint8_t {
    wrong_result,     // a kernel or a function computed a wrong result
    fault,            // the kernel faulted; `detail` describes the fault
    hazard,           // a race, an uninitialised read, ...
    changed_input,    // the kernel wrote the input `subject` at `index`
    missing,          // the file does not contain the kernel or declaration `subject`
    invalid,          // the declaration `subject` of the file is invalid
    wrong_answer,     // `measured` of `expected` answers are right
    prerequisite,     // not counted until the check `subject` has passed
    wasteful,         // `measured` instead of `expected`: costs a share of the points
    shared_memory,    // the kernel `subject` declares `measured` bytes; `expected` are allowed
    other_version,    // correct, but not the required version
    uncountable,      // the accesses could not be matched with the machine code
    slow,             // the ratio is `measured`; `expected` is required
    impossible_time,  // a time that the memory of the card does not allow
    time_limit        // not finished, since the lab's time of `expected` seconds is used up
  };
  // The access of a fault or a hazard: the thread and the object. For a race, `other_...` is the
  // other thread.
  struct FaultOrHazardAccess {
    std::vector<uint32_t> block = {}, thread = {};  // x, y, z; empty: unknown
    std::string object = {};                        // the array or variable
    std::optional<int64_t> offset = {};             // from the object's start, in bytes
    std::optional<uint64_t> element = {};
    uint32_t bytes = 0;
    int other_line = 0;
    std::vector<uint32_t> other_block = {}, other_thread = {};
  };
  Kind kind = Kind::wrong_result;
  std::string setting = {};  // parameters of the launch: "n = 33"
  std::string subject = {};
  std::string detail = {};
  std::optional<uint64_t> index = {};
  std::optional<double> measured = {}, expected = {};
  std::optional<FaultOrHazardAccess> access = {};
};

// The reason why a check did not run, and what is known about it.
struct NotRunReason {
  enum class Kind : uint8_t {
    no_gpu,        // no GPU to time on; `modelled` is set if the device has a model
    no_counters,   // `device` has no counters
    no_reference,  // no reference solution that runs on `device`, with which a step is compared
    no_such_step,  // the reference solution gains only `gain` on `device`, less than `least_gain`
    hidden         // the course shows the check after the deadline only
  };
  struct ModelledTime {
    uint64_t n = 0;
    double seconds = 0, error = 0;  // error: relative to the time
    std::string bottleneck = {};
    // For a check of a step: the modelled seconds of the previous version.
    std::optional<double> seconds_before = {};
    // For other timing checks: the modelled time of a copy of as many bytes, and the share of the
    // copy's bandwidth that is expected.
    std::optional<double> copy_seconds = {}, fraction = {};
    // The kernels that a step compares: "follow as given", "follow".
    std::string before = {}, kernel = {};
  };
  Kind kind = Kind::no_gpu;
  std::string device = {};
  double gain = 0, least_gain = 0;  // speed-ups: 1.5 is 1.5 times as fast
  std::optional<ModelledTime> modelled = {};
};

// Adds points and rounds to hundredths, to remove the rounding errors of doubles.
inline double add_points(double sum, double points) {
  return std::round((sum + points) * 100) / 100;
}

// One check of a lab: a row of the score report.
struct CheckResult {
  std::string name;
  Status status = Status::not_run;
  bool bonus = false;  // counts only if it was run
  double score = 0, max_score = 0;
  std::string measured;     // what was measured, short for the table: "5.0 sectors per request"
  std::string expected;     // "4.0"
  std::string message;      // what is wrong, where, and what to look at; may have several lines
  bool has_output = false;  // the message ends with the output of the student's kernel
  std::string file;         // the student's file
  int line = 0;
  double seconds = 0;                         // the duration of the check
  std::optional<CheckFailureReason> failure;  // for the status failed
  std::optional<NotRunReason> not_run;        // for the status not_run
  bool after_due = false;                     // the student may see it after the deadline only
  std::map<std::string, double> figures;      // machine-readable: "sectors": 1048576
  // Pictures of the launch with the most waste, if they were requested; or the check that has to be
  // passed before they are shown, since they would give its answer away.
  std::optional<pictures::PicturedLaunch> pictures;
  std::string withheld_until = {};
};

struct LabResult {
  std::string name;                // "coalescing"
  Status status = Status::passed;  // error: it did not compile, the file is missing, …
  // For error: the compiler's messages; for not_graded: the reason; for failed: what used up the
  // lab's time.
  std::string message;
  double score = 0, max_score = 0;  // sums over the tests that ran; 0 for not_graded
  std::vector<CheckResult> tests;
};

struct GradingResult {
  std::string device;
  std::string timer;  // the card on which times were measured; empty: none
  uint64_t seed = 0;
  double score = 0, max_score = 0;
  std::vector<LabResult> labs;

  // Whether all labs were graded. If not, the scores cover only those that were.
  bool all_labs_graded() const {
    return std::none_of(labs.begin(), labs.end(),
                        [](const LabResult& lab) { return lab.status == Status::not_graded; });
  }
};

}  // namespace lab32::report
