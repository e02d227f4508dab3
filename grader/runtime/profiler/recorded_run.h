// A program run to its end by a tool, and what it recorded meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/profiler/build_program.h"
#include "runtime/record/recording.h"

namespace lab32::profiler {

// Exit status where something in the program is not supported.
constexpr int kNotSupported = 2;

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

}  // namespace lab32::profiler
