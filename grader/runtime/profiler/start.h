// Starts a program on the simulated runtime.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/profiler/build_program.h"
#include "runtime/record/recording.h"

namespace lab32::profiler {

struct Start {
  std::filesystem::path program;  // build_program()'s
  std::string called;             // its argv[0]
  std::vector<std::string> arguments;
  std::string device = "h200";       // a profile's name
  std::string tool = "run";          // LAB32_TOOL: run, profile, check
  std::filesystem::path record;      // LAB32_RECORD; empty: none
  std::optional<uint64_t> schedule;  // LAB32_SCHEDULE
  unsigned gpus = 1;                 // LAB32_GPUS
  std::string close_up;              // LAB32_CLOSE_UP (record::to_text); empty: none
};

// The profile that "auto", "sim" or "sim:NAME" means. Throws Error for what is no simulator.
std::string profile_of(const std::string& device);

// This process becomes the program: input, output and exit status are its own. Returns only to
// throw Error, when it cannot be started.
[[noreturn]] void exec(const Start& start);

// Runs it beside this process, with this process's input and output. Its exit status, or 128 and
// the number of the signal that killed it, as a shell says it. Throws Error when it cannot be
// started.
int run_and_wait(const Start& start);

// A program run to its end by a tool, and what it recorded meanwhile.

struct RecordedRun {
  int status = 0;  // the program's own, 128 + signal
  record::Recording recording;
};

// "exit status: 3", or by which signal the program was killed. `status` is not 0.
std::string ending(int status);

// Of Start's what only some ask for.
struct Asked {
  std::optional<uint64_t> schedule = std::nullopt;
  unsigned gpus = 1;
  std::string close_up = "";
};

// `program`: build_program()'s; `device`: "sim", "sim:NAME"; `tool`: "profile" or "check". The
// program has this process's input and output. Throws Error when it cannot be built or started.
RecordedRun run_recorded(const Program& program, const std::string& device,
                         const std::vector<std::string>& arguments, const std::string& tool,
                         const Asked& asked);

// `lab32 run --list-unsupported`: all that a program will not get, before anything of it runs.
// Builds the program, prints a line for each library that is not here, each function of the runtime
// that is refused, each refusal of device code, and returns 2 if there is any, else 0. Throws Error
// when the program cannot be built or read.
int list_unsupported(const Program& program, const std::string& device);

}  // namespace lab32::profiler
