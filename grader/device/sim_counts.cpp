#include "device/sim_counts.h"

namespace lab32::device {
namespace {

sim::Unmatched because(sim::Unmatched::Reason reason) {
  sim::Unmatched why;
  why.reason = reason;
  return why;
}

}  // namespace

void classify(const sim::KernelProgram& program, const counters::TrafficObserver& traffic,
              counters::Counters& counters) {
  for (uint32_t site = 0; site < program.sites.size(); ++site) {
    const ptx::Traits& traits = program.sites[site].ptx->op->traits;
    if (traits.memory_count == 2) {  // a copy
      const counters::Counters c = traffic.of_site(site);
      counters::Counters copies;
      copies.copy = c.load;
      copies.shared_copy = c.shared_store;
      counters += copies;
    } else if (traits.matrix && traits.uses(ptx::MemoryUse::Kind::load)) {
      counters.matrix_loads += traffic.of_site(site).shared_load.requests;
    } else if (traits.matrix) {
      counters.matrix_stores += traffic.of_site(site).shared_store.requests;
    }
  }
}

std::optional<uint32_t> most_issues(const sim::Unmatched& why, const ptx::Traits& traits) {
  using Reason = sim::Unmatched::Reason;
  if (traits.is_atomic()) return std::nullopt;
  switch (why.reason) {
    // ptxas put pieces of a vector together, or let one load serve several rounds of a loop: never
    // more accesses than in the PTX, and each at addresses that the PTX has.
    case Reason::shared_by_iterations:
      return 1;
    case Reason::copies_differ:
    case Reason::no_single_grouping:
      if (why.in_machine_code <= why.in_ptx) return 1;
      return std::nullopt;
    // One of several alike has no instruction: ptxas put some together, or made copies of the code
    // around them of which one runs. It may load earlier than asked to, but never store twice.
    case Reason::like_one_without:
      if (traits.uses(ptx::MemoryUse::Kind::store) && !traits.uses(ptx::MemoryUse::Kind::load))
        return 1;
      return std::nullopt;
    // The lanes of one PTX access stand either in the unrolled rounds or in those left over.
    case Reason::diverged:
      return 2;
    default:
      return std::nullopt;
  }
}

std::optional<sim::Unmatched> why_ptx_level(const sim::KernelProgram& program,
                                            const counters::TrafficObserver& traffic, uint32_t site,
                                            const sim::LaunchOutcome& outcome) {
  const sim::AccessPlan& plan = program.plans[site];
  if (plan.unmatched) return plan.unmatched;
  // The plan of an instruction in an unrolled loop holds while no warp diverges at its branches.
  const uint32_t first = site - program.sites[site].index;
  for (int32_t branch : plan.if_uniform)
    if (outcome.tally[first + static_cast<uint32_t>(branch)].splits > 0)
      return because(sim::Unmatched::Reason::diverged);
  if (traffic.of_site(site).ptx_level) return because(sim::Unmatched::Reason::estimated);
  return std::nullopt;
}

}  // namespace lab32::device
