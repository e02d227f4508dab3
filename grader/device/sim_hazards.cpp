#include "device/sim_hazards.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "device/kernel_name.h"

namespace lab32::device {
namespace {

using sim::KernelProgram;

// The largest piece in which no shared access is split: what the race check compares.
uint32_t shared_granule(const KernelProgram& program) {
  uint32_t granule = 4;
  for (const sim::Site& site : program.sites) {
    const ptx::Instruction& in = *site.ptx;
    switch (in.op->id) {
      case ptx::OpId::ld:
      case ptx::OpId::st:
      case ptx::OpId::atom:
      case ptx::OpId::atom_cas:
      case ptx::OpId::red:
        if (in.has(ptx::Mod::global) || in.has(ptx::Mod::local) || in.has(ptx::Mod::constant))
          break;
        granule = std::min(granule, ptx::bytes_of(in.type()));
        break;
      default:
        break;
    }
  }
  return granule;
}

bool has_named_barriers(const KernelProgram& program) {
  return std::any_of(program.sites.begin(), program.sites.end(), [](const sim::Site& site) {
    const ptx::Instruction& in = *site.ptx;
    switch (in.op->id) {
      case ptx::OpId::bar_arrive:
      case ptx::OpId::barrier_arrive:
      case ptx::OpId::mbarrier_arrive:
        return true;
      case ptx::OpId::bar_sync:
      case ptx::OpId::barrier_sync:
        return in.has_operand(1);
      case ptx::OpId::bar_red_popc:
      case ptx::OpId::bar_red_pred:
      case ptx::OpId::barrier_red_popc:
      case ptx::OpId::barrier_red_pred:
        return in.has_operand(2);
      default:
        return false;
    }
  });
}

}  // namespace

observe::HazardObserver hazard_observer(const KernelProgram& program, uint32_t shared_bytes,
                                        const observe::PositionOf& position) {
  std::vector<sim::SharedVariable> variables = program.shared_in(shared_bytes);
  for (sim::SharedVariable& v : variables) v.name = variable_name(v.name);
  return {shared_granule(program), has_named_barriers(program), std::move(variables), position};
}

}  // namespace lab32::device
