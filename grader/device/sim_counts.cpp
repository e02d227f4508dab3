#include "device/sim_counts.h"

namespace lab32::device {

void tell_apart(const sim::KernelProgram& program, const observe::TrafficObserver& traffic,
                observe::Counters& counters) {
  for (uint32_t site = 0; site < program.sites.size(); ++site) {
    const ptx::OpId id = program.sites[site].ptx->op->id;
    if (id == ptx::OpId::cp_async) {
      const observe::Counters c = traffic.of_site(site);
      observe::Counters copies;
      copies.copy = c.load;
      copies.shared_copy = c.shared_store;
      counters.add(copies);
    } else if (id == ptx::OpId::ldmatrix) {
      counters.matrix_loads += traffic.of_site(site).shared_load.requests;
    } else if (id == ptx::OpId::stmatrix) {
      counters.matrix_stores += traffic.of_site(site).shared_store.requests;
    }
  }
}

uint64_t spin_rounds(const sim::KernelProgram& program, const observe::TrafficObserver& traffic) {
  uint64_t rounds = 0;
  for (uint32_t site = 0; site < program.sites.size(); ++site)
    for (const sim::Issue& issue : program.plans[site].issues)
      if (issue.lanes == sim::Issue::Lanes::spin)
        rounds += traffic.of_site(site).shared_atom.requests;
  return rounds;
}

std::string why_ptx_level(const sim::KernelProgram& program,
                          const observe::TrafficObserver& traffic, uint32_t site,
                          const sim::LaunchOutcome& outcome) {
  const sim::AccessPlan& plan = program.plans[site];
  if (plan.ptx_level) return plan.note;
  // The plan of an instruction in an unrolled loop holds while no warp diverges at its branches.
  const uint32_t first = site - program.sites[site].index;
  for (int32_t branch : plan.if_uniform)
    if (outcome.diverged[first + static_cast<uint32_t>(branch)])
      return "lanes of a warp left the unrolled loop at different times";
  if (traffic.of_site(site).ptx_level)
    return "16-byte pieces that are no pairs: their wavefronts are an estimate";
  return "";
}

}  // namespace lab32::device
