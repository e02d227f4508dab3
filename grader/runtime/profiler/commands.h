// The commands for whole programs in build/runtime/lab32: run, profile, check, explain and nvcc.
// Each takes a structure of options and returns the exit status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pictures/picture.h"
#include "runtime/profiler/build_program.h"
#include "runtime/record/recording.h"
#include "simulator/observers/traffic/launch_detail.h"

namespace lab32::profiler {

// `lab32 profile`: the counters that Nsight Compute would report for a program.
struct ProfileOptions {
  ProgramOrSources program;
  std::string device = "sim";
  unsigned gpus = 1;
  std::vector<std::string> arguments;
  std::string metrics;  // "A,B"; empty: print tables
  std::string kernel;   // regular expression for the kernels to show; empty: all
  std::string csv;      // output file; empty: none
  bool source = false;
};

// Runs the program, prints its recorded launches and returns the exit status: 2 if the program
// needed something unsupported, otherwise the program's own. Throws Error for wrong options before
// the program runs.
int profile_program(const ProfileOptions& options);

// `lab32 check`: the hazards that compute-sanitizer would find in a program, and some that it
// overlooks.
struct HazardCheckCommandOptions {
  ProgramOrSources program;
  std::string device = "sim";
  unsigned gpus = 1;
  std::vector<std::string> arguments;
  // The seed for the order of blocks and warps; nullopt: the default order.
  std::optional<uint64_t> schedule;
  std::string lab32 = "lab32";  // how to call this program, for the command that draws a finding
};

// Runs the program, prints its hazards and returns the exit status: 2 if the program needed
// something unsupported; otherwise 1 if there is a hazard or a kernel was stopped; otherwise the
// program's own. Throws Error if the program cannot be built or started.
int check_program(const HazardCheckCommandOptions& options);

// `lab32 explain PROGRAM.cu --line N`: pictures of the accesses on a line of a program.
struct ExplainOptions {
  ProgramOrSources program;
  std::string device = "sim";
  unsigned gpus = 1;
  std::vector<std::string> arguments;
  counters::DetailFilter choice;  // the function sets its file
};

// Draws the launch that wastes most on the line. The program's output goes to stderr. Throws Error
// if no launch executes the line.
pictures::PicturedCheck picture_of_program_run(const ExplainOptions& options);

// ---------------------------------------------------------------------------------------------
// The report that `lab32 check` prints about a program's launches, and the counts by which it
// decides the exit status.

struct ProgramHazardReport {
  // Findings, one for each source line (or pair of lines, for a race), however many launches have
  // it.
  uint64_t memory = 0, race = 0, initialisation = 0, barrier = 0;
  uint64_t stopped = 0;  // launches that ended early: a trap, an assertion, or an endless kernel
  struct FileAndLine {
    std::string file;
    int line = 0;
  };
  std::optional<FileAndLine> access;  // line of the first finding that `lab32 explain` can draw
  // The report, at most 80 columns wide except for source lines. An empty line ends each finding.
  std::string text;

  uint64_t hazards() const { return memory + race + initialisation + barrier; }
  // An example: "lab32 check: 2 hazards (memory 1, race 1, initialisation 0, barrier 0)"
  std::string last_line() const;
};

ProgramHazardReport make_hazard_report(const std::vector<record::LaunchProfile>& launches);

// Adds findings in calls of libraries. Calls with the same name and text are counted together; they
// appear before the report's last line.
void add_library_findings(const std::vector<record::RecordedLibraryCall>& calls,
                          ProgramHazardReport* report);

// Adds faults in the host's part of the program.
void add_host_findings(const std::vector<record::HostFinding>& findings,
                       ProgramHazardReport* report);

}  // namespace lab32::profiler
