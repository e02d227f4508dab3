// What a lab suite works with while it runs: the device, the student's module, seed and rubric.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/source_file.h"
#include "device/device.h"
#include "gpu/timer.h"
#include "grading/engine/limits.h"
#include "grading/launch/schedule_trial.h"
#include "grading/rubric/rubric.h"
#include "pictures/picture.h"

namespace lab32::grading {

class Progress;

// An array as the last launch saw it: its memory may be gone when the launch is talked about.
struct Region {
  std::string name;
  uint64_t address = 0, bytes = 0, element_bytes = 1;
};

// A launch that more than one check looks at (shared_launch.h).
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
  device::Device& device;
  device::LoadedModule& module;
  const SourceFile& source;
  const Rubric& rubric;
  uint64_t seed;
  Progress& progress;

  const RubricRow* row = nullptr;                 // of the check that runs
  std::set<const RubricRow*> passed = {};         // of those that have ended, or nearly (98 %)
  std::vector<class DeviceArray*> memories = {};  // of the running check, as they were allocated
  std::vector<Region> launched = {};              // those of its last launch
  std::string withheld = {};                      // the check that asks what this one could tell
  bool counts_withheld = false;                   // of a check that has run: verdict.h
  std::string printed = {};                       // what that launch has printed, for a message
  std::string undefined_amount = {};                    // the check's first such shift or shuffle
  std::string shift_warning = {};                     // of the file, until it is told
  ScheduleTrial trial = {};                 // of the running check's launches
  std::map<std::string, SharedLaunch> shared_launches = {};  // of all checks until now
  bool sharing_launch = false;                               // the launch that runs will be one
  const toolchain::Artifact* artifact = nullptr;             // what the module was loaded from
  TimeKeeping time = {};
  bool modelled_times = true;                                   // where there is no timer
  std::vector<std::string> checks = {};                         // GradeOptions::checks
  std::function<bool(const RubricRow&)> counts_as_passed = {};  // GradingSetup
  Spending spending{};                                          // of the launches up to now
  TimeLimit time_limit{};                                       // of all of the lab
  // Where somebody wants pictures: how closely to look; those of the last launch, and of the one of
  // the running check that wasted most.
  std::optional<counters::CloseUpChoice> close_up = {};
  std::shared_ptr<const pictures::Launch> last_pictures = {}, pictures = {};
  std::function<void(const pictures::Launch&)> every_launch = {};  // is told of each
  std::vector<pictures::Mapping> mappings = {};  // that the running check has asked for
  std::map<std::pair<std::string, uint32_t>, PredictedTime> predicted = {};  // by kernel and n

  // The running check's own stream.
  Random random() const { return Random(stream_of(seed, row->check)); }
};

// The session that runs. Suites are plain functions to doctest, so they find it here.
Session& session();

// Where the submission defines a kernel or a function; 0: it does not.
int line_of(const std::string& name);

// What the rubric says for the check that runs.
const RubricRow& rubric();

// Whether the check of that name has been passed, or nearly.
bool has_passed(const std::string& check);

// A kernel that does nothing is fast, so a check has prerequisites.
// The first prerequisite of the running check that has not passed; null: all have.
const RubricRow* open_prerequisite();

// The running check is lost unless all have passed. The harness asks before the check begins; of a
// bonus, credit_speed and credit_step ask, once they know whether this machine can time it.
void require_prerequisites();

// Makes `s` the session for as long as it lives, instead of the one before.
class CurrentSession {
 public:
  explicit CurrentSession(Session& s);
  ~CurrentSession();
  CurrentSession(const CurrentSession&) = delete;
  CurrentSession& operator=(const CurrentSession&) = delete;

 private:
  Session* before_;
};

}  // namespace lab32::grading
