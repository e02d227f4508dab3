// `lab32 grade` without its command line. grade() takes directories and names of labs, and returns
// a Result. grade_on_every_save() repeats this each time a file is saved, and explain_check() makes
// pictures of one check.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "gpu/timer.h"
#include "grading/engine/limits.h"
#include "grading/engine/session.h"
#include "grading/rubric/rubric.h"
#include "pictures/picture.h"
#include "report/result.h"

namespace lab32::grading {

struct GradeOptions {
  std::vector<std::string> labs;       // empty: all labs that `dir` holds
  std::vector<std::string> all = {};   // if `labs` is empty: the labs of a course; empty: every lab
  std::filesystem::path dir = "labs";  // <dir>/<lab>/<lab>.cu
  std::map<std::string, std::filesystem::path> files = {};  // files at other places, by lab
  std::filesystem::path rubric;  // <rubric>/<lab>.toml; empty: data/limits
  std::string device = "auto";
  std::optional<uint64_t> seed;  // absent: a new one, which the student does not know
  bool progress = false;         // report long steps on stderr
  double time_limit = TimeLimit::default_seconds();     // limit of each lab, in seconds
  std::optional<counters::DetailFilter> launch_detail;  // if set, the result has pictures
  // The checks to run, if only one lab is graded; empty: all checks. Their prerequisites run, too,
  // and so do the checks whose open questions decide which details may be shown.
  std::vector<std::string> checks = {};
  // Needs launch_detail. Called with each launch of the submission's kernels, lab by lab.
  std::function<void(const pictures::PicturedLaunch&)> every_launch = {};
  LaunchHooks* watcher = nullptr;  // sees the launches of the submission's kernels
  bool modelled_times = true;      // without a GPU, report the modelled time of timed kernels
  // Grades the answers to `lab32 ask` that lie beside a file (asking/); absent: they are not
  // graded.
  std::function<std::optional<report::CheckResult>(const Rubric&, const std::filesystem::path&)>
      judge_questions = {};
  // A missing file of `labs` loses its lab's points instead of being an error.
  bool allow_missing = false;
  // Runs checks that the rubric hides until the deadline, and marks them in the result.
  bool runs_hidden = false;
};

// Grades the labs. Throws Error if nothing can be graded: no such lab, no file, no device, no nvcc,
// or a rubric that does not fit the checks.
report::GradingResult grade(const GradeOptions& options);

// The labs that grade() would grade, with their files. Throws as grade() does.
struct SubmittedLabFile {
  std::string lab;
  std::filesystem::path file;
};
std::vector<SubmittedLabFile> files_to_grade(const GradeOptions& options);

// Grades one file as grade() does for each lab. A file that cannot be read or compiled, or a device
// that cannot run it, only costs this lab its points.
report::LabResult grade_file(const Rubric& rubric, const std::filesystem::path& file,
                             const GradingSetup& setup);

// `lab32 grade --watch`: grades all labs, then each lab whenever its file is saved, and never
// returns.
//
// `show` gets each result, and the differences from the previous one (report/history.h), which are
// empty at first. `print_error` gets the reason if a lab could not be graded; watching continues.
// All gradings use the seed of the first. Throws the first grading's errors.
[[noreturn]] void grade_on_every_save(
    GradeOptions options,
    const std::function<void(const report::GradingResult&, const std::string& changes)>& show,
    const std::function<void(const std::string&)>& print_error);

// The checks of the rubric whose names are or begin with `check`; all checks if it is empty. Throws
// Error if there is none.
std::vector<std::string> checks_matching(const Rubric& rubric, const std::string& check);

// `lab32 explain LAB [CHECK]`: pictures of the launches of a check.
//
// Grades the one lab of `options`, in the detail that its launch_detail sets. Shows the check of
// that name, or whose name begins so; of several, or without a name, the one that has lost most.
// Throws Error with the reason if it has nothing to show, and the lab draws no pictures itself.
pictures::PicturedCheck explain_check(GradeOptions options, const std::string& check);

// Whether the lab draws its subject itself, by its checks' figures: grader/labs/<lab>/pictures.py.
bool lab_has_own_pictures(const std::string& lab);

}  // namespace lab32::grading
