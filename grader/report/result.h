// The one record of a grading; every renderer prints this and nothing else.
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

// not_graded is a lab's: the machine's fault, not the submission's.
enum class Status : uint8_t { passed, failed, not_run, error, not_graded };

// Why a check has lost points.
struct Failure {
  enum class Kind : uint8_t {
    wrong_result,     // a kernel's or a function's
    fault,            // the kernel faulted; `detail` says how
    hazard,           // a race, a read of what nobody wrote, ...
    changed_input,    // `subject`, which the kernel may only read, at `index`
    missing,          // the file has no such kernel or declaration: `subject`
    invalid,          // a declaration of the file that cannot be used: `subject`
    wrong_answer,     // questions, right ones `measured` of `expected`
    prerequisite,     // the check `subject` has to pass before
    wasteful,         // `measured` where `expected` would do: a share of the points
    shared_memory,    // the kernel `subject` declares `measured` bytes, `expected` are allowed
    other_version,    // right, but not the version that is asked for
    uncountable,      // what ptxas made of its accesses could not be found out
    slow,             // a ratio of `measured` where `expected` is asked for
    impossible_time,  // faster than the card's memory
    time_limit        // not run, or not to its end: the lab's time, `expected` seconds, is used up
  };
  // Of a fault or a hazard: who did it, and to what; of a race also who else.
  struct Access {
    std::vector<uint32_t> block = {}, thread = {};  // x, y, z; empty: not known
    std::string object = {};                        // array or variable
    std::optional<int64_t> offset = {};             // in it, in bytes
    std::optional<uint64_t> element = {};
    uint32_t bytes = 0;
    int other_line = 0;
    std::vector<uint32_t> other_block = {}, other_thread = {};
  };
  Kind kind = Kind::wrong_result;
  std::string setting = {};  // of the launch: "n = 33"
  std::string subject = {};
  std::string detail = {};
  std::optional<uint64_t> index = {};
  std::optional<double> measured = {}, expected = {};
  std::optional<Access> access = {};
};

// Why a check was not run.
struct NotRun {
  enum class Kind : uint8_t {
    no_gpu,        // to time on; `modelled`, where the device has a model
    no_counters,   // on `device`
    no_reference,  // solution that runs on `device`, which a step is compared with
    no_such_step   // on `device`: the reference solution's is `gain`, less than `least_gain`
  };
  struct Modelled {
    uint64_t n = 0;
    double seconds = 0, error = 0;  // error: a share of it
    std::string bottleneck = {};
    std::optional<double> seconds_before = {};  // of the version before, in a step
    // A copy of as many bytes, and the part of its bandwidth that is expected; not in a step.
    std::optional<double> copy_seconds = {}, fraction = {};
    std::string before = {}, kernel = {};  // whose times a step has: "follow as given", "follow"
  };
  Kind kind = Kind::no_gpu;
  std::string device = {};
  double gain = 0, least_gain = 0;  // times as fast
  std::optional<Modelled> modelled = {};
};

// Points are hundredths; this is their sum without the dust that doubles leave.
inline double add_points(double sum, double points) {
  return std::round((sum + points) * 100) / 100;
}

// One row of the score report: one check of a lab.
struct Test {
  std::string name;
  Status status = Status::not_run;
  bool bonus = false;  // counts only where it is run
  double score = 0, max_score = 0;
  std::string measured;  // short, for the table: "5.0 sectors per request"
  std::string expected;  // "4.0"
  std::string message;   // what is wrong, where, which idea fixes it; may have lines
  std::string file;      // of the student
  int line = 0;
  double seconds = 0;                     // that the check took
  std::optional<Failure> failure;         // of status failed
  std::optional<NotRun> not_run;          // of status not_run
  std::map<std::string, double> figures;  // machine-readable: "sectors": 1048576
  // Of the launch that wasted most, where somebody asked for pictures and it had any; or the check
  // that has to be passed before they are shown, since it asks what they tell.
  std::optional<pictures::Launch> pictures;
  std::string withheld_until = {};
};

struct Lab {
  std::string name;                // "coalescing"
  Status status = Status::passed;  // error: did not compile, no such kernel file, …
  // Of status error: the compiler's text; of not_graded: why; of failed: what has taken the time
  // where that is used up.
  std::string message;
  double score = 0, max_score = 0;  // of the tests that ran; of not_graded 0
  std::vector<Test> tests;
};

struct Result {
  std::string device;
  std::string timer;  // the card that times were taken on; empty: none were
  uint64_t seed = 0;
  double score = 0, max_score = 0;
  std::vector<Lab> labs;

  // Whether all labs were graded. Else the scores are of those that were.
  bool complete() const {
    return std::none_of(labs.begin(), labs.end(),
                        [](const Lab& lab) { return lab.status == Status::not_graded; });
  }
};

}  // namespace lab32::report
