#include "device/sim_hazards.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "simulator/ptx/module.h"

namespace lab32::device {
namespace {

using sim::KernelProgram;

// The largest piece in which no shared access is split: what the race check compares.
uint32_t shared_granule(const KernelProgram& program) {
  uint32_t granule = 4;
  for (const sim::Site& site : program.sites) {
    const ptx::Instruction& in = *site.ptx;
    if (!in.op->traits.accesses_memory()) continue;
    const ptx::Space space = ptx::memory_space(in, 0);
    if (space == ptx::Space::shared || space == ptx::Space::generic)
      granule = std::min(granule, ptx::element_bytes(in));
  }
  return granule;
}

bool has_named_barriers(const KernelProgram& program, bool clusters) {
  if (clusters) return true;  // a block's barrier is one of some of the cluster's warps
  return std::any_of(program.sites.begin(), program.sites.end(), [](const sim::Site& site) {
    const ptx::Instruction& in = *site.ptx;
    const ptx::Sync sync = in.op->traits.sync;
    if (sync == ptx::Sync::block_arrive || sync == ptx::Sync::mbarrier_arrive) return true;
    // How many threads take part is the operand that may be left out.
    bool some_threads = false;
    for (size_t i = 0; i < in.op->operands.size(); ++i)
      some_threads |= in.op->operands[i].optional && in.has_operand(i);
    return sync == ptx::Sync::block && some_threads;
  });
}

}  // namespace

counters::HazardObserver hazard_observer(const sim::LaunchContext& launch,
                                         const counters::PositionOf& position) {
  const KernelProgram& program = *launch.program;
  return {shared_granule(program), has_named_barriers(program, launch.has_clusters()),
          program.shared_in(launch.shared_bytes), position};
}

}  // namespace lab32::device
