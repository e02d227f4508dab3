// One lab of one submission while it is graded. GradingSetup holds the settings that all labs of a
// grading share, and GradingSession the state that earlier checks leave for later ones.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/source_file.h"
#include "device/device.h"
#include "gpu/timer.h"
#include "grading/engine/limits.h"
#include "grading/rubric/rubric.h"
#include "pictures/picture.h"

namespace lab32::grading {

class LaunchHooks;
class ProgressReporter;

// Settings that all labs of a grading share. Members mean the same as those of GradeOptions with
// the same name.
struct GradingSetup {
  device::Device& device;
  uint64_t seed;
  ProgressReporter& progress;
  device::KernelTimingDevice* timer = nullptr;  // null: no GPU to time on
  double time_limit = TimeLimit::default_seconds();
  bool modelled_times = true;
  std::optional<counters::DetailFilter> launch_detail = {};
  std::function<void(const pictures::PicturedLaunch&)> every_launch = {};
  std::vector<std::string> checks = {};
  bool runs_hidden = false;
  LaunchHooks* watcher = nullptr;
  // Called before each check. A check for which it returns true counts as passed, is not run, and
  // has no row in the result.
  std::function<bool(const RubricCheckEntry&)> counts_as_passed = {};
};

// An array of the last launch. It is a copy, because messages are written after the memory is
// freed.
struct LaunchedArray {
  std::string name;
  uint64_t address = 0, bytes = 0, element_bytes = 1;
};

// A launch that several checks use (launch.h).
struct LaunchSharedByChecks {
  std::shared_ptr<const device::LaunchResult> run;
  std::vector<LaunchedArray> launched;  // the launch's arrays
  std::shared_ptr<const pictures::PicturedLaunch> pictures;
};

// What timing checks need.
struct TimerAndArtifacts {
  device::KernelTimingDevice* timer = nullptr;
  // The submission, and the reference solution if there is one, compiled for the timer's card.
  const toolchain::CompiledArtifact *submission = nullptr, *reference = nullptr;
};

struct PredictedTime {
  double seconds = 0, error = 0;  // error: relative
  std::string bottleneck;         // bottleneck of the longest launch
};

struct GradingSession {
  const GradingSetup& setup;
  device::LoadedModule& module;
  const SourceFile& source;
  const Rubric& rubric;
  const toolchain::CompiledArtifact* artifact = nullptr;  // the module's source
  TimerAndArtifacts time = {};
  TimeLimit time_limit{};  // limit of the whole lab

  // Results of the checks that have run.
  std::set<const RubricCheckEntry*> passed = {};  // checks with at least 98 % of their points
  SimulationBudget spending{};                    // the cost of their launches
  std::map<std::string, LaunchSharedByChecks> shared_launches = {};
  std::map<std::pair<std::string, uint32_t>, PredictedTime> predicted = {};  // by kernel and n
  bool counts_withheld = false;    // some check called Check::withhold_count
  std::string shift_warning = {};  // the compiler's; empty once a check has reported it
};

}  // namespace lab32::grading
