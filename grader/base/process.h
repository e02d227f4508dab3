// Runs a program in a child process with limits, and with no access to files and sockets that it
// does not need. The grader runs compilers this way over text from students. ProcessCommand says
// what to run, Confinement what it may reach, and ProcessOutcome how it ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/child.h"

namespace lab32 {

// ---- what a child process may reach ----
// The restriction is permanent: Landlock restricts files, and seccomp sockets and other processes.
// It needs no privilege, no namespace and no other program.

// What this kernel supports, as far as the limits of this process (a container's, say) allow it.
struct ConfinementSupport {
  int landlock = 0;      // version of the interface; 0: not supported
  bool seccomp = false;  // filters
};
const ConfinementSupport& confinement_support();

class Confinement {
 public:
  struct AllowedPaths {
    // paths to read and execute: files, or directories with everything below
    std::vector<std::string> read;
    std::vector<std::string> write;  // and read
  };
  // AllowedPaths that do not exist are ignored. Without Landlock, access to files is not
  // restricted. Throws MachineError.
  explicit Confinement(const AllowedPaths& paths);
  // This confinement leaves files open and only filters system calls (seccomp).
  enum class Files { open };
  explicit Confinement(Files) {}

  // Called in the child before exec: restricts it and all processes that it starts. Returns 0, or
  // errno.
  int enter() const;

 private:
  FileDescriptor ruleset_;
};

// ---- the process and its limits ----

// 0 means "no limit". The number of processes has no limit: RLIMIT_NPROC counts all processes of
// the user on the machine, so it would fail a student with many windows, and it does not apply to
// root.
struct ProcessLimits {
  // The time limit of the whole group. Afterwards every process of the group is killed.
  double wall_seconds = 0;
  uint64_t cpu_seconds = 0;   // limit of each process (RLIMIT_CPU)
  uint64_t memory_bytes = 0;  // limit of the address space of each process (RLIMIT_AS)
  uint64_t file_bytes = 0;    // largest file written (RLIMIT_FSIZE)
  uint64_t output_bytes = 0;  // limit of stdout and of stderr each; beyond it the group is killed
};

struct ProcessCommand {
  std::vector<std::string> argv;         // argv[0] is a path; neither PATH nor a shell is used
  std::vector<std::string> environment;  // the complete environment, "NAME=value"
  std::string directory;                 // working directory; empty: this process's
  ProcessLimits limits;
  const Confinement* confinement = nullptr;  // null: the access rights of this process
};

struct ProcessOutcome {
  enum class End { exited, signalled, timed_out, output_exceeded } end = End::exited;
  int status = 0;  // exit status, or the number of the signal
  std::string out, err;
  double seconds = 0;  // wall time

  bool ok() const { return end == End::exited && status == 0; }
};

// Runs the command to its end, with an empty stdin. Processes that it leaves behind in its process
// group are killed when it ends, or when this process ends for any reason. Throws MachineError if
// the command cannot be started (no such program, no memory).
ProcessOutcome run_process(const ProcessCommand& command);

// How a run ended, for a message: "exit status 2", "killed by signal 9 (Killed)".
std::string describe(const ProcessOutcome& outcome);

}  // namespace lab32
