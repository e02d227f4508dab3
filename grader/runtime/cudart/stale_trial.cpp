// `lab32 check` repeats launches whose loads may return old values (races/stale_values.h), in the
// order of the launch itself. If such a value changes what the launch leaves in memory, the load is
// a finding.
#include <algorithm>
#include <utility>

#include "runtime/cudart/launch.h"

namespace lab32::cudart {
namespace {

using Loads = device::LaunchOptions::Loads;

// The first launches of a kernel are repeated if they take no more instructions and memory than
// this.
constexpr unsigned kTrialLaunches = 3;
constexpr uint64_t kMostTrialInstructions = 20'000'000, kMostTrialBytes = uint64_t{256} << 20;

uint64_t bytes_in_use(const sim::Memory& memory) {
  uint64_t bytes = 0;
  for (const auto& a : memory.allocations())
    if (!a->freed) bytes += a->end - a->begin;
  return bytes;
}

bool has_race_finding(const device::LaunchResult& run) {
  return run.hazards && std::any_of(run.hazards->begin(), run.hazards->end(), [](const auto& f) {
           return !f.note && f.kind == counters::Finding::Kind::race;
         });
}

}  // namespace

std::unique_ptr<device::SavedMemory> save_memory_for_stale_trial(Runtime& r,
                                                                 const device::KernelInfo& info) {
  if (r.tool != Tool::check || !info.may_read_old_values || info.uses_heap || info.reads_clock)
    return nullptr;
  unsigned& tried = r.stale_trials[info.name];
  if (tried >= kTrialLaunches || bytes_in_use(r.memory) > kMostTrialBytes) return nullptr;
  ++tried;
  return r.gpu().device->save();
}

void find_stale_loads(Runtime& r, const PreparedLaunch& launch, device::SavedMemory& before,
                      device::LaunchResult& run) {
  if (run.fault || run.child_launches > 0 || has_race_finding(run) ||
      run.warp_instructions.value_or(0) > kMostTrialInstructions)
    return;
  const std::unique_ptr<device::SavedMemory> after = r.gpu().device->save();
  device::LaunchOptions options = launch.options;
  options.check_hazards = options.keep_going = options.count = false;
  options.model = device::LaunchOptions::Model::none;
  std::vector<counters::Finding> stale;  // of the last run
  const auto gives_other_memory = [&](Loads loads, std::optional<uint64_t> schedule) {
    before.put_back();
    options.loads = loads;
    options.schedule = schedule;
    device::LaunchResult again =
        r.gpu().device->launch(launch.kernel, launch.shape, launch.arguments, options);
    stale = std::move(again.stale);
    return !(again.fault && exceeds_launch_limit(*again.fault)) && (again.fault || !after->same());
  };
  // A program may allow several results, each of which comes from another order of the blocks.
  const auto varies_with_order = [&] {
    return gives_other_memory(Loads::newest, 1) || gives_other_memory(Loads::newest, 2);
  };
  for (const Loads loads : {Loads::oldest, Loads::any}) {
    const bool other = gives_other_memory(loads, launch.options.schedule);
    if (stale.empty()) break;
    if (!other) continue;
    counters::Finding first = std::move(stale.front());
    if (first.update || !varies_with_order()) {
      if (!run.hazards) run.hazards.emplace();
      run.hazards->push_back(std::move(first));
    }
    break;
  }
  after->put_back();
}

}  // namespace lab32::cudart
