#include "device/sim_work.h"

#include <algorithm>

#include "device/function_times.h"
#include "device/sim_trace.h"
#include "simulator/timing/instruction_cost.h"
#include "simulator/timing/machine_issue.h"

namespace lab32::device {
namespace {

using ptx::Mod;

// As the PTX has it, where there is no machine code at hand.
void add_ptx_issue(model::Work& work, const sim::KernelProgram& program, const FunctionTimes& f) {
  for (size_t i = 0; i < f.times.size(); ++i) {
    if (f.times[i] == 0) continue;
    const size_t site = f.first_site + i;
    const ptx::Instruction& in = *program.sites[site].ptx;
    auto times = static_cast<double>(f.times[i]);
    // ptxas may have merged neighbouring accesses, or split one.
    if (in.op->traits.accesses_memory() && site < program.plans.size() &&
        !program.plans[site].unmatched)
      times *= static_cast<double>(program.plans[site].issues.size());
    const model::InstructionCost cost = model::cost_of(in);
    work.issue.add(cost.issue, times);
    if (cost.waits == model::InstructionCost::Waits::barrier) work.barriers += times;
  }
}

void add_issue(model::Work& work, const sim::KernelProgram& program,
               const sass::EmittedFunctions& emitted, const FunctionTimes& f) {
  const auto found = emitted.find(f.function->ptx->name);
  if (found == emitted.end() || found->second.empty()) {
    add_ptx_issue(work, program, f);
    return;
  }
  for (const sass::EmittedBlock& block : found->second) {
    const double times = runs(block, f);
    for (const sass::EmittedInstruction& in : block.code) {
      work.issue.add(model::machine_issue(in.opcode), times);
      if (in.opcode.rfind("BAR.", 0) == 0) work.barriers += times;
    }
  }
}

void add_splits(model::Work& work, const std::vector<sim::IssueTally>& tally,
                const FunctionTimes& f) {
  for (size_t i = 0; i < f.times.size(); ++i)
    work.splits += static_cast<double>(tally[f.first_site + i].splits);
}

}  // namespace

std::vector<counters::CacheUse> cache_uses(const sim::KernelProgram& program) {
  std::vector<counters::CacheUse> uses;
  const std::vector<uint8_t> groups = load_groups(program);
  for (const sim::Site& site : program.sites) {
    const ptx::Instruction& in = *site.ptx;
    counters::CacheUse use;
    use.group = groups[uses.size()];
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

counters::CacheShape cache_shape(const model::Profile& profile, const model::Occupancy& occupancy) {
  counters::CacheShape shape;
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

model::Work work_of(const sim::KernelProgram& program, const sass::EmittedFunctions& emitted,
                    const std::vector<sim::IssueTally>& tally,
                    const counters::TrafficObserver& traffic, const counters::Counters& counters,
                    const counters::CacheCounters& caches, double busiest_slice,
                    uint32_t warps_per_block) {
  const auto number = [](uint64_t count) { return static_cast<double>(count); };
  model::Work work;
  work.warps_per_block = warps_per_block;
  for (const FunctionTimes& f : by_function(program, tally, traffic)) {
    add_issue(work, program, emitted, f);
    add_splits(work, tally, f);
    for (const uint64_t rounds : f.rounds) work.shared_spins += number(rounds);
  }
  work.shared_wavefronts = number(counters.shared_wavefronts());
  work.shared_ideal = number(counters.shared_ideal());
  work.shared_requests = number(counters.shared_requests());
  work.global_loads = number(counters.load.requests);
  work.global_requests = number(counters.global_requests());
  work.l1_load_cycles = number(caches.l1_load_cycles);
  work.l1_store_cycles = number(caches.l1_store_cycles);
  work.l1_hits = caches.l1_load.percent() / 100;
  // A read from device memory brings whole accesses: counted as if each sector had been asked for.
  const double from_l2 = number(caches.l1_load.sectors - caches.l1_load.hits);
  const double from_dram = std::min(from_l2, number(caches.dram_read) / counters::kSectorBytes);
  work.l2_hits = from_l2 > 0 ? 1 - from_dram / from_l2 : 0;
  work.l2_sectors = number(caches.l2.sectors);
  work.l2_read_lines = number(caches.l2_read_lines);
  work.l2_write_lines = number(caches.l2_write_lines);
  work.l2_fills = number(caches.l2_fills);
  work.atomics = number(counters.red.sectors + counters.atom.sectors);
  work.busiest_slice = busiest_slice;
  work.dram_pages = number(caches.dram_pages);
  work.dram_read = number(caches.dram_read);
  work.dram_written = number(caches.dram_written);
  return work;
}

}  // namespace lab32::device
