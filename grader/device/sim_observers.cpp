#include "device/sim_observers.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "device/names.h"
#include "device/sim_counts.h"
#include "device/sim_trace.h"
#include "simulator/ptx/module.h"
#include "simulator/timing/multiprocessor.h"
#include "simulator/timing/time.h"

namespace lab32::device {
namespace {

using sim::KernelProgram;

// The largest power of two that divides the address and size of every shared access. The race check
// compares pieces of this size.
uint32_t shared_access_granule_bytes(const KernelProgram& program) {
  uint32_t granule = 4;
  for (const sim::InstructionSite& site : program.sites) {
    const ptx::Instruction& in = *site.ptx;
    if (!in.op->traits.has_counted_memory_access()) continue;
    const ptx::Space space = ptx::memory_space(in, 0);
    if (space == ptx::Space::shared || space == ptx::Space::generic)
      granule = std::min(granule, ptx::element_bytes(in));
  }
  return granule;
}

bool has_partial_barriers(const KernelProgram& program, bool clusters) {
  if (clusters) return true;  // a barrier of one block includes only some warps of the cluster
  return std::any_of(program.sites.begin(), program.sites.end(),
                     [](const sim::InstructionSite& site) {
                       const ptx::Instruction& in = *site.ptx;
                       const ptx::InstructionSync sync = in.op->traits.sync;
                       if (sync == ptx::InstructionSync::block_arrive ||
                           sync == ptx::InstructionSync::mbarrier_arrive)
                         return true;
                       // The operand that gives the number of threads is optional.
                       bool some_threads = false;
                       for (size_t i = 0; i < in.op->operands.size(); ++i)
                         some_threads |= in.op->operands[i].optional && in.has_operand(i);
                       return sync == ptx::InstructionSync::block && some_threads;
                     });
}

counters::SiteOrders memory_orders_by_site(const KernelProgram& program) {
  counters::SiteOrders orders;
  for (const sim::InstructionSite& site : program.sites)
    orders.push_back(program.functions[site.function].code[site.index].order);
  return orders;
}

// Whether nothing but barriers orders accesses to shared memory.
bool is_ordered_by_barriers_only(const KernelProgram& program, const counters::SiteOrders& orders) {
  for (size_t site = 0; site < orders.size(); ++site) {
    const ptx::InstructionTraits& traits = program.sites[site].ptx->op->traits;
    if (traits.sync == ptx::InstructionSync::fence || orders[site].acquire ||
        orders[site].release || (orders[site].strong && !traits.is_atomic()))
      return false;
  }
  return true;
}

// Makes the race check with the facts about the program that it needs before the launch.
counters::SharedMemoryHazardObserver hazard_observer(const sim::LaunchContext& launch,
                                                     const counters::PositionOf& position) {
  const KernelProgram& program = *launch.program;
  counters::SiteOrders orders = memory_orders_by_site(program);
  if (is_ordered_by_barriers_only(program, orders)) orders.clear();
  return {shared_access_granule_bytes(program),
          has_partial_barriers(program, launch.has_clusters()),
          program.shared_variables_of(launch.own_shared_bytes), position, std::move(orders)};
}

WorstAccess worst_access(const counters::ExampleWarpAccess& e, const counters::SourcePosition& at) {
  WorstAccess w;
  w.file = at.file;
  w.line = at.line;
  w.block = e.block;
  w.warp = e.warp;
  w.shared = e.space == sim::AccessSpace::shared;
  w.store = e.kind != sim::AccessKind::load;
  w.atomic = e.kind == sim::AccessKind::red || e.kind == sim::AccessKind::atom;
  w.bytes = e.bytes;
  w.mask = e.mask;
  w.address = e.address;
  w.cost = e.cost;
  w.ideal = e.ideal;
  return w;
}

// Records an allocation and the kernel parameter that points into it, unless it is recorded
// already.
void add_array_detail_if_new(const sim::LaunchContext& launch, const sim::Allocation& in,
                             std::vector<counters::AccessedArray>& arrays) {
  for (const counters::AccessedArray& known : arrays)
    if (known.begin == in.begin) return;
  counters::AccessedArray array{in.begin, in.end - in.begin, in.name};
  const auto& parameters = launch.program->functions[0].ptx->params;
  uint32_t bytes = 0;
  const auto offsets = ptx::parameter_offsets(parameters, &bytes);
  for (size_t i = 0; i < parameters.size() && array.parameter < 0; ++i) {
    uint64_t pointer = 0;
    if (parameters[i].size != sizeof pointer) continue;
    launch.memory->download(&pointer, launch.param_address + offsets[i], sizeof pointer);
    if (pointer >= in.begin && pointer < in.end) array.parameter = static_cast<int32_t>(i);
  }
  arrays.push_back(std::move(array));
}

OutOfRangeShiftOrShuffle out_of_range_shift_or_shuffle(const sim::OutOfRangeShiftOrShuffle& odd,
                                                       const counters::PositionOf& position) {
  OutOfRangeShiftOrShuffle found;
  if (const auto at = position(odd.site)) {
    found.file = at->file;
    found.line = at->line;
  }
  found.shuffle = odd.shuffle;
  found.amount = static_cast<int32_t>(odd.amount);
  found.limit = odd.limit;
  return found;
}

}  // namespace

LaunchObservers::LaunchObservers(const sim::LaunchContext& launch, const LaunchOptions& options,
                                 ElementNames& places)
    : launch_(launch),
      options_(options),
      program_(*launch.program),
      places_(places),
      position_([this](uint32_t site) { return program_.position(site); }),
      hazards_(hazard_observer(launch, position_)),
      races_(*launch.memory) {
  if (options.count) all_.push_back(&traffic_);
  if (options.launch_detail)
    all_.push_back(&launch_detail_.emplace(*options.launch_detail, position_));
  if (options.check_hazards) {
    all_.push_back(&hazards_);
    all_.push_back(&races_);
    if (!program_.bulk_ops.empty()) all_.push_back(&engine_use_);
  }
  if (options.loads != LaunchOptions::Loads::newest && !launch.has_clusters() &&
      counters::StaleGlobalValueInjector::has_loads_of_old_values(program_)) {
    const bool oldest = options.loads == LaunchOptions::Loads::oldest;
    all_.push_back(&stale_.emplace(*launch.memory, memory_orders_by_site(program_),
                                   oldest ? counters::StaleGlobalValueInjector::Choice::oldest
                                          : counters::StaleGlobalValueInjector::Choice::any,
                                   options.schedule.value_or(0)));
  }
}

void LaunchObservers::observe_for_time_model(const model::DeviceProfile& profile,
                                             const model::Occupancy& occupancy,
                                             const sass::SassBlocksByFunction& emitted,
                                             std::optional<counters::L2> l2) {
  caches_.emplace(cache_shape(profile, occupancy), cache_treatment_by_site(program_),
                  std::move(l2));
  all_.push_back(&*caches_);
  for (const sim::AccessPlan& plan : program_.plans)
    for (const sim::SassAccessOfPtxInstruction& issue : plan.issues)
      if (issue.lanes == sim::SassAccessOfPtxInstruction::Lanes::spin && !spins_)
        all_.push_back(&spins_.emplace());
  profile_ = &profile;
  emitted_ = &emitted;
  occupancy_ = occupancy;
}

namespace {

model::UnmatchedAccessesOfLaunch unmatched_access_flags(const LaunchResult& run) {
  const auto is_atomic = [](const AccessCountedAsPtx& access) {
    return access.instruction == "atom" || access.instruction == "red";
  };
  return {!run.ptx_level.empty(),
          std::any_of(run.ptx_level.begin(), run.ptx_level.end(), is_atomic)};
}

}  // namespace

LaunchResult LaunchObservers::collect_results(sim::LaunchOutcome outcome) {
  LaunchResult run;
  run.output = std::move(outcome.output);
  run.output_lost = outcome.output_lost;
  run.grid_races_unchecked = outcome.grid_races_unchecked;
  if (outcome.out_of_range_shift_or_shuffle)
    run.out_of_range_shift_or_shuffle =
        out_of_range_shift_or_shuffle(*outcome.out_of_range_shift_or_shuffle, position_);
  if (outcome.uninitialised) run.uninitialised = fault_of(*outcome.uninitialised);
  if (stale_) {
    run.stale = stale_->findings(position_);
    for (counters::Finding& finding : run.stale) places_.name_element(finding);
  }
  if (const auto& ended = outcome.trap ? outcome.trap : outcome.bad_access) {
    // A launch that was stopped has no counters: they would depend on which blocks ran first.
    run.fault = fault_of(*ended);
    if (options_.check_hazards && options_.keep_going) run.hazards = findings();
    return run;
  }
  run.longest_warp = outcome.longest_warp;
  run.warp_instructions = 0;
  uint64_t lanes = 0;
  for (const sim::StaticInstructionIssueCounts& t : outcome.tally) {
    *run.warp_instructions += t.warps;
    lanes += t.lanes;
  }
  const uint64_t threads = launch_.grid.count() * launch_.block.count();
  if (outcome.busiest_warp > 0)
    run.working_share = static_cast<double>(lanes) / static_cast<double>(threads) /
                        static_cast<double>(outcome.busiest_warp);
  if (options_.check_hazards) run.hazards = findings();
  if (launch_detail_) run.launch_detail = launch_detail();
  if (!options_.count) return run;
  traffic_.add_issue_counts(outcome.tally);
  run.counters = traffic_.totals();
  add_copy_and_ldmatrix_counters(program_, traffic_, *run.counters);
  run.lines = traffic_.counters_by_line(position_);
  if (caches_) add_predicted_time(outcome, run);
  add_worst_accesses_by_site(outcome, run);
  if (run.predicted)
    model::widen_error_estimate(*run.predicted, *run.work, unmatched_access_flags(run));
  return run;
}

KernelFault LaunchObservers::fault_of(const sim::Trap& trap) {
  KernelFault fault;
  fault.kind = trap.kind();
  fault.trap = trap;
  if (trap.access)
    places_.name_element(*fault.trap->access, program_.shared_variables_of(launch_.shared_bytes));
  if (!trap.has_site) return fault;
  if (const auto at = position_(trap.site)) {
    fault.file = at->file;
    fault.line = at->line;
    fault.call_line = at->call_line;
  }
  return fault;
}

// The findings in shared and device memory, ordered by source position.
std::vector<counters::Finding> LaunchObservers::findings() {
  std::vector<counters::Finding> all = hazards_.findings();
  for (counters::Finding& race : races_.findings(position_)) all.push_back(std::move(race));
  for (counters::Finding& use : engine_use_.findings(position_)) all.push_back(std::move(use));
  for (counters::Finding& finding : all) {
    places_.name_element(finding);
    if (finding.fault && finding.fault->access)
      places_.name_element(*finding.fault->access,
                           program_.shared_variables_of(launch_.shared_bytes));
  }
  std::stable_sort(
      all.begin(), all.end(), [](const counters::Finding& a, const counters::Finding& b) {
        return std::tie(a.file, a.line, a.other_line) < std::tie(b.file, b.line, b.other_line);
      });
  return all;
}

// Adds the student's names for elements of variables. Elements of the host's arrays are named
// later, by the host.
counters::LaunchDetail LaunchObservers::launch_detail() {
  counters::LaunchDetail seen = launch_detail_->result();
  const auto shared = program_.shared_variables_of(launch_.shared_bytes);
  for (const sim::SharedVariable& variable : shared)
    seen.shared_arrays.push_back({variable.offset, variable.bytes, variable_name(variable.name)});
  for (counters::LineDetail& line : seen.lines)
    for (counters::RequestDetail& request : line.requests) {
      request.place.resize(request.address.size());
      for (uint32_t rest = request.mask; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        sim::FaultyMemoryAccess access;
        access.space = line.shared ? sim::AccessSpace::shared : sim::AccessSpace::global;
        access.bytes = request.bytes;
        access.offset = static_cast<int64_t>(request.address[lane]);
        access.size = launch_.shared_bytes;
        if (!line.shared) {
          const sim::Allocation* in = launch_.memory->find(request.address[lane]);
          if (in == nullptr) continue;
          add_array_detail_if_new(launch_, *in, seen.arrays);
          access.object = in->name;
          access.offset -= static_cast<int64_t>(in->begin);
          access.size = in->end - in->begin;
        }
        places_.name_element(access, shared);
        request.place[lane] = access.place;
        if (line.shared && access.place.empty() && !access.object.empty())
          request.place[lane] = access.object + "+" + std::to_string(access.offset);
      }
    }
  return seen;
}

void LaunchObservers::add_predicted_time(const sim::LaunchOutcome& outcome, LaunchResult& run) {
  run.caches = caches_->counters();
  run.work =
      launch_work_counts_of(program_, {*emitted_, outcome.tally, traffic_, *caches_}, *run.counters,
                            *run.caches, static_cast<uint32_t>((launch_.block.count() + 31) / 32));
  add_modelled_cycles(outcome, *run.work);
  run.work->blocks = launch_.grid.count();
  run.work->occupancy = occupancy_;
  run.work->warm = options_.model == LaunchOptions::Model::warm;
  // The time of traffic that is not a load or store of global or shared memory is not modelled.
  if (!run.counters->other.any()) run.predicted = model::predict(*profile_, *run.work);
  if (run.predicted) {
    const double waited = static_cast<double>(outcome.longest_wait) / profile_->time.sm_hz;
    run.predicted->seconds += waited;
    run.predicted->kernel_seconds += waited;
  }
  l2_ = caches_->take_l2();
}

// Adds the cycles of the multiprocessor that finishes last.
void LaunchObservers::add_modelled_cycles(const sim::LaunchOutcome& outcome,
                                          model::LaunchWorkCounts& work) {
  work.blocks = launch_.grid.count();
  work.occupancy = occupancy_;
  const double warps = static_cast<double>(work.blocks) * work.warps_per_block;
  double units = 0;
  const model::AverageWarpTrace trace = build_warp_trace(
      program_, {*emitted_, outcome.tally, traffic_, *caches_}, work, warps, &units);
  model::SmWork at;
  // Rounds, so that the result does not depend on the order in which the counts of the blocks were
  // added.
  const auto rounded = [](double x) { return std::round(x * 1e4) / 1e4; };
  if (spins_) at.shared_words = rounded(spins_->shared_words());
  if (spins_) at.last_lanes = std::max(1.0, rounded(spins_->last_lanes()));
  at.blocks = work.blocks;
  at.warps = work.warps_per_block;
  at.resident = std::max(1u, occupancy_.blocks);
  at.issued = outcome.warps;
  // All multiprocessors request equally, so each gets this many cycles of the shared units.
  const double share = profile_->time.sm_hz * static_cast<double>(std::min<uint64_t>(
                                                  profile_->multiprocessors, work.blocks));
  if (units > 0) {
    at.memory_cycles = model::memory_seconds(*profile_, work) * share / units;
    at.read_write_mixing_degree = model::read_write_mixing_degree(work);
  }
  if (work.atomics > 0)
    at.update_cycles = model::atomic_seconds(*profile_, work) * share / work.atomics;
  const model::SmTiming all = model::run_multiprocessor(*profile_, trace, at);
  work.cycles = all.cycles;
  work.busiest =
      all.issued * profile_->multiprocessors / std::max(1.0, warps * instructions_per_warp(trace));
  at.memory_cycles = at.update_cycles = 0;
  work.cycles_alone = model::run_multiprocessor(*profile_, trace, at).cycles;
}

// Adds the most expensive access of each site, and the accesses whose counts are PTX-level.
void LaunchObservers::add_worst_accesses_by_site(const sim::LaunchOutcome& outcome,
                                                 LaunchResult& run) const {
  for (uint32_t site = 0; site < program_.sites.size(); ++site) {
    const auto at = position_(site);
    if (const counters::ExampleWarpAccess* e = traffic_.worst_example(site))
      run.worst.push_back(worst_access(*e, at.value_or(counters::SourcePosition{})));
    if (outcome.tally[site].warps == 0) continue;
    run.peer_accesses += outcome.tally[site].peer;
    const auto why = reason_for_ptx_counts(program_, traffic_, site, outcome);
    if (!why) continue;
    const counters::Counters moved = traffic_.counters_of_site(site);
    const counters::TextureBulkRemoteTraffic& other = moved.other;
    const bool global = moved.global_requests() + other.texture.requests +
                            other.surface_load.requests + other.surface_store.requests >
                        0;
    const bool shared = moved.shared_requests() + other.remote_banks.requests > 0;
    run.counters->ptx_level = true;
    run.counters->global_ptx_level |= global;
    run.counters->shared_ptx_level |= shared;
    for (counters::LineCounters& line : run.lines) {
      if (!at || line.file != at->file || line.line != at->line) continue;
      line.counters.ptx_level = true;
      line.counters.global_ptx_level |= global;
      line.counters.shared_ptx_level |= shared;
    }
    AccessCountedAsPtx access;
    if (at) {
      access.file = at->file;
      access.line = at->line;
    }
    access.ptx_line = program_.sites[site].ptx->ptx_line;
    access.instruction = program_.sites[site].ptx->op->base;
    access.why = *why;
    run.ptx_level.push_back(std::move(access));
  }
  if (!run.ptx_level.empty()) {
    run.least = traffic_.least_totals();
    add_copy_and_ldmatrix_counters(program_, traffic_, *run.least);
  }
  std::stable_sort(run.worst.begin(), run.worst.end(),
                   [](const WorstAccess& a, const WorstAccess& b) {
                     return std::tie(a.file, a.line) < std::tie(b.file, b.line);
                   });
}

}  // namespace lab32::device
