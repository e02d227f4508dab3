// What `lab32 check` prints of the launches of a program, and counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/record/recording.h"

namespace lab32::profiler {

struct CheckReport {
  // Findings: one for each source line (pair of lines, for a race), whatever launches it was in.
  uint64_t memory = 0, race = 0, initialisation = 0, barrier = 0;
  uint64_t stopped = 0;  // launches that ended otherwise: a trap, an assertion, no end in sight
  struct Place {
    std::string file;
    int line = 0;
  };
  std::optional<Place> access;  // of the first finding that `lab32 explain` draws
  std::string text;  // 80 columns, source lines apart; each finding ends with an empty line

  uint64_t hazards() const { return memory + race + initialisation + barrier; }
  // "lab32 check: 2 hazards (memory 1, race 1, initialisation 0, barrier 0)"
  std::string last_line() const;
};

CheckReport check_report(const std::vector<record::LaunchProfile>& launches);

// Findings of library calls, one for each call and text, counted and shown before the report's last
// line.
void add_library_findings(const std::vector<record::LibraryCall>& calls, CheckReport* report);

}  // namespace lab32::profiler
