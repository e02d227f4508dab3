// `lab32 grade`, but for the command line: from directories and names to a Result.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "gpu/timer.h"
#include "grading/engine/limits.h"
#include "grading/engine/session.h"
#include "grading/rubric/rubric.h"
#include "pictures/explanation.h"
#include "pictures/picture.h"
#include "report/result.h"

namespace lab32::grading {

struct GradeOptions {
  std::vector<std::string> labs;       // empty: all that `dir` holds
  std::filesystem::path dir = "labs";  // <dir>/<lab>/<lab>.cu
  std::filesystem::path rubric;        // <rubric>/<lab>.toml; empty: data/limits
  std::string device = "auto";
  std::optional<uint64_t> seed;                     // absent: a fresh, secret one
  bool progress = false;                            // tell on stderr what takes long
  double time_limit = TimeLimit::usual();           // of each lab, in seconds
  std::optional<counters::CloseUpChoice> close_up;  // the result is to have pictures
  // Of the one lab: no other checks than these are wanted, and none runs that does not decide
  // whether they run or what they may show. Empty: all.
  std::vector<std::string> checks = {};
  // With close_up: is told of each launch of the submission's kernels, lab by lab.
  std::function<void(const pictures::Launch&)> every_launch = {};
  bool modelled_times = true;  // where no GPU is, say what a timed kernel takes by the model
  bool allow_missing = false;  // a file of `labs` that is not there loses its lab's points
};

// Throws Error when nothing can be graded: no such lab, no file, no device, no nvcc, a rubric that
// does not fit the checks.
report::Result grade(const GradeOptions& options);

// The labs that grade() would grade, and their files. Throws as it does.
struct LabFile {
  std::string lab;
  std::filesystem::path file;
};
std::vector<LabFile> files_of(const GradeOptions& options);

// One submission at any path, as grade() does each lab: a file that cannot be read or compiled, or
// a device that cannot run it, costs this lab its points and nothing else.
report::Lab grade_file(const Rubric& rubric, const std::filesystem::path& file,
                       const GradingSetup& setup);

// `lab32 grade --watch`: grades a lab each time that its file is saved.
//
// Grades all, and then for ever what is saved. `show` is given each result and what is otherwise
// than before (report/history.h), nothing at first. `complain` is told why a lab could not be
// graded, which ends nothing. All gradings have the first one's seed. Throws what the first throws.
[[noreturn]] void watch(
    GradeOptions options,
    const std::function<void(const report::Result&, const std::string& changes)>& show,
    const std::function<void(const std::string&)>& complain);

// `lab32 explain LAB [CHECK]`: pictures of what a check has seen.
//
// Grades the one lab of `options`, looking as closely as its close_up says, and takes the check of
// that name, or whose name begins so; of several the one that has lost most. Without a name: that
// of the whole lab. Throws Error where there is nothing to be shown, and says why.
pictures::Explanation explain(GradeOptions options, const std::string& check);

}  // namespace lab32::grading
