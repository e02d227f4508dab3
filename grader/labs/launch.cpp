#include "labs/launch.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include "labs/memory.h"
#include "labs/progress.h"
#include "labs/session.h"
#include "labs/verdict.h"

namespace lab32::labs {
namespace {

// A fault inside a toolkit header has a line, too, but not one of the student's file.
int own_line(const std::string& file, int line) {
  return file.empty() || file == session().source.display() ? line : 0;
}

// What mends each kind of fault. The fault's own message says where and by how much.
const char* advice(const std::string& kind) {
  if (kind == "out of bounds")
    return "Compare the index with the size of the array before the access.";
  if (kind == "uninitialised") return "Write it first, on every path, or do not read it.";
  if (kind == "barrier")
    return "Every thread of the block must come to the same __syncthreads(): no early return, no "
           "barrier inside an `if` that only some threads take.";
  if (kind == "shuffle")
    return "Let every lane that the mask names come: shuffle before an `if` or a `return` that "
           "divides a warp. A lane that has nothing brings a neutral value, for a sum 0.";
  if (kind == "budget") return "Does the loop's condition ever become false for every thread?";
  return "";
}

void check_fault(const device::Run& run, const std::string& setting) {
  if (!run.fault) return;
  const device::Fault& f = *run.fault;
  measured(f.kind);
  std::string message = prefix(setting) + f.kind + ": " + f.message;
  const std::string mend = advice(f.kind);
  if (!mend.empty()) message += "\n" + mend;
  lose(own_line(f.file, f.line), message);
}

void check_hazards(const device::Run& run, const std::string& setting) {
  if (!run.hazards) return;
  const observe::Finding* first = nullptr;
  size_t others = 0;
  for (const observe::Finding& finding : *run.hazards) {
    if (finding.note) continue;
    if (first)
      ++others;
    else
      first = &finding;
  }
  if (!first) return;
  measured(first->kind == observe::Finding::Kind::race ? "race" : "hazard");
  std::string message = prefix(setting) + first->message;
  if (others > 0)
    message += fmt::format("\n{} more finding{} elsewhere.", others, others == 1 ? "" : "s");
  lose(own_line(first->file, first->line), message);
}

void check_inputs(const std::string& setting) {
  for (const Memory* memory : session().memories) {
    const ptrdiff_t i = memory->first_changed();
    if (i < 0) continue;
    measured("changed " + memory->name());
    lose(0, fmt::format("{}the kernel has changed {}[{}], which it may only read.", prefix(setting),
                        memory->name(), i));
  }
}

}  // namespace

std::string prefix(const std::string& setting) { return setting.empty() ? "" : setting + ": "; }

device::Run run(const Launch& launch) {
  Session& s = session();
  const Progress::Step step(s.progress, "running " + launch.kernel);
  device::Kernel* kernel = s.module.find(launch.kernel);
  if (!kernel)
    lose(0, fmt::format("The file has no kernel `{}` (it has {}). Names and parameters of the "
                        "kernels stay as given.",
                        launch.kernel, fmt::join(s.module.kernel_names(), ", ")));
  s.launched.clear();
  for (const Memory* m : s.memories)
    s.launched.push_back({m->name(), m->buffer().address, m->buffer().bytes, m->element_bytes()});
  device::LaunchOptions options;
  options.model = launch.model;
  device::Run result = s.device.launch(*kernel, launch.shape, launch.args, options);
  check_fault(result, launch.setting);
  check_hazards(result, launch.setting);
  check_inputs(launch.setting);
  return result;
}

const observe::Counters& counters_of(const device::Run& run, Counted counted) {
  if (!run.counters) not_run("the device `" + session().device.name() + "` does not count sectors");
  if (counted == Counted::global ? run.counters->global_ptx_level : run.counters->ptx_level) {
    std::string reason =
        "ptxas has merged or moved accesses of this kernel, and which became which could not be "
        "found out: such counts decide no points. Often one access a line, or `#pragma unroll 1` "
        "before a loop whose rounds it has put together, lets them be counted.";
    for (const std::string& line : run.ptx_level) reason += "\n" + line;
    not_run(reason);
  }
  return *run.counters;
}

}  // namespace lab32::labs
