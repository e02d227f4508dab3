// The report that `lab32 check` prints about a program's launches, and the counts by which it
// decides the exit status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/record/recording.h"

namespace lab32::profiler {

struct CheckReport {
  // Findings, one for each source line (or pair of lines, for a race), however many launches have
  // it.
  uint64_t memory = 0, race = 0, initialisation = 0, barrier = 0;
  uint64_t stopped = 0;  // launches that ended early: a trap, an assertion, or an endless kernel
  struct SourceLine {
    std::string file;
    int line = 0;
  };
  std::optional<SourceLine> access;  // line of the first finding that `lab32 explain` can draw
  // The report, at most 80 columns wide except for source lines. An empty line ends each finding.
  std::string text;

  uint64_t hazards() const { return memory + race + initialisation + barrier; }
  // An example: "lab32 check: 2 hazards (memory 1, race 1, initialisation 0, barrier 0)"
  std::string last_line() const;
};

CheckReport check_report(const std::vector<record::LaunchProfile>& launches);

// Adds findings in calls of libraries. Calls with the same name and text are counted together; they
// appear before the report's last line.
void add_library_findings(const std::vector<record::LibraryCall>& calls, CheckReport* report);

// Adds faults in the host's part of the program.
void add_host_findings(const std::vector<record::HostFinding>& findings, CheckReport* report);

}  // namespace lab32::profiler
