// Starts a program with the simulated runtime in its library path, and reads the launches that it
// records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/profiler/build_program.h"
#include "runtime/record/recording.h"

namespace lab32::profiler {

struct ProgramToStart {
  std::filesystem::path program;  // the result of build_program()
  std::string called;             // argv[0]
  std::vector<std::string> arguments;
  std::string device = "h200";       // the name of a device profile
  std::string tool = "run";          // LAB32_TOOL: run, profile or check
  std::filesystem::path record;      // LAB32_RECORD; empty: no record
  std::optional<uint64_t> schedule;  // LAB32_SCHEDULE
  unsigned gpus = 1;                 // LAB32_GPUS
  std::string launch_detail;         // LAB32_LAUNCH_DETAIL (record::to_text); empty: nothing
};

// The device profile for "auto", "sim" or "sim:NAME". Throws Error if it is not a simulator.
std::string profile_name_of_device_option(const std::string& device);

// Replaces this process by the program, so input, output and exit status are the program's own.
// Returns only by an Error, if the program cannot be started.
[[noreturn]] void replace_process_by_program(const ProgramToStart& start);

// Runs the program as a child process with this process's input and output. Returns its exit
// status, or 128 plus the signal's number if a signal killed it, as a shell does. Throws Error if
// the program cannot be started.
int run_and_wait(const ProgramToStart& start);

// The result of a program that has run to its end, with the launches that it recorded.

struct RecordedRun {
  int status = 0;  // the program's own exit status, or 128 + signal
  record::RecordedProgramRun recording;
};

// A text such as "exit status: 3", or the signal that killed the program. `status` is not 0.
std::string exit_status_text(int status);

// Settings of ProgramToStart that not every tool uses.
struct ProgramStartOptions {
  std::optional<uint64_t> schedule = std::nullopt;
  unsigned gpus = 1;
  std::string launch_detail = "";
};

// Builds and runs the program; it has this process's input and output. `device` is "sim" or
// "sim:NAME", `tool` is "profile" or "check". Throws Error if the program cannot be built or
// started.
RecordedRun run_recorded(const ProgramOrSources& program, const std::string& device,
                         const std::vector<std::string>& arguments, const std::string& tool,
                         const ProgramStartOptions& asked);

// `lab32 run --list-unsupported`: builds the program without running it, and prints a line for each
// missing library, each refused function and each unsupported instruction. Returns 2 if there is
// any, and otherwise 0. Throws Error if the program cannot be built or read.
int list_unsupported(const ProgramOrSources& program, const std::string& device);

}  // namespace lab32::profiler
