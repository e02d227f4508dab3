#include "grading/launch/launch.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "device/fault_text.h"
#include "device/ptx_level_text.h"
#include "grading/engine/printed.h"
#include "grading/engine/progress.h"
#include "grading/engine/session.h"
#include "grading/engine/verdict.h"
#include "grading/launch/arrays.h"
#include "grading/launch/given.h"
#include "grading/launch/launch_pictures.h"
#include "grading/launch/odd_amount.h"
#include "grading/launch/parameters.h"
#include "grading/words/words.h"
#include "simulator/observers/races/hazard_text.h"

namespace lab32::grading {
namespace {

// A fault inside a toolkit header has a line, too, but not one of the student's file.
int own_line(const std::string& file, int line) {
  return file.empty() || file == session().source.display() ? line : 0;
}

// What fixes each kind of fault. The fault's own message says where and by how much.
const char* advice(sim::TrapKind kind) {
  switch (kind) {
    case sim::TrapKind::out_of_bounds:
      return "Compare the index with the size of the array before the access.";
    case sim::TrapKind::uninitialised:
      return "Write it first, on every path, or do not read it.";
    case sim::TrapKind::barrier:
      return "Every thread of the block must come to the same __syncthreads(): no early return, no "
             "barrier inside an `if` that only some threads take.";
    case sim::TrapKind::shuffle:
      return "Let every lane that the mask names come: shuffle before an `if` or a `return` that "
             "divides a warp. A lane that has nothing brings a neutral value, for a sum 0.";
    case sim::TrapKind::instruction_limit:
    case sim::TrapKind::time_limit:
    case sim::TrapKind::deadlock:
      return "Does the loop's condition ever become false for every thread?";
    default:
      return "";
  }
}

using Index3 = std::array<uint32_t, 3>;

std::vector<uint32_t> listed(const Index3& index) { return {index.begin(), index.end()}; }

Failure::Access access_of(const sim::TrapFacts& trap) {
  Failure::Access access;
  if (trap.thread) {
    access.block = listed(trap.thread->block);
    access.thread = listed(trap.thread->thread);
  }
  if (trap.access) {
    access.object = trap.access->object;
    access.offset = trap.access->offset;
    access.bytes = trap.access->bytes;
    const auto element = static_cast<int64_t>(trap.access->element);
    if (element > 0 && trap.access->offset >= 0) access.element = *access.offset / element;
  }
  return access;
}

const char* name_of(counters::Finding::Kind kind) {
  using Kind = counters::Finding::Kind;
  switch (kind) {
    case Kind::race:
      return "race";
    case Kind::uninitialised:
      return "uninitialised";
    case Kind::warp_mask:
      return "warp mask";
    case Kind::memory:
      return "memory";
    case Kind::barrier:
      return "barrier";
  }
  return "";
}

const char* in_table(counters::Finding::Kind kind) {
  using Kind = counters::Finding::Kind;
  switch (kind) {
    case Kind::race:
      return "race";
    case Kind::uninitialised:
      return "unwritten value";
    case Kind::warp_mask:
      return "missing lane";
    case Kind::memory:
      return "bad access";
    case Kind::barrier:
      return "missed barrier";
  }
  return "";
}

Failure::Access access_of(const counters::Finding& finding) {
  if (finding.fault) return access_of(*finding.fault);
  Failure::Access access;
  access.block = listed(finding.block);
  access.thread = listed(finding.party.thread);
  access.object = finding.object;
  access.element = finding.element;
  access.offset = static_cast<int64_t>(finding.offset);
  access.bytes = finding.party.bytes;
  if (finding.kind != counters::Finding::Kind::race) return access;
  access.other_line = finding.other_line;
  access.other_block = listed(finding.global ? finding.other_block : finding.block);
  access.other_thread = listed(finding.other.thread);
  return access;
}

// Bytes of one, of the array of that name; 0: it is none of the check's.
uint32_t element_of(const std::string& array) {
  for (const DeviceArray* memory : session().memories)
    if (memory->name() == array) return memory->element_bytes();
  return 0;
}

void limit(device::LaunchOptions& options) {
  const Session& s = session();
  s.spending.limit(s.row->check, options);
  options.seconds = std::clamp(s.time_limit.left(), 1e-3, options.seconds);
}

// A check that the lab's time does not suffice for says nothing of the submission's kernels, and is
// lost all the same.
void check_time_limit() {
  const Session& s = session();
  if (!s.time_limit.used_up()) return;
  if (verdict().lost) throw TestOver{};  // and has said why
  measured("not run");
  lose(s.time_limit.failure());
}

void check_fault(const device::Run& run, const std::string& setting) {
  if (!run.fault) return;
  if (is_limit_of_launch(*run.fault)) check_time_limit();
  device::Fault f = *run.fault;
  if (f.trap && f.trap->access) f.trap->access->element = element_of(f.trap->access->object);
  const std::string what = words(f.kind);
  measured(what);
  std::string message = prefix(setting) + what + ": " + describe(f);
  const std::string fix = advice(f.kind);
  if (!fix.empty()) message += "\n" + fix;
  Failure failure{Failure::Kind::fault, setting, "", to_string(f.kind)};
  if (f.trap) failure.access = access_of(*f.trap);
  lose(failure, own_line(f.file, f.line), message);
}

void check_hazards(const device::Run& run, const std::string& setting) {
  if (!run.hazards) return;
  const counters::Finding* first = nullptr;
  size_t others = 0;
  for (const counters::Finding& finding : *run.hazards) {
    if (finding.note) continue;
    if (first)
      ++others;
    else
      first = &finding;
  }
  if (!first) return;
  measured(in_table(first->kind));
  std::string message = prefix(setting) + describe(*first);
  if (others > 0)
    message += fmt::format("\n{} more finding{} elsewhere.", others, others == 1 ? "" : "s");
  Failure failure{Failure::Kind::hazard, setting, "", name_of(first->kind)};
  failure.access = access_of(*first);
  lose(failure, own_line(first->file, first->line), message);
}

void check_inputs(const std::string& setting) {
  for (const DeviceArray* memory : session().memories) {
    const ptrdiff_t i = memory->first_changed();
    if (i < 0) continue;
    measured("changed " + memory->name());
    Failure failure{Failure::Kind::changed_input, setting, memory->name()};
    failure.index = static_cast<uint64_t>(i);
    lose(failure);
  }
}

// What the student may have called otherwise.
std::string own_kernels() {
  std::string names;
  for (const std::string& name : session().module.kernel_names())
    if (!is_given(name)) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

// The kernel; the check is lost where there is none.
device::Kernel& find(const Launch& launch) {
  Session& s = session();
  device::Kernel* kernel = s.module.find(launch.kernel);
  if (!kernel)
    lose({Failure::Kind::missing, launch.setting, launch.kernel}, 0,
         fmt::format("The file has no kernel `{}` (it has {}). Names and parameters of the kernels "
                     "stay as given.",
                     launch.kernel, own_kernels()));
  check_time_limit();
  if (s.spending.used_up(s.row->check)) {
    const char* kind = to_string(sim::TrapKind::time_limit);
    measured("runs too long");
    lose({Failure::Kind::fault, launch.setting, launch.kernel, kind}, 0,
         s.spending.why(s.row->check));
  }
  s.launched.clear();
  for (const DeviceArray* m : s.memories)
    s.launched.push_back({m->name(), m->buffer().address, m->buffer().bytes, m->element_bytes()});
  return *kernel;
}

}  // namespace

device::Run run(const Launch& launch) {
  Session& s = session();
  const Progress::Step step(s.progress, "running " + launch.kernel);
  device::Kernel& kernel = find(launch);
  check_parameters(kernel.info(), launch.args, launch.setting);
  device::LaunchOptions options;
  options.model = launch.model;
  options.schedule =
      s.other_order.begin(launch.shape, launch.other_order && s.row->credit == Credit::all);
  limit(options);
  look_closely(launch, options);
  const auto before = s.other_order.wants_trial() ? s.device.save() : nullptr;
  const WorkTimer watch;
  device::Run result = s.device.launch(kernel, launch.shape, launch.args, options);
  s.spending.add(s.row->check, result.warp_instructions.value_or(0), watch.seconds());
  s.printed = printed_text(launch.setting, result.output);
  keep_pictures(launch, result);
  if (result.odd_amount && s.odd_amount.empty()) s.odd_amount = describe(*result.odd_amount);
  check_fault(result, launch.setting);
  check_hazards(result, launch.setting);
  check_inputs(launch.setting);
  if (before) {
    const WorkTimer again;
    device::LaunchOptions limits;
    limit(limits);
    s.other_order.try_again(s.device, kernel, launch.shape, launch.args, *before, limits);
    s.spending.add(s.row->check, result.warp_instructions.value_or(0), again.seconds());
  }
  return result;
}

device::Run run_to_count(const Launch& launch) {
  Session& s = session();
  const Progress::Step step(s.progress, "running " + launch.kernel);
  device::LaunchOptions options;
  options.model = launch.model;
  options.check_hazards = options.trap_uninitialised = false;
  limit(options);
  const WorkTimer watch;
  device::Run result = s.device.launch(find(launch), launch.shape, launch.args, options);
  s.spending.add(s.row->check, result.warp_instructions.value_or(0), watch.seconds());
  check_fault(result, launch.setting);
  return result;
}

void end_if_judged() {
  if (session().other_order.judged()) throw TestOver{};
}

bool run_afresh(const Launch& launch) {
  Session& s = session();
  if (!s.artifact) return false;
  const std::unique_ptr<device::LoadedModule> module = s.device.load(*s.artifact);
  device::Kernel* kernel = module->find(launch.kernel);
  device::LaunchOptions limits;
  limit(limits);
  return kernel && !s.spending.used_up(s.row->check) &&
         !s.device.launch(*kernel, launch.shape, launch.args, limits).fault;
}

namespace {

// What moved data in other ways than lanes' loads and stores; empty: nothing did.
std::string other_ways(const device::Run& run, Counted counted) {
  if (run.child_launches > 0) return "launches kernels";
  if (!run.counters) return {};
  const counters::OtherWays& w = run.counters->other;
  if (w.bulk_load.instructions + w.bulk_store.instructions + w.bulk_unknown > 0)
    return "has the copy engine move data (cp.async.bulk)";
  if (w.texture.requests + w.surface_load.requests + w.surface_store.requests + w.texture_unknown >
      0)
    return "reads textures or surfaces";
  if (counted != Counted::global && w.remote_banks.requests > 0)
    return "reaches the shared memory of another block of its cluster";
  return {};
}

void add(counters::GlobalTraffic& to, const counters::GlobalTraffic& from) {
  to.requests += from.requests;
  to.sectors += from.sectors;
}

void add_bulk(counters::GlobalTraffic& global, counters::SharedTraffic& shared,
              const counters::OtherWays::Bulk& from) {
  add(global, {from.lines, from.sectors});
  shared.requests += from.lines;
  shared.wavefronts += from.lines;
  shared.ideal += from.lines;
  shared.lanes += 32 * from.lines;
}

// As if a warp's loads and stores had moved it all: what reaches a multiprocessor, or leaves it, is
// demand, whatever unit asks for it; a line at a time of the copy engine's, which is what a warp's
// request for 4 bytes a lane moves. Another block's shared memory is both: it comes through the
// network that leads to L2, and keeps banks busy.
counters::Counters as_demand(counters::Counters c) {
  const counters::OtherWays w = c.other;
  add_bulk(c.load, c.shared_store, w.bulk_load);
  add_bulk(c.store, c.shared_load, w.bulk_store);
  c.load_ideal += w.bulk_load.ideal;
  c.store_ideal += w.bulk_store.ideal;
  // What the others touch, they need.
  uint64_t sectors = 0;
  for (const counters::GlobalTraffic& load : {w.texture, w.surface_load, w.remote_load}) {
    add(c.load, load);
    c.load_ideal += load.sectors;
    sectors += load.sectors;
  }
  for (const counters::GlobalTraffic& store : {w.surface_store, w.remote_store}) {
    add(c.store, store);
    c.store_ideal += store.sectors;
    sectors += store.sectors;
  }
  add(c.atom, w.remote_atom);
  sectors += w.remote_atom.sectors;
  c.l2_sectors += sectors + w.bulk_load.sectors + w.bulk_store.sectors;
  c.l2_sectors_ideal += sectors + w.bulk_load.ideal + w.bulk_store.ideal;
  c.global_bytes += 32 * (sectors + w.bulk_load.ideal + w.bulk_store.ideal);
  c.shared_load.requests += w.remote_banks.requests;
  c.shared_load.lanes += w.remote_banks.lanes;
  c.shared_load.wavefronts += w.remote_banks.wavefronts;
  c.shared_load.ideal += w.remote_banks.ideal;
  return c;
}

}  // namespace

void demand_of_lanes(const device::Run& run) {
  const std::string what = other_ways(run, Counted::global);
  if (what.empty()) return;
  measured("not the lanes' own");
  lose(Failure{Failure::Kind::uncountable}, 0,
       fmt::format("This kernel {}. What is asked for here is how lanes load and store themselves, "
                   "so that what moves in another way earns no points, however much it is.",
                   what));
}

void demand_counted(const device::Run& run) {
  if (!run.moves_uncounted()) return;
  measured("not countable");
  lose(Failure{Failure::Kind::uncountable}, 0,
       fmt::format("This kernel {}, in a form of which nobody knows how long it keeps the hardware "
                   "busy, and what is not counted earns no points. The lanes' own loads and stores "
                   "are.",
                   other_ways(run, Counted::everything)));
}

counters::Counters counters_of(const device::Run& run, Counted counted) {
  if (!run.counters) {
    NotRun reason{NotRun::Kind::no_counters, session().device.name()};
    not_run(reason);
  }
  const counters::Counters& c = *run.counters;
  const bool global = counted != Counted::shared, shared = counted != Counted::global;
  demand_counted(run);
  if (!(global && c.global_ptx_level) && !(shared && c.shared_ptx_level)) return as_demand(c);
  if (run.bound && !(global && run.bound->global_unbounded) &&
      !(shared && run.bound->shared_unbounded))
    return as_demand(run.bound->counters);
  measured("not countable");
  // Some instructions cannot be counted wherever they stand.
  using Reason = sim::Unmatched::Reason;
  const bool by_form =
      std::any_of(run.ptx_level.begin(), run.ptx_level.end(), [](const auto& access) {
        return access.why.reason == Reason::estimated || access.why.reason == Reason::uncounted ||
               access.why.reason == Reason::unknown_atomic;
      });
  std::string message =
      by_form
          ? "How often the hardware is busy with this form of access is not known here, and what "
            "is not counted earns no points. Another form that does the same can be counted."
          : "ptxas has merged or moved accesses of this kernel. Which became which could not be "
            "found out, nor how many there are at most, and what is not counted earns no "
            "points. Often one access per line, or `#pragma unroll 1` before a loop whose "
            "rounds it has put together, lets them be counted.";
  for (const std::string& line : describe(run.ptx_level)) message += "\n" + line;
  lose(Failure{Failure::Kind::uncountable}, 0, message);
}

}  // namespace lab32::grading
