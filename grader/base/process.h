// A program run in a child process, with limits, and closed off from files and sockets: how the
// grader runs compilers over text that somebody else wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/child.h"

namespace lab32 {

// ---- what a child process may reach ----
//
// The kernel closes it off for good: files by Landlock, sockets and other processes by seccomp.
// Needs no privilege, no namespace and no other program.

// What this kernel, and whoever set limits to this process, lets a process give up.
struct ConfinementSupport {
  int landlock = 0;      // version of its interface; 0: there is none
  bool seccomp = false;  // filters
};
const ConfinementSupport& confinement_support();

class Confinement {
 public:
  struct Paths {
    std::vector<std::string> read;   // and execute: files, or directories with all below
    std::vector<std::string> write;  // and read
  };
  // Paths that are not there are left out. Without Landlock, files are not closed off. Throws
  // MachineError.
  explicit Confinement(const Paths& paths);
  // seccomp only.
  enum class Files { open };
  explicit Confinement(Files) {}

  // In the child, before exec: for itself and all that it starts. 0, or why not.
  int enter() const;

 private:
  Descriptor ruleset_;
};

// ---- the process and its limits ----

// 0 is "no limit". There is none on the number of processes: RLIMIT_NPROC counts all processes of
// the user on the machine, so it would fail a student with many windows and stop no root.
struct ProcessLimits {
  double wall_seconds = 0;    // of the whole group; past it every process of the group is killed
  uint64_t cpu_seconds = 0;   // of each process (RLIMIT_CPU)
  uint64_t memory_bytes = 0;  // address space of each process (RLIMIT_AS)
  uint64_t file_bytes = 0;    // largest file written (RLIMIT_FSIZE)
  uint64_t output_bytes = 0;  // of stdout and of stderr each; past it the group is killed
};

struct Command {
  std::vector<std::string> argv;         // argv[0] is a path: nothing is searched, no shell is run
  std::vector<std::string> environment;  // all of it, "NAME=value"
  std::string directory;                 // working directory; empty: this process's
  ProcessLimits limits;
  const Confinement* confinement = nullptr;  // none: all that this process may reach
};

struct Outcome {
  enum class End { exited, signalled, timed_out, output_exceeded } end = End::exited;
  int status = 0;  // exit status, or the number of the signal
  std::string out, err;
  double seconds = 0;  // wall time

  bool ok() const { return end == End::exited && status == 0; }
};

// Runs the command to its end, with nothing on stdin. Whatever the child left running in its
// process group is killed when it ends, and when this process ends in whatever way. Throws
// MachineError when it cannot be started (no such program, no memory).
Outcome run_process(const Command& command);

// How a run ended, for a message: "exit status 2", "killed by signal 9 (Killed)".
std::string describe(const Outcome& outcome);

}  // namespace lab32
