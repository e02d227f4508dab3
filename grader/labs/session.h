// What a lab suite works with while it runs: the device, the student's module, seed and limits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/stopwatch.h"
#include "labs/limits.h"
#include "labs/random.h"
#include "labs/source.h"

namespace lab32::labs {

class Progress;

// An array as the last launch saw it: its memory may be gone when the launch is talked about.
struct Region {
  std::string name;
  uint64_t address = 0, bytes = 0, element_bytes = 1;
};

// What checks of speed need; stopwatch null: there is none here.
struct TimeKeeping {
  device::Stopwatch* stopwatch = nullptr;
  // Compiled for the stopwatch's card. reference: solutions/, null where it is not there.
  const compile::Artifact *submission = nullptr, *reference = nullptr;
};

struct Session {
  device::Device& device;
  device::Module& module;
  const Source& source;
  const Limits& limits;
  uint64_t seed;
  Progress& progress;

  std::map<std::string, bool> passed;   // tests that have ended, by name
  std::string test;                     // the one that runs
  double points = 0;                    // what it is worth
  std::vector<class Memory*> memories;  // of the running test, in the order of allocation
  std::vector<Region> launched;         // those of its last launch
  TimeKeeping time = {};

  // The running test's own stream.
  Random random() const { return Random(stream_of(seed, test)); }
};

// The session that runs. Suites are plain functions to doctest, so they find it here.
Session& session();

// Makes `s` the session for as long as it lives.
class CurrentSession {
 public:
  explicit CurrentSession(Session& s);
  ~CurrentSession();
  CurrentSession(const CurrentSession&) = delete;
  CurrentSession& operator=(const CurrentSession&) = delete;
};

}  // namespace lab32::labs
