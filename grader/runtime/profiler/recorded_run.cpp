#include "runtime/profiler/recorded_run.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "runtime/profiler/start.h"
#include "simulator/timing/profile.h"

namespace lab32::profiler {
std::string ending(int status) {
  if (status <= 128 || !sigabbrev_np(status - 128))
    return fmt::format("the program's own exit status: {}", status);
  return fmt::format("the program was killed by SIG{} ({}){}", sigabbrev_np(status - 128),
                     sigdescr_np(status - 128),
                     status - 128 == SIGSEGV ? "; host code that touches device memory is" : "");
}

RecordedRun run_recorded(const Program& program, const std::string& device,
                         const std::vector<std::string>& arguments, const std::string& tool,
                         const Asked& asked) {
  const Scratch scratch;
  const std::string record = scratch.path / "record";
  Start start;
  start.device = profile_of(device);
  start.program = build_program(program, model::read_profile(start.device).arch);
  start.called = program.file;
  start.arguments = arguments;
  start.tool = tool;
  start.record = record;
  start.schedule = asked.schedule;
  start.gpus = asked.gpus;
  start.close_up = asked.close_up;
  RecordedRun run;
  run.status = run_and_wait(start);
  std::ifstream in(record);
  run.recording = record::read_recording(in, record);
  // What was compiled here lies in the cache under another name than the user's.
  const std::filesystem::path given(program.file);
  if (given.extension() == ".cu")
    for (record::LaunchProfile& launch : run.recording.launches)
      launch.process_name = given.stem().string();
  return run;
}

}  // namespace lab32::profiler
