#include "device/sim_counts.h"

#include <algorithm>

#include "simulator/timing/instruction_cost.h"

namespace lab32::device {
namespace {

sim::AccessWithoutSassMatch make_access_without_sass_match(
    sim::AccessWithoutSassMatch::Reason reason) {
  sim::AccessWithoutSassMatch why;
  why.reason = reason;
  return why;
}

}  // namespace

void add_copy_and_ldmatrix_counters(const sim::KernelProgram& program,
                                    const counters::TrafficObserver& traffic,
                                    counters::Counters& counters) {
  for (uint32_t site = 0; site < program.sites.size(); ++site) {
    const ptx::InstructionTraits& traits = program.sites[site].ptx->op->traits;
    if (traits.memory_count == 2) {  // a copy
      const counters::Counters c = traffic.counters_of_site(site);
      counters::Counters copies;
      copies.copy = c.load;
      copies.shared_copy = c.shared_store;
      counters += copies;
    } else if (traits.matrix && traits.has_address_used_as(ptx::AddressUse::Kind::load)) {
      counters.matrix_loads += traffic.counters_of_site(site).shared_load.requests;
    } else if (traits.matrix) {
      counters.matrix_stores += traffic.counters_of_site(site).shared_store.requests;
    }
  }
}

std::optional<sim::AccessWithoutSassMatch> reason_for_ptx_counts(
    const sim::KernelProgram& program, const counters::TrafficObserver& traffic, uint32_t site,
    const sim::LaunchOutcome& outcome) {
  const sim::AccessPlan& plan = program.plans[site];
  if (plan.unmatched) return plan.unmatched;
  // The plan of an instruction in an unrolled loop is valid while no warp diverges at its branches.
  const uint32_t first = site - program.sites[site].index;
  for (int32_t branch : plan.if_uniform)
    if (outcome.tally[first + static_cast<uint32_t>(branch)].splits > 0)
      return make_access_without_sass_match(sim::AccessWithoutSassMatch::Reason::diverged);
  if (traffic.counters_of_site(site).ptx_level)
    return make_access_without_sass_match(sim::AccessWithoutSassMatch::Reason::estimated);
  return std::nullopt;
}

namespace {

using ptx::Modifier;

// Used without machine code: adds the costs of the PTX instructions.
void add_ptx_issue_work(model::LaunchWorkCounts& work, const sim::KernelProgram& program,
                        const FunctionIssueCounts& f) {
  for (size_t i = 0; i < f.times.size(); ++i) {
    if (f.times[i] == 0) continue;
    const size_t site = f.first_site + i;
    const ptx::Instruction& in = *program.sites[site].ptx;
    auto times = static_cast<double>(f.times[i]);
    // ptxas may have merged neighbouring accesses, or split one.
    if (in.op->traits.has_counted_memory_access() && site < program.plans.size() &&
        !program.plans[site].unmatched)
      times *= static_cast<double>(program.plans[site].issues.size());
    const model::InstructionCost cost = model::cost_of(in);
    work.issue.add(cost.issue, times);
    if (cost.waits == model::InstructionCost::ResultWaitKind::barrier) work.barriers += times;
  }
}

void add_issue_work(model::LaunchWorkCounts& work, const sim::KernelProgram& program,
                    const sass::SassBlocksByFunction& emitted, const FunctionIssueCounts& f) {
  const auto found = emitted.find(f.function->ptx->name);
  if (found == emitted.end() || found->second.empty()) {
    add_ptx_issue_work(work, program, f);
    return;
  }
  for (const sass::EmittedSassBlock& block : found->second) {
    const double times = runs_by_all_warps(block, f);
    for (const sass::EmittedInstruction& in : block.code) {
      work.issue.add(model::issue_slots_of_opcode(in.opcode), times);
      if (in.opcode.rfind("BAR.", 0) == 0) work.barriers += times;
    }
  }
}

void add_warp_split_counts(model::LaunchWorkCounts& work,
                           const std::vector<sim::StaticInstructionIssueCounts>& tally,
                           const FunctionIssueCounts& f) {
  for (size_t i = 0; i < f.times.size(); ++i)
    work.splits += static_cast<double>(tally[f.first_site + i].splits);
}

}  // namespace

std::vector<counters::CacheTreatmentOfInstruction> cache_treatment_by_site(
    const sim::KernelProgram& program) {
  std::vector<counters::CacheTreatmentOfInstruction> uses;
  const std::vector<uint8_t> groups = load_counter_slot_by_site(program);
  for (const sim::InstructionSite& site : program.sites) {
    const ptx::Instruction& in = *site.ptx;
    counters::CacheTreatmentOfInstruction use;
    use.group = groups[uses.size()];
    // L1 is not coherent, so an access that other blocks must see goes to L2 (PTX ISA, "Cache
    // Operators" and "Memory Consistency Model").
    const bool ordered =
        in.has(Modifier::relaxed) || in.has(Modifier::acquire) || in.has(Modifier::mmio);
    use.skips_l1 = in.has(Modifier::cg) || in.has(Modifier::cv) || in.has(Modifier::op_volatile) ||
                   (ordered && !in.has(Modifier::cta));
    use.on_float = in.type_count > 0 && ptx::is_float(in.type());
    uses.push_back(use);
  }
  return uses;
}

counters::CacheHierarchyConfig cache_shape(const model::DeviceProfile& profile,
                                           const model::Occupancy& occupancy) {
  counters::CacheHierarchyConfig shape;
  shape.multiprocessors = profile.multiprocessors;
  shape.resident_blocks = occupancy.blocks;
  shape.l1_bytes = occupancy.l1_bytes;
  shape.l1_ways = profile.caches.l1_ways;
  shape.l2.bytes = profile.caches.l2_bytes;
  shape.l2.ways = profile.caches.l2_ways;
  shape.l2.sides = profile.caches.l2_sides;
  shape.l2.slices = profile.caches.l2_slices;
  shape.l2.dirty_limit = profile.caches.dirty_limit;
  shape.l2.partial_dirty_limit = profile.caches.partial_dirty_limit;
  shape.l2.dram_access_bytes = profile.caches.dram_access_bytes;
  shape.l2.dram_page_bytes = profile.caches.dram_page_bytes;
  shape.l2.dram_banks = profile.caches.dram_banks;
  shape.float_atomic = profile.caches.float_atomic;
  return shape;
}

model::LaunchWorkCounts launch_work_counts_of(const sim::KernelProgram& program,
                                              const LaunchObservations& seen,
                                              const counters::Counters& counters,
                                              const counters::CacheCounters& caches,
                                              uint32_t warps_per_block) {
  const auto number = [](uint64_t count) { return static_cast<double>(count); };
  model::LaunchWorkCounts work;
  work.warps_per_block = warps_per_block;
  for (const FunctionIssueCounts& f : issue_counts_by_function(program, seen.tally, seen.traffic)) {
    add_issue_work(work, program, seen.emitted, f);
    add_warp_split_counts(work, seen.tally, f);
    for (const uint64_t rounds : f.rounds) work.shared_spins += number(rounds);
  }
  work.shared_wavefronts = number(counters.shared_wavefronts());
  work.shared_ideal = number(counters.ideal_shared_wavefronts());
  work.shared_requests = number(counters.shared_requests());
  work.global_loads = number(counters.load.requests);
  work.global_requests = number(counters.global_requests());
  work.l1_load_cycles = number(caches.l1_load_cycles);
  work.l1_store_cycles = number(caches.l1_store_cycles);
  work.l1_hits = caches.l1_load.percent() / 100;
  // A read from device memory fetches whole accesses, and counts as if each of their sectors had
  // been requested.
  const double from_l2 = number(caches.l1_load.sectors - caches.l1_load.hits);
  const double from_dram = std::min(from_l2, number(caches.dram_read) / counters::kSectorBytes);
  work.l2_hits = from_l2 > 0 ? 1 - from_dram / from_l2 : 0;
  work.l2_sectors = number(caches.l2.sectors);
  work.l2_read_lines = number(caches.l2_read_lines);
  work.l2_write_lines = number(caches.l2_write_lines);
  work.l2_fills = number(caches.l2_fills);
  work.atomics = number(counters.red.sectors + counters.atom.sectors);
  work.busiest_slice = seen.caches.busiest_slice_atomic_work();
  work.dram_pages = number(caches.dram_pages);
  work.dram_read = number(caches.dram_read);
  work.dram_written = number(caches.dram_written);
  return work;
}

}  // namespace lab32::device
