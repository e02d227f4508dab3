// `lab32 run` and `nvcc`; and where this object is linked, its commands are known.

#include "app/tools.h"
#include "runtime/profiler/list_unsupported.h"
#include "runtime/profiler/start.h"
#include "simulator/timing/profile.h"

namespace lab32::commands {
namespace {

// The program takes this process's place: input, output and exit status are its own.
int run(const RunCommand& command) {
  if (command.list_unsupported) return profiler::list_unsupported(command.program, command.device);
  profiler::Start start;
  start.device = profiler::profile_of(command.device);
  start.program = profiler::build_program(command.program, model::read_profile(start.device).arch);
  start.called = command.program.file;
  start.arguments = command.arguments;
  start.gpus = command.gpus;
  start.schedule = command.schedule;
  profiler::exec(start);
}

int nvcc(const std::vector<std::string>& words) {
  profiler::exec_nvcc(words, model::read_profile(profiler::profile_of("sim")).arch);
}

constexpr Tools kTools = {run,  profiler::profile,      profiler::check, profiler::explain,
                          nvcc, profiler::split_command};

[[maybe_unused]] const bool kLinked = (linked_tools() = &kTools) != nullptr;

}  // namespace
}  // namespace lab32::commands
