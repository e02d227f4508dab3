#include "labs/grade.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "base/error.h"
#include "compile/nvcc.h"
#include "labs/points.h"
#include "labs/progress.h"
#include "labs/reporter.h"

namespace lab32::labs {
namespace {

namespace fs = std::filesystem;
using report::Status;

fs::path file_of(const fs::path& dir, const std::string& lab) { return dir / lab / (lab + ".cu"); }

// 48 bits: any reader of JSON keeps them, and nobody guesses them.
uint64_t fresh_seed() {
  std::random_device entropy;
  return (uint64_t{entropy()} << 32 | entropy()) & 0xffffffffffff;
}

std::vector<std::string> chosen(const Options& options) {
  const std::vector<std::string> known = known_labs();
  for (const std::string& lab : options.labs)
    if (std::find(known.begin(), known.end(), lab) == known.end())
      throw Error(
          fmt::format("there is no lab `{}`; the labs are: {}", lab, fmt::join(known, ", ")));
  std::vector<std::string> labs = options.labs.empty() ? known : options.labs;
  if (!fs::is_directory(options.dir))
    throw Error(
        fmt::format("{}: no such directory; --dir names the one that holds "
                    "LAB/LAB.cu for each lab",
                    options.dir.string()));
  const auto missing = [&](const std::string& lab) {
    return !fs::exists(file_of(options.dir, lab));
  };
  const auto absent = std::find_if(labs.begin(), labs.end(), missing);
  if (absent != labs.end() &&
      (!options.labs.empty() || std::all_of(labs.begin(), labs.end(), missing)))
    throw Error(fmt::format("{}: no such file; --dir names the directory that holds it",
                            file_of(options.dir, *absent).string()));
  return labs;
}

// A lab that cannot run loses all its points: each test with the reason's first line.
void fail_all(report::Lab& lab, const std::string& file, const std::string& message) {
  lab.status = Status::error;
  lab.message = message.substr(0, message.find_last_not_of('\n') + 1);
  lab.tests.clear();
  lab.score = lab.max_score = 0;
  for (const Rubric& rubric : rubrics(suite_of(lab.name))) {
    if (rubric.timed) continue;  // extra points of what was not timed
    report::Test test;
    test.name = rubric.name;
    test.status = Status::error;
    test.max_score = rubric.points;
    test.message = message.substr(0, message.find('\n'));
    test.file = file;
    lab.tests.push_back(test);
    lab.max_score += rubric.points;
  }
}

// What a stopwatch runs: the submission and, beside it, the reference solution, for its card.
class TimedArtifacts {
 public:
  TimedArtifacts(const std::string& lab, const fs::path& file, const compile::Artifact& counted,
                 const device::Stopwatch* stopwatch, Progress& progress) {
    if (!stopwatch) return;
    const Progress::Step step(progress, "compiling for " + stopwatch->name());
    submission_ = counted.arch == stopwatch->arch()
                      ? counted
                      : compile::compile(file, stopwatch->arch(), file.string());
    const fs::path solution = file_of(root() / "solutions", lab);
    std::error_code error;
    if (fs::exists(solution) && !fs::equivalent(solution, file, error))
      reference_ = compile::compile(solution, stopwatch->arch(), "the reference solution");
  }
  TimeKeeping time_keeping(device::Stopwatch* stopwatch) const {
    return {stopwatch, &submission_, reference_ ? &*reference_ : nullptr};
  }

 private:
  compile::Artifact submission_;
  std::optional<compile::Artifact> reference_;
};

}  // namespace

fs::path root() {
  const char* moved = std::getenv("LAB32_ROOT");
  return moved && *moved ? moved : LAB32_ROOT;
}

report::Lab grade_file(const std::string& name, const fs::path& file, device::Device& device,
                       uint64_t seed, Progress& progress, device::Stopwatch* stopwatch) {
  report::Lab lab;
  lab.name = name;
  const std::string display = file.string();
  const Limits limits(root() / "data" / "limits" / (name + ".toml"));
  if (!fs::exists(file)) {
    fail_all(lab, display, display + ": no such file: it was not handed in");
    return lab;
  }
  compile::Artifact artifact;
  try {
    const Progress::Step step(progress, "compiling " + display);
    artifact = compile::compile(file, device.arch(), display);
  } catch (const compile::CompileError& e) {  // any other Error is not the submission's
    fail_all(lab, display, e.what());
    return lab;
  }
  try {
    const Source source(file, display);
    const std::unique_ptr<device::Module> module = device.load(artifact);
    Session session{device, *module, source, limits, seed, progress, {}, {}, 0, {}, {}};
    const TimedArtifacts timed(name, file, artifact, stopwatch, progress);
    session.time = timed.time_keeping(stopwatch);
    run_suite(session, lab);
  } catch (const Error& e) {
    fail_all(lab, display, e.what());
  }
  return lab;
}

report::Result grade(const Options& options) {
  const std::vector<std::string> labs = chosen(options);
  const std::unique_ptr<device::Device> device = device::open_device(options.device);
  const std::unique_ptr<device::Stopwatch> stopwatch = device::open_stopwatch(options.device);
  Progress progress(options.progress);
  report::Result result;
  result.device = device->name();
  if (stopwatch) result.stopwatch = stopwatch->name();
  result.seed = options.seed ? *options.seed : fresh_seed();
  for (const std::string& name : labs) {
    report::Lab lab = grade_file(name, file_of(options.dir, name), *device, result.seed, progress,
                                 stopwatch.get());
    result.score += lab.score;
    result.max_score += lab.max_score;
    result.labs.push_back(std::move(lab));
  }
  return result;
}

}  // namespace lab32::labs
