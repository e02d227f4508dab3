#include "grading/engine/runner.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <random>

#include "base/error.h"
#include "base/text.h"
#include "base/work.h"
#include "grading/engine/compiled.h"
#include "grading/engine/progress.h"
#include "grading/engine/registry.h"
#include "grading/engine/reporter.h"
#include "grading/launch/alike.h"
#include "grading/launch/odd_amount.h"
#include "grading/timing/reference_module.h"
#include "toolchain/nvcc.h"
#include "toolchain/toolchain.h"

namespace lab32::grading {
namespace {

namespace fs = std::filesystem;
using report::Status;

fs::path file_of(const fs::path& dir, const std::string& lab) { return dir / lab / (lab + ".cu"); }

// A link that leads nowhere is there, and so is what may not be looked at.
bool is_missing(const fs::path& file) {
  std::error_code error;
  return fs::symlink_status(file, error).type() == fs::file_type::not_found;
}

// 48 bits: any reader of JSON keeps them, and nobody guesses them.
uint64_t fresh_seed() {
  std::random_device entropy;
  return (uint64_t{entropy()} << 32 | entropy()) & 0xffffffffffff;
}

std::vector<std::string> chosen(const GradeOptions& options) {
  std::vector<std::string> labs;  // each once
  for (const std::string& lab : labs_or_all(options.labs))
    if (std::find(labs.begin(), labs.end(), lab) == labs.end()) labs.push_back(lab);
  std::error_code error;
  if (!fs::is_directory(options.dir, error))
    throw Error(
        fmt::format("{}: no such directory; --dir names the one that holds "
                    "LAB/LAB.cu for each lab, and `lab32 init` makes one",
                    visible_name(options.dir.string())));
  if (options.allow_missing) return labs;
  const auto missing = [&](const std::string& lab) {
    return is_missing(file_of(options.dir, lab));
  };
  const auto absent = std::find_if(labs.begin(), labs.end(), missing);
  if (absent != labs.end() &&
      (!options.labs.empty() || std::all_of(labs.begin(), labs.end(), missing)))
    throw Error(fmt::format("{}: no such file; --dir names the directory that holds it",
                            visible_name(file_of(options.dir, *absent).string())));
  return labs;
}

// A lab that cannot run loses all its points: each test with the reason's first line.
void fail_all(report::Lab& lab, const Rubric& rubric, const std::string& file,
              const std::string& message) {
  lab.status = Status::error;
  lab.message = message.substr(0, message.find_last_not_of('\n') + 1);
  lab.tests.clear();
  lab.score = lab.max_score = 0;
  for (const RubricRow& row : rubric.rows()) {
    if (row.bonus) continue;  // what was not timed loses nothing
    report::Test test;
    test.name = row.check;
    test.status = Status::error;
    test.max_score = row.points;
    test.message = message.substr(0, message.find('\n'));
    test.file = file;
    lab.tests.push_back(test);
    lab.max_score += row.points;
  }
}

// The machine's fault, so nobody's points.
void not_graded(report::Lab& lab, const std::string& why) {
  lab.status = Status::not_graded;
  lab.message = why;
  lab.tests.clear();
  lab.score = lab.max_score = 0;
}

// What a timer runs: the submission and, beside it, the reference solution, for its card.
class TimedArtifacts {
 public:
  TimedArtifacts(const std::string& lab, const toolchain::Submission& submission,
                 const toolchain::Artifact& counted, const device::Timer* timer,
                 Progress& progress) {
    if (!timer) return;
    const Progress::Step step(progress, "compiling for " + timer->name());
    submission_ = counted.arch == timer->arch()
                      ? counted
                      : compiled(lab, submission, timer->arch(), counted.source);
    reference_ = reference_module(lab, timer->arch());
  }
  TimeKeeping time_keeping(device::Timer* timer) const {
    return {timer, &submission_, reference_ ? &*reference_ : nullptr};
  }

 private:
  toolchain::Artifact submission_;
  std::optional<toolchain::Artifact> reference_;
};

// What all labs of a grading have in common.
struct Bench {
  device::Device& device;
  uint64_t seed;
  Progress& progress;
  device::Timer* timer;
  double time_limit;
  bool modelled_times = false;
  std::optional<counters::CloseUpChoice> close_up = {};
  std::function<void(const pictures::Launch&)> every_launch = {};
  std::vector<std::string> checks = {};
};

Compiling begun(const Rubric& rubric, const fs::path& file, const device::Device& device,
                Background::When when) {
  if (is_missing(file)) return {};
  return {rubric.lab(), file, device.arch(), when};
}

void wait_for(Compiling& begun, const fs::path& file, Progress& progress) {
  if (!begun.valid()) return;
  const Progress::Step step(progress, "compiling " + visible_name(file.string()));
  begun.wait();
}

void grade_into(report::Lab& lab, const Rubric& rubric, const std::string& display,
                const Compilation& compilation, const Bench& bench, Alike* alike) {
  const auto& [device, seed, progress, timer, time_limit, modelled_times, close_up, every_launch,
               checks] = bench;
  const auto& [submission, artifact, seconds] = compilation;
  try {
    const SourceFile source = SourceFile::of_text(submission.text(), display);
    std::unique_ptr<device::LoadedModule> module = device.load(artifact);
    if (alike) module = alike->watch(std::move(module), artifact.ptx, seed);
    Session session{device, *module, source, rubric, seed, progress};
    session.alike = alike;
    session.modelled_times = modelled_times;
    session.close_up = close_up;
    session.every_launch = every_launch;
    session.checks = checks;
    session.odd_shift = odd_shift_of(artifact.warnings, display);
    session.time_limit = TimeLimit(time_limit, seconds);
    session.artifact = &artifact;
    const TimedArtifacts timed(rubric.lab(), submission, artifact, timer, progress);
    session.time = timed.time_keeping(timer);
    run_suite(session, lab);
  } catch (const MachineError&) {
    throw;
  } catch (const Error& e) {  // what the simulator cannot run
    fail_all(lab, rubric, display, e.what());
  }
}

report::Lab grade_begun(const Rubric& rubric, const fs::path& file, Compiling begun,
                        const Bench& bench, Alike* alike) {
  report::Lab lab;
  lab.name = rubric.lab();
  const std::string display = visible_name(file.string());
  if (!begun.valid()) {
    fail_all(lab, rubric, display, display + ": no such file: it was not handed in");
    return lab;
  }
  try {
    const Compilation compilation = begun.get();
    grade_into(lab, rubric, display, compilation, bench, alike);
  } catch (const toolchain::CompileError& e) {
    fail_all(lab, rubric, display, e.what());
  } catch (const toolchain::BadSubmission& e) {
    fail_all(lab, rubric, display, e.what());
  } catch (const std::bad_alloc&) {
    not_graded(lab, "there is not enough memory on this machine");
  } catch (const Error& e) {
    not_graded(lab, e.what());
  } catch (const std::exception& e) {
    not_graded(lab, std::string("an error in the grader itself: ") + e.what());
  }
  return lab;
}

}  // namespace

report::Lab grade_file(const Rubric& rubric, const fs::path& file, device::Device& device,
                       uint64_t seed, Progress& progress, device::Timer* timer, Alike* alike,
                       double time_limit) {
  Compiling compilation = begun(rubric, file, device, Background::When::when_waited_for);
  wait_for(compilation, file, progress);
  return grade_begun(rubric, file, std::move(compilation),
                     {device, seed, progress, timer, time_limit}, alike);
}

std::vector<LabFile> files_of(const GradeOptions& options) {
  std::vector<LabFile> files;
  for (const std::string& lab : chosen(options)) files.push_back({lab, file_of(options.dir, lab)});
  return files;
}

report::Result grade(const GradeOptions& options) {
  // All rubrics first: one that does not fit is told before anything is compiled.
  std::vector<Rubric> rubrics;
  for (const std::string& lab : chosen(options))
    rubrics.emplace_back(options.rubric.empty() ? rubric_folder() : options.rubric, lab);
  toolchain::installed();  // without nvcc nothing is graded
  const std::unique_ptr<device::Device> device = device::open_device(options.device);
  const std::unique_ptr<device::Timer> timer = device::open_timer(options.device);
  Progress progress(options.progress);
  report::Result result;
  result.device = device->name();
  if (timer) {
    result.timer = timer->name();
    timer->get_ready();
  }
  result.seed = options.seed ? *options.seed : fresh_seed();
  // One lab's kernels run while the next is compiled; but times are taken on a quiet machine.
  const auto when = timer ? Background::When::when_waited_for : Background::When::now;
  const auto file = [&](size_t i) { return file_of(options.dir, rubrics[i].lab()); };
  const auto begin = [&](size_t i) {
    return i < rubrics.size() ? begun(rubrics[i], file(i), *device, when) : Compiling();
  };
  Compiling next = begin(0);
  for (size_t i = 0; i < rubrics.size(); ++i) {
    Compiling now = std::move(next);
    wait_for(now, file(i), progress);
    next = begin(i + 1);
    // A device of its own: where arrays lie decides a little of what atomics and caches cost, and
    // must not depend on the labs that were graded before.
    const std::unique_ptr<device::Device> own = device::open_device(options.device);
    const Bench bench{*own,
                      result.seed,
                      progress,
                      timer.get(),
                      options.time_limit,
                      options.modelled_times,
                      options.close_up,
                      options.every_launch,
                      options.checks};
    report::Lab lab = grade_begun(rubrics[i], file(i), std::move(now), bench, nullptr);
    result.score = report::add_points(result.score, lab.score);
    result.max_score = report::add_points(result.max_score, lab.max_score);
    result.labs.push_back(std::move(lab));
  }
  return result;
}

}  // namespace lab32::grading
