// The grading of one lab of a submission: what its checks work with, and what they leave for those
// after them.
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

class Progress;

// What the labs of one grading have in common. Names that GradeOptions has, too, mean what they
// mean there.
struct GradingSetup {
  device::Device& device;
  uint64_t seed;
  Progress& progress;
  device::Timer* timer = nullptr;  // null: there is none
  double time_limit = TimeLimit::usual();
  bool modelled_times = true;
  std::optional<counters::CloseUpChoice> close_up = {};
  std::function<void(const pictures::Launch&)> every_launch = {};
  std::vector<std::string> checks = {};
  // Is asked before each check: one that counts as passed is not run, and has no row in the result.
  std::function<bool(const RubricRow&)> counts_as_passed = {};
};

// An array as the last launch saw it: its memory may be gone when the launch is talked about.
struct Region {
  std::string name;
  uint64_t address = 0, bytes = 0, element_bytes = 1;
};

// A launch that more than one check looks at (launch.h).
struct SharedLaunch {
  std::shared_ptr<const device::Run> run;
  std::vector<Region> launched;  // its arrays
  std::shared_ptr<const pictures::Launch> pictures;
};

// What timing checks need; timer null: there is no GPU here.
struct TimeKeeping {
  device::Timer* timer = nullptr;
  // Compiled for the timer's card. reference: solutions/, null where it is not there.
  const toolchain::Artifact *submission = nullptr, *reference = nullptr;
};

struct PredictedTime {
  double seconds = 0, error = 0;  // error: a share of it
  std::string bottleneck;         // of the longest launch
};

struct Session {
  const GradingSetup& setup;
  device::LoadedModule& module;
  const SourceFile& source;
  const Rubric& rubric;
  const toolchain::Artifact* artifact = nullptr;  // what the module was loaded from
  TimeKeeping time = {};
  TimeLimit time_limit{};  // of all checks

  // What the checks until now have left.
  std::set<const RubricRow*> passed = {};  // of those that have ended, or nearly (98 %)
  Spending spending{};                     // of their launches
  std::map<std::string, SharedLaunch> shared_launches = {};
  std::map<std::pair<std::string, uint32_t>, PredictedTime> predicted = {};  // by kernel and n
  bool counts_withheld = false;    // by one of them: Check::withhold_count
  std::string shift_warning = {};  // of the compiler, until a check has told it
};

}  // namespace lab32::grading
