#include "device/sim_trace.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/register_uses.h"
#include "simulator/sass/control_flow.h"
#include "simulator/timing/instruction_cost.h"

namespace lab32::device {

std::vector<FunctionIssueCounts> issue_counts_by_function(
    const sim::KernelProgram& program, const std::vector<sim::StaticInstructionIssueCounts>& tally,
    const counters::TrafficObserver& traffic) {
  std::vector<FunctionIssueCounts> all;
  for (size_t site = 0; site < program.sites.size(); ++site) {
    if (site == 0 || program.sites[site].function != program.sites[site - 1].function)
      all.push_back({&program.functions[program.sites[site].function], site, {}, {}});
    all.back().times.push_back(tally[site].warps);
    uint64_t rounds = 0;
    for (const sim::SassAccessOfPtxInstruction& issue : program.plans[site].issues)
      if (issue.lanes == sim::SassAccessOfPtxInstruction::Lanes::spin)
        rounds = traffic.counters_of_site(static_cast<uint32_t>(site)).shared_atom.requests;
    all.back().rounds.push_back(rounds);
  }
  return all;
}

double runs_by_all_warps(const sass::EmittedSassBlock& block, const FunctionIssueCounts& f) {
  const double entered = sass::expected_runs(block, f.times);
  if (block.spin_loop < 0) return entered;
  const auto at = static_cast<size_t>(block.spin_loop);
  // The instruction was not matched with the machine code, so the number of iterations is unknown.
  if (f.rounds[at] == 0 || f.times[at] == 0) return entered;
  return entered * static_cast<double>(f.rounds[at]) / static_cast<double>(f.times[at]);
}

namespace {

using Kind = model::ModelledInstruction::Kind;

// The average cost of the accesses that the machine code issues for one PTX instruction.
struct MeanAccessCost {
  float busy = 1, l1_misses = 0, l2_misses = 0, first_l1_misses = 0, first_l2_misses = 0,
        weight = 0, updates = 0;
};

sass::LoopsAndControlDependence control_structure_of(const ptx::ControlFlow& flow) {
  sass::ControlFlowGraph graph;
  for (const ptx::BasicBlock& block : flow.blocks) {
    graph.next.push_back(block.successors);
    if (block.may_exit) graph.next.back().push_back(static_cast<int>(flow.blocks.size()));
  }
  return sass::analyse_control_structure(graph);
}

class AverageWarpTraceBuilder {
 public:
  AverageWarpTraceBuilder(const sim::KernelProgram& program, const LaunchObservations& source,
                          const model::LaunchWorkCounts& work, double warps)
      : program_(program),
        source_(source),
        work_(work),
        warps_(warps),
        groups_(load_counter_slot_by_site(program)),
        of_groups_(source.caches.load_counts_by_instruction_group()) {
    for (uint32_t s = 0; s < program.sites.size(); ++s) {
      const counters::Counters c = source.traffic.counters_of_site(s);
      loaded_[groups_[s]] += sectors(c.load) + sectors(c.atom);
      stores_ += sectors(c.store) + sectors(c.red) + sectors(c.atom);
    }
  }

  model::AverageWarpTrace build_trace() {
    for (const FunctionIssueCounts& f :
         issue_counts_by_function(program_, source_.tally, source_.traffic)) {
      const auto found = source_.emitted.find(f.function->ptx->name);
      if (found == source_.emitted.end() || found->second.empty())
        add_ptx_code(f);
      else
        append_basic_blocks(f, found->second);
      for (size_t i = 0; i < f.times.size(); ++i)
        trace_.splits += static_cast<double>(source_.tally[f.first_site + i].splits) / warps_;
    }
    return std::move(trace_);
  }

  double units() const { return units_; }

 private:
  static double sectors(const counters::GlobalTraffic& t) { return static_cast<double>(t.sectors); }

  static double share_of_total(uint64_t part, uint64_t of) {
    return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of);
  }

  // The share of executions in which no lane of the warp is active. They take an issue slot, too.
  static double share_without_active_lane(uint64_t requests, double executed) {
    return std::max(0.0, 1 - static_cast<double>(requests) / executed);
  }

  MeanAccessCost access_cost_of(size_t site, double executed, Kind kind) {
    MeanAccessCost cost;
    if (executed <= 0) return cost;
    const counters::Counters c = source_.traffic.counters_of_site(static_cast<uint32_t>(site));
    if (kind == Kind::shared) {
      const auto wavefronts = static_cast<double>(c.shared_wavefronts());
      cost.busy = static_cast<float>(wavefronts / executed +
                                     share_without_active_lane(c.shared_requests(), executed));
      return cost;
    }
    const double loaded = sectors(c.load) + sectors(c.atom);
    const double stored = sectors(c.store) + sectors(c.red);
    cost.updates = static_cast<float>((sectors(c.atom) + sectors(c.red)) / executed);
    if (kind == Kind::global_store) {
      cost.busy =
          static_cast<float>(work_.l1_store_cycles * stored / std::max(stores_, 1.0) / executed +
                             share_without_active_lane(c.global_requests(), executed));
      cost.weight = static_cast<float>(stored / executed);
      units_ += stored;
      return cost;
    }
    const counters::LoadGroupCacheCounts& group = of_groups_[groups_[site]];
    const auto asked = static_cast<double>(group.asked);
    double miss = 1, waits = 1, dram_share = 0, first = 1, first_dram_share = 0;
    if (c.atom.sectors == 0 && group.accesses > 0) {
      miss = 1 - static_cast<double>(group.hits) / asked;
      first = share_of_total(group.first_waits_for_l2, group.first);
      first_dram_share = share_of_total(group.first_waits_for_dram, group.first_waits_for_l2);
      const uint64_t waiting = group.waits_for_l2 - group.first_waits_for_l2;
      waits = share_of_total(waiting, group.accesses - group.first);
      dram_share = share_of_total(group.waits_for_dram - group.first_waits_for_dram, waiting);
    }
    // Atomics pass through L1 like stores.
    const double busy = c.atom.sectors > 0 ? work_.l1_store_cycles * loaded / std::max(stores_, 1.0)
                                           : static_cast<double>(group.cycles) * loaded /
                                                 std::max(loaded_[groups_[site]], 1.0);
    cost.busy = static_cast<float>(busy / executed +
                                   share_without_active_lane(c.global_requests(), executed));
    cost.l1_misses = static_cast<float>(waits);
    cost.l2_misses = static_cast<float>(dram_share);
    cost.first_l1_misses = static_cast<float>(first);
    cost.first_l2_misses = static_cast<float>(first_dram_share);
    cost.weight = static_cast<float>(loaded * miss / executed);
    units_ += loaded * miss;
    return cost;
  }

  void append_basic_blocks(const FunctionIssueCounts& f,
                           const std::vector<sass::EmittedSassBlock>& blocks) {
    std::vector<double> executed(f.times.size(), 0), runs;
    for (const sass::EmittedSassBlock& block : blocks) {
      runs.push_back(device::runs_by_all_warps(block, f));
      for (const sass::EmittedInstruction& in : block.code)
        if (in.is_copy) executed[static_cast<size_t>(in.origin)] += runs.back();
    }
    const size_t before = trace_.blocks.size();
    const uint32_t lines = trace_.lines;
    for (size_t b = 0; b < blocks.size(); ++b) {
      model::TraceBasicBlock& to = trace_.blocks.emplace_back();
      to.runs = runs[b] / warps_;
      for (const size_t header : blocks[b].loops) to.loops.push_back(before + header);
      for (const sass::EmittedInstruction& in : blocks[b].code) {
        model::ModelledInstruction made = model::modelled_instruction_of_opcode(in.opcode);
        made.line =
            static_cast<uint16_t>(lines + static_cast<uint32_t>(in.address) / model::kCodeLine);
        trace_.lines = std::max<uint32_t>(trace_.lines, made.line + 1u);
        made.scheduled = in.control.known;
        made.stall = in.control.stall;
        made.waits_for = in.control.waits_for;
        made.write_barrier = in.control.write;
        made.read_barrier = in.control.read;
        made.banks = in.banks;
        if (blocks[b].spin_loop >= 0 && in.opcode.rfind("LDS", 0) == 0)
          made.spin = model::ModelledInstruction::Spin::load;
        if (in.opcode.rfind("ATOMS.CAST", 0) == 0)
          made.spin = model::ModelledInstruction::Spin::swap;
        made.reads.assign(in.registers.reads.begin(), in.registers.reads.end());
        made.writes.assign(in.registers.writes.begin(), in.registers.writes.end());
        if (made.kind == Kind::copy_wait) made.slots = static_cast<uint8_t>(1 + in.pending);
        const bool memory = made.kind == Kind::shared || made.kind == Kind::global_load ||
                            made.kind == Kind::global_store || made.kind == Kind::copy;
        if (memory && in.origin >= 0 && in.opcode.rfind("SHFL", 0) != 0) {
          const auto origin = static_cast<size_t>(in.origin);
          const auto [at, fresh] = costs_.try_emplace(f.first_site + origin);
          if (fresh)
            at->second = access_cost_of(f.first_site + origin, executed[origin], made.kind);
          made.busy = at->second.busy;
          made.l1_misses = at->second.l1_misses;
          made.l2_misses = at->second.l2_misses;
          made.group = groups_[f.first_site + origin];
          made.first_l1_misses = at->second.first_l1_misses;
          made.first_l2_misses = at->second.first_l2_misses;
          made.weight = at->second.weight;
          made.updates = at->second.updates;
        }
        to.code.push_back(std::move(made));
      }
    }
    trace_.registers = std::max<size_t>(trace_.registers, sass::kRegisters);
  }

  // Used without machine code: adds the PTX instructions in their order.
  void add_ptx_code(const FunctionIssueCounts& f) {
    const ptx::Function& function = *f.function->ptx;
    const ptx::ControlFlow flow = ptx::analyse_control_flow(function);
    const sass::LoopsAndControlDependence structure = control_structure_of(flow);
    const size_t before = trace_.blocks.size();
    for (size_t b = 0; b < flow.blocks.size(); ++b) {
      const ptx::BasicBlock& block = flow.blocks[b];
      model::TraceBasicBlock& to = trace_.blocks.emplace_back();
      for (int loop = structure.loop_of[b]; loop >= 0;
           loop = structure.loops[static_cast<size_t>(loop)].parent)
        to.loops.insert(
            to.loops.begin(),
            before + static_cast<size_t>(structure.loops[static_cast<size_t>(loop)].header));
      for (int i = block.first; i < block.last; ++i) {
        const auto at = static_cast<size_t>(i);
        if (at >= f.times.size()) break;
        to.runs = std::max(to.runs, static_cast<double>(f.times[at]) / warps_);
        const ptx::Instruction& in = function.body[at];
        const model::InstructionCost estimate = model::cost_of(in);
        if (estimate.issue.all <= 0) continue;
        model::ModelledInstruction made = model::modelled_instruction_of_ptx(estimate);
        if (made.unit == model::ModelledInstruction::Unit::memory) {
          const MeanAccessCost c =
              access_cost_of(f.first_site + at, static_cast<double>(f.times[at]), made.kind);
          made.busy = c.busy, made.weight = c.weight, made.updates = c.updates;
          made.l1_misses = c.l1_misses, made.l2_misses = c.l2_misses;
          made.group = groups_[f.first_site + at];
          made.first_l1_misses = c.first_l1_misses, made.first_l2_misses = c.first_l2_misses;
        }
        ptx::for_each_register(function, in, [&](int reg, bool is_destination) {
          (is_destination ? made.writes : made.reads).push_back(static_cast<uint16_t>(reg));
          trace_.registers = std::max<size_t>(trace_.registers, static_cast<size_t>(reg) + 1);
        });
        to.code.push_back(std::move(made));
      }
    }
  }

  const sim::KernelProgram& program_;
  const LaunchObservations& source_;
  const model::LaunchWorkCounts& work_;
  const double warps_;
  const std::vector<uint8_t> groups_;
  const std::array<counters::LoadGroupCacheCounts, counters::kLoadGroups> of_groups_;
  std::map<size_t, MeanAccessCost> costs_;
  model::AverageWarpTrace trace_;
  std::array<double, counters::kLoadGroups> loaded_{};  // sectors
  double stores_ = 0, units_ = 0;
};

}  // namespace

std::vector<uint8_t> load_counter_slot_by_site(const sim::KernelProgram& program) {
  std::vector<uint8_t> groups;
  size_t loads = 0;
  for (const sim::InstructionSite& site : program.sites) {
    const ptx::InstructionTraits& t = site.ptx->op->traits;
    groups.push_back(static_cast<uint8_t>(loads % counters::kLoadGroups));
    loads += t.has_counted_memory_access() && !site.ptx->has(ptx::Modifier::shared);
  }
  return groups;
}

model::AverageWarpTrace build_warp_trace(const sim::KernelProgram& program,
                                         const LaunchObservations& source,
                                         const model::LaunchWorkCounts& work, double warps,
                                         double* units) {
  AverageWarpTraceBuilder builder(program, source, work, warps);
  model::AverageWarpTrace trace = builder.build_trace();
  *units = builder.units();
  return trace;
}

}  // namespace lab32::device
