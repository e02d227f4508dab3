#include "device/sim_work.h"

#include <algorithm>

#include "model/dependences.h"
#include "model/instruction_cost.h"
#include "ptx/control_flow.h"

namespace lab32::device {
namespace {

using ptx::Mod;

bool is_memory(const ptx::Instruction& in) {
  switch (in.op->id) {
    case ptx::OpId::ld:
    case ptx::OpId::ld_nc:
    case ptx::OpId::st:
    case ptx::OpId::red:
    case ptx::OpId::atom:
      return true;
    default:
      return false;
  }
}

void add_issue(model::Work& work, const sim::KernelProgram& program,
               const std::vector<sim::IssueTally>& tally) {
  for (size_t site = 0; site < program.sites.size(); ++site) {
    if (tally[site].warps == 0) continue;
    const ptx::Instruction& in = *program.sites[site].ptx;
    auto times = static_cast<double>(tally[site].warps);
    // ptxas may have merged neighbouring accesses, or split one.
    if (is_memory(in) && site < program.plans.size() && !program.plans[site].ptx_level)
      times *= static_cast<double>(program.plans[site].issues.size());
    work.issue.add(model::cost_of(in).issue, times);
  }
}

void add_chains(model::Work& work, const sim::KernelProgram& program,
                const std::vector<sim::IssueTally>& tally) {
  for (size_t first = 0; first < program.sites.size();) {
    const sim::CodeFunction& function = program.functions[program.sites[first].function];
    size_t end = first;
    while (end < program.sites.size() &&
           program.sites[end].function == program.sites[first].function)
      ++end;
    std::vector<uint64_t> times;
    for (size_t site = first; site < end; ++site) times.push_back(tally[site].warps);
    const model::Chain chain =
        model::longest_chains(*function.ptx, ptx::analyse_control_flow(*function.ptx), times);
    work.global_rounds += chain.global_rounds;
    work.shared_rounds += chain.shared_rounds;
    work.chain_cycles += chain.cycles;
    work.barriers += chain.barriers;
    first = end;
  }
}

}  // namespace

std::vector<observe::CacheUse> cache_uses(const sim::KernelProgram& program) {
  std::vector<observe::CacheUse> uses;
  for (const sim::Site& site : program.sites) {
    const ptx::Instruction& in = *site.ptx;
    observe::CacheUse use;
    // PTX ISA, "Cache Operators" and "Memory Consistency Model": L1 is not coherent, so what others
    // must see goes to L2.
    const bool ordered = in.has(Mod::relaxed) || in.has(Mod::acquire) || in.has(Mod::mmio);
    use.skips_l1 = in.has(Mod::cg) || in.has(Mod::cv) || in.has(Mod::op_volatile) ||
                   (ordered && !in.has(Mod::cta));
    use.on_float = in.type_count > 0 && ptx::is_float(in.type());
    uses.push_back(use);
  }
  return uses;
}

observe::CacheShape cache_shape(const model::Profile& profile, const model::Occupancy& occupancy) {
  observe::CacheShape shape;
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
  shape.float_atomic = profile.caches.float_atomic;
  return shape;
}

model::Work work_of(const sim::KernelProgram& program, const std::vector<sim::IssueTally>& tally,
                    const observe::Counters& counters, const observe::CacheCounters& caches,
                    double busiest_slice) {
  const auto number = [](uint64_t count) { return static_cast<double>(count); };
  model::Work work;
  add_issue(work, program, tally);
  add_chains(work, program, tally);
  work.shared_wavefronts = number(counters.shared_wavefronts());
  work.shared_ideal = number(counters.shared_ideal());
  work.global_requests = number(counters.load.requests + counters.store.requests +
                                counters.red.requests + counters.atom.requests);
  work.l1_cycles = number(caches.l1_cycles);
  work.l1_hits = caches.l1_load.percent() / 100;
  // A read from device memory brings whole accesses: counted as if each sector had been asked for.
  const double from_l2 = number(caches.l1_load.sectors - caches.l1_load.hits);
  const double from_dram = std::min(from_l2, number(caches.dram_read) / observe::kSectorBytes);
  work.l2_hits = from_l2 > 0 ? 1 - from_dram / from_l2 : 0;
  work.l2_sectors = number(caches.l2.sectors);
  work.l2_read_lines = number(caches.l2_read_lines);
  work.l2_write_lines = number(caches.l2_write_lines);
  work.l2_fills = number(caches.l2_fills);
  work.atomics = number(counters.red.sectors + counters.atom.sectors);
  work.busiest_slice = busiest_slice;
  work.dram_accesses = number(caches.dram_accesses);
  work.dram_read = number(caches.dram_read);
  work.dram_written = number(caches.dram_written);
  return work;
}

}  // namespace lab32::device
