#include "grading/engine/runner.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <new>
#include <random>

#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/work.h"
#include "grading/engine/compiled.h"
#include "grading/engine/progress.h"
#include "grading/engine/registry.h"
#include "grading/engine/run_suite.h"
#include "grading/timing/reference_module.h"
#include "grading/words/describe.h"
#include "pictures/make.h"
#include "report/history.h"
#include "toolchain/nvcc.h"
#include "toolchain/toolchain.h"

namespace lab32::grading {
namespace {

namespace fs = std::filesystem;
using report::Status;

fs::path submitted_source_path(const GradeOptions& options, const std::string& lab) {
  const auto elsewhere = options.files.find(lab);
  return elsewhere != options.files.end() ? elsewhere->second : options.dir / lab / (lab + ".cu");
}

// A broken link counts as present, and so does a file that may not be inspected.
bool file_is_missing(const fs::path& file) {
  std::error_code error;
  return fs::symlink_status(file, error).type() == fs::file_type::not_found;
}

// A seed of 48 bits: any JSON reader keeps all of them, and no student can guess it.
uint64_t secret_random_seed() {
  std::random_device entropy;
  return (uint64_t{entropy()} << 32 | entropy()) & 0xffffffffffff;
}

std::vector<std::string> chosen_labs(const GradeOptions& options) {
  std::vector<std::string> labs;  // without repetitions
  for (const std::string& lab : labs_or_all(options.labs.empty() ? options.all : options.labs))
    if (std::find(labs.begin(), labs.end(), lab) == labs.end()) labs.push_back(lab);
  std::error_code error;
  const bool elsewhere = std::all_of(labs.begin(), labs.end(), [&](const std::string& lab) {
    return options.files.count(lab) > 0;
  });
  if (!elsewhere && !fs::is_directory(options.dir, error))
    throw Error(
        fmt::format("{}: no such directory; --dir names the one that holds "
                    "LAB/LAB.cu for each lab, and `lab32 init` makes one",
                    visible_name(options.dir.string())));
  if (options.allow_missing) return labs;
  const auto missing = [&](const std::string& lab) {
    return file_is_missing(submitted_source_path(options, lab));
  };
  const auto absent = std::find_if(labs.begin(), labs.end(), missing);
  if (absent != labs.end() &&
      (!options.labs.empty() || std::all_of(labs.begin(), labs.end(), missing)))
    throw Error(fmt::format("{}: no such file; --dir names the directory that holds it",
                            visible_name(submitted_source_path(options, *absent).string())));
  return labs;
}

// Fails all checks of a lab that cannot run. The message of each is the first line of the reason.
void fail_all_checks(report::LabResult& lab, const Rubric& rubric, const std::string& file,
                     const std::string& message) {
  lab.status = Status::error;
  lab.message = message.substr(0, message.find_last_not_of('\n') + 1);
  lab.tests.clear();
  lab.score = lab.max_score = 0;
  for (const RubricCheckEntry& row : rubric.rows()) {
    // A bonus is left out: it loses no points if it is not timed.
    if (row.bonus || row.dropped() || row.hidden()) continue;
    report::CheckResult test;
    test.name = row.check;
    test.status = Status::error;
    test.max_score = row.points;
    test.message = message.substr(0, message.find('\n'));
    test.file = file;
    lab.tests.push_back(test);
    lab.max_score += row.points;
  }
}

// The machine has failed, so the lab is not graded and the student loses no points.
void reset_to_not_graded(report::LabResult& lab, const std::string& why) {
  lab.status = Status::not_graded;
  lab.message = why;
  lab.tests.clear();
  lab.score = lab.max_score = 0;
}

// The modules that a timer runs on its card: the submission and the reference solution.
class TimedArtifacts {
 public:
  TimedArtifacts(const std::string& lab, const toolchain::Submission& submission,
                 const toolchain::CompiledArtifact& counted,
                 const device::KernelTimingDevice* timer, ProgressReporter& progress) {
    if (!timer) return;
    const ProgressReporter::ScopedStep step(progress, "compiling for " + timer->name());
    submission_ = counted.arch == timer->arch()
                      ? counted
                      : compile_with_given_kernels(lab, submission, timer->arch(), counted.source);
    reference_ = reference_artifact(lab, timer->arch());
  }
  TimerAndArtifacts timer_and_artifacts(device::KernelTimingDevice* timer) const {
    return {timer, &submission_, reference_ ? &*reference_ : nullptr};
  }

 private:
  toolchain::CompiledArtifact submission_;
  std::optional<toolchain::CompiledArtifact> reference_;
};

BackgroundCompilation begin_compiling(const Rubric& rubric, const fs::path& file,
                                      const device::Device& device, BackgroundWork::When when) {
  if (file_is_missing(file)) return {};
  return {rubric.lab(), file, device.arch(), when};
}

void wait_for_compilation(BackgroundCompilation& begun, const fs::path& file,
                          ProgressReporter& progress) {
  if (!begun.valid()) return;
  const ProgressReporter::ScopedStep step(progress, "compiling " + visible_name(file.string()));
  begun.wait();
}

void grade_compiled(report::LabResult& lab, const Rubric& rubric, const std::string& display,
                    const CompilationResult& compilation, const GradingSetup& setup) {
  const auto& [submission, artifact, seconds] = compilation;
  try {
    const SourceFile source = SourceFile::from_text(submission.text(), display);
    const std::unique_ptr<device::LoadedModule> module = setup.device.load(artifact);
    GradingSession session{setup, *module, source, rubric, &artifact};
    session.shift_warning = shift_warning_explanation(artifact.warnings, display);
    session.time_limit = TimeLimit(setup.time_limit, seconds);
    const TimedArtifacts timed(rubric.lab(), submission, artifact, setup.timer, setup.progress);
    session.time = timed.timer_and_artifacts(setup.timer);
    run_suite(session, lab);
  } catch (const MachineError&) {
    throw;
  } catch (const Error& e) {  // the simulator cannot run this PTX
    fail_all_checks(lab, rubric, display, e.what());
  }
}

report::LabResult grade_when_compiled(const Rubric& rubric, const fs::path& file,
                                      BackgroundCompilation begun, const GradingSetup& setup) {
  report::LabResult lab;
  lab.name = rubric.lab();
  const std::string display = visible_name(file.string());
  if (!begun.valid()) {
    fail_all_checks(lab, rubric, display, display + ": no such file: it was not handed in");
    return lab;
  }
  try {
    const CompilationResult compilation = begun.wait_for_result();
    grade_compiled(lab, rubric, display, compilation, setup);
  } catch (const toolchain::CompileError& e) {
    fail_all_checks(lab, rubric, display, e.what());
  } catch (const toolchain::BadSubmission& e) {
    fail_all_checks(lab, rubric, display, e.what());
  } catch (const std::bad_alloc&) {
    reset_to_not_graded(lab, "this machine has not enough memory");
  } catch (const Error& e) {
    reset_to_not_graded(lab, e.what());
  } catch (const std::exception& e) {
    reset_to_not_graded(lab, std::string("an internal error of the grader: ") + e.what());
  }
  return lab;
}

}  // namespace

report::LabResult grade_file(const Rubric& rubric, const fs::path& file,
                             const GradingSetup& setup) {
  BackgroundCompilation compilation =
      begin_compiling(rubric, file, setup.device, BackgroundWork::When::when_waited_for);
  wait_for_compilation(compilation, file, setup.progress);
  return grade_when_compiled(rubric, file, std::move(compilation), setup);
}

std::vector<SubmittedLabFile> files_to_grade(const GradeOptions& options) {
  std::vector<SubmittedLabFile> files;
  for (const std::string& lab : chosen_labs(options))
    files.push_back({lab, submitted_source_path(options, lab)});
  return files;
}

namespace {

void add_answers_test(report::LabResult& lab, const std::optional<report::CheckResult>& judged) {
  if (!judged || lab.status == Status::error || lab.status == Status::not_graded) return;
  lab.tests.push_back(*judged);
  lab.score = report::add_points(lab.score, judged->score);
  lab.max_score = report::add_points(lab.max_score, judged->max_score);
  if (lab.score < lab.max_score) lab.status = Status::failed;
}

}  // namespace

report::GradingResult grade(const GradeOptions& options) {
  // All rubrics are read first, so that an error in one is reported before the compilation starts.
  std::vector<Rubric> rubrics;
  for (const std::string& lab : chosen_labs(options))
    rubrics.emplace_back(options.rubric.empty() ? rubric_folder(lab) : options.rubric, lab);
  toolchain::installed_toolchain();  // throws if there is no nvcc
  const std::unique_ptr<device::Device> device = device::open_device(options.device);
  const std::unique_ptr<device::KernelTimingDevice> timer = device::open_gpu_timer(options.device);
  ProgressReporter progress(options.progress);
  report::GradingResult result;
  result.device = device->name();
  if (timer) {
    result.timer = timer->name();
    timer->start_background_preparation();
  }
  result.seed = options.seed ? *options.seed : secret_random_seed();
  // The next lab is compiled while the kernels of this one run, except with a timer: timing needs a
  // machine that does nothing else.
  const auto when = timer ? BackgroundWork::When::when_waited_for : BackgroundWork::When::now;
  const auto file = [&](size_t i) { return submitted_source_path(options, rubrics[i].lab()); };
  const auto begin = [&](size_t i) {
    return i < rubrics.size() ? begin_compiling(rubrics[i], file(i), *device, when)
                              : BackgroundCompilation();
  };
  BackgroundCompilation next = begin(0);
  for (size_t i = 0; i < rubrics.size(); ++i) {
    BackgroundCompilation now = std::move(next);
    wait_for_compilation(now, file(i), progress);
    next = begin(i + 1);
    // Each lab gets a device of its own. The addresses of arrays change the cost of atomics and
    // caches a little, and a lab's result must not depend on the labs before it.
    const std::unique_ptr<device::Device> own = device::open_device(options.device);
    GradingSetup setup{*own, result.seed, progress, timer.get(), options.time_limit};
    setup.modelled_times = options.modelled_times;
    setup.launch_detail = options.launch_detail;
    setup.every_launch = options.every_launch;
    setup.checks = options.checks;
    setup.runs_hidden = options.runs_hidden;
    setup.watcher = options.watcher;
    report::LabResult lab = grade_when_compiled(rubrics[i], file(i), std::move(now), setup);
    if (options.judge_questions)
      add_answers_test(lab, options.judge_questions(rubrics[i], file(i)));
    result.score = report::add_points(result.score, lab.score);
    result.max_score = report::add_points(result.max_score, lab.max_score);
    result.labs.push_back(std::move(lab));
  }
  return result;
}

namespace {

void replace_or_add_labs(report::GradingResult& all, const report::GradingResult& some) {
  for (const report::LabResult& lab : some.labs) {
    const auto at =
        std::find_if(all.labs.begin(), all.labs.end(),
                     [&](const report::LabResult& old) { return old.name == lab.name; });
    if (at == all.labs.end())
      all.labs.push_back(lab);
    else
      *at = lab;
  }
}

}  // namespace

void grade_on_every_save(
    GradeOptions options,
    const std::function<void(const report::GradingResult&, const std::string& changes)>& show,
    const std::function<void(const std::string&)>& print_error) {
  const std::vector<SubmittedLabFile> files = files_to_grade(options);
  std::vector<std::filesystem::path> paths;
  for (const SubmittedLabFile& file : files) paths.push_back(file.file);
  FileSaveWatch saves(paths);  // starts before the first grading, so that it misses no save
  report::GradingResult last = grade(options);
  options.seed = last.seed;
  show(last, "");
  for (;;) {
    options.labs.clear();
    for (const size_t file : saves.wait()) options.labs.push_back(files[file].lab);
    if (options.labs.empty()) continue;
    try {
      const report::GradingResult next = grade(options);
      const std::string changes = report::result_changes_text(last, next);
      show(next, changes.empty() ? "No check has changed.\n" : changes);
      replace_or_add_labs(last, next);
    } catch (const Error& e) {
      print_error(e.what());
    }
  }
}

namespace {

bool starts_with_ignoring_case(const std::string& name, const std::string& with) {
  return name.size() >= with.size() &&
         std::equal(with.begin(), with.end(), name.begin(), [](unsigned char a, unsigned char b) {
           return std::tolower(a) == std::tolower(b);
         });
}

}  // namespace

std::vector<std::string> checks_matching(const Rubric& rubric, const std::string& check) {
  std::vector<std::string> found, names;
  for (const RubricCheckEntry& row : rubric.rows()) {
    if (row.dropped()) continue;
    names.push_back(row.check);
    if (row.check == check) return {check};
    if (starts_with_ignoring_case(row.check, check)) found.push_back(row.check);
  }
  if (found.empty()) {
    const auto alike = suggestions(check, names, 1);
    throw Error(fmt::format("{} has no check `{}`; {}", rubric.lab(), check,
                            alike.empty()
                                ? "its checks are: " + fmt::format("{}", fmt::join(names, ", "))
                                : "did you mean `" + alike[0] + "`?"));
  }
  return found;
}

namespace {

double lost(const report::CheckResult& test) { return test.max_score - test.score; }

// Whether the picture of `a` is more useful than that of `b`: first failed checks, then those that
// have lost more points, then those that waste more.
bool makes_better_picture(const report::CheckResult& a, const report::CheckResult& b) {
  if (a.pictures.has_value() != b.pictures.has_value()) return a.pictures.has_value();
  // If neither has a picture, prefer the check that waits for an answer: its message says how to
  // get one.
  if (a.withheld_until.empty() != b.withheld_until.empty()) return b.withheld_until.empty();
  if (lost(a) != lost(b)) return lost(a) > lost(b);
  return a.pictures && pictures::time_weighted_access_waste(*a.pictures) >
                           pictures::time_weighted_access_waste(*b.pictures);
}

// The place that the user has chosen, such as "in block 3, warp 9"; empty if none.
std::string detail_filter_text(const counters::DetailFilter& choice) {
  std::vector<std::string> words;
  if (choice.line) words.push_back(fmt::format("line {}", *choice.line));
  if (choice.block) words.push_back(fmt::format("block {}", *choice.block));
  if (choice.warp) words.push_back(fmt::format("warp {}", *choice.warp));
  if (choice.request) words.push_back(fmt::format("request {}", *choice.request));
  return fmt::format("{}", fmt::join(words, ", "));
}

// The reason why a check has no picture, in one line. It leaves out the first lines of the check's
// message, which quote the source.
std::string reason_without_picture(const report::LabResult& lab, const report::CheckResult& test,
                                   const counters::DetailFilter& choice) {
  if (!test.withheld_until.empty())
    return fmt::format("it would answer a question of `{}`; answer that first",
                       test.withheld_until);
  if (const std::string place = detail_filter_text(choice); !place.empty())
    return fmt::format(
        "your kernels have no access at {}; without a position the worst access "
        "is drawn",
        place);
  if (test.message.empty() || test.status == report::Status::passed)
    return "it launches none of your kernels that access memory";
  if (test.line == 0) {
    const std::string line = test.message.substr(0, test.message.find('\n'));
    return line.substr(0, line.find(". "));
  }
  return fmt::format(
      "your kernels have no access to draw ({}); `lab32 grade {}` says what is "
      "wrong",
      test.measured, lab.name);
}

}  // namespace

pictures::PicturedCheck explain_check(GradeOptions options, const std::string& check) {
  if (!options.launch_detail) options.launch_detail.emplace();
  // For pictures, caches and time are modelled in each launch, which takes longer than grading.
  options.time_limit *= 4;
  const std::string& named = options.labs.at(0);
  options.checks = checks_matching(
      Rubric(options.rubric.empty() ? rubric_folder(named) : options.rubric, named), check);
  const report::GradingResult result = grade(options);
  const report::LabResult& lab = result.labs.at(0);
  if (lab.status == report::Status::error || lab.status == report::Status::not_graded)
    throw Error(lab.message);
  std::vector<const report::CheckResult*> tests;
  for (const report::CheckResult& test : lab.tests)
    if (std::find(options.checks.begin(), options.checks.end(), test.name) != options.checks.end())
      tests.push_back(&test);
  const report::CheckResult& test = **std::min_element(
      tests.begin(), tests.end(), [](const report::CheckResult* a, const report::CheckResult* b) {
        return makes_better_picture(*a, *b);
      });
  const bool found =
      test.pictures && (!test.pictures->accesses.empty() || test.pictures->fault ||
                        test.pictures->race || detail_filter_text(*options.launch_detail).empty());
  pictures::PicturedCheck shown{lab.name, test.name, test.file, test.message, {}};
  if (found)
    shown.launch = *test.pictures;
  else
    shown.missing =
        fmt::format("no picture of {}{}: {}", lab.name, check.empty() ? "" : ", " + test.name,
                    reason_without_picture(lab, test, *options.launch_detail));
  const bool chosen = !detail_filter_text(*options.launch_detail).empty();
  if (!found && (chosen || !test.withheld_until.empty() || !lab_has_own_pictures(lab.name)))
    throw Error(shown.missing);
  if (chosen) return shown;
  shown.device = result.device;
  shown.passed = test.status == Status::passed;
  shown.figures = test.figures;
  return shown;
}

bool lab_has_own_pictures(const std::string& lab) {
  std::error_code error;
  return std::filesystem::exists(lab32_root() / "grader/labs" / lab / "pictures.py", error);
}

}  // namespace lab32::grading
