// The simulation of warps (SmWarps).
#include <algorithm>
#include <cmath>
#include <limits>

#include "simulator/timing/multiprocessor.h"

namespace lab32::model {
namespace {

using Unit = ModelledInstruction::Unit;
using Kind = ModelledInstruction::Kind;

constexpr double kNever = std::numeric_limits<double>::infinity();

// The model simulates at most this many instructions and extrapolates the time of all others.
constexpr double kMostIssued = 1.5e6;

// kArrival: the cycles of one warp's arrival at a barrier (barriers of data/measured/model).
// kBranch: the cycles from a branch with unknown scheduling until the next instruction can be
// issued.
constexpr double kArrival = 2, kBranch = 9;
// The additional cycles of a taken branch (kernels chain_loop and chain_leave of
// data/measured/model).
constexpr double kTaken = 5;
// The additional issue slots of an access. 16 loads of shared memory together with 48, 64 or 96
// multiply-adds cost 5 to 7 slots more than these instructions alone, and loads of L1 8 to 11
// (data/measured/model/h200-mix.csv).
constexpr double kMemorySlots = 0.5;
// Issue slots of a 64-bit product (IMAD.WIDE, for addresses, and IMAD.HI), during which nothing
// else is dispatched (wide_fill, high_fill, addresses_fill and l1_box of data/measured/model).
constexpr double kWideSlots = 2;
// The next issue is delayed only if the queue of a register bank holds reads for more than this
// many cycles (data/measured/model/h200-mix.csv).
constexpr double kQueuedReads = 1;
// kBlockStart: the cycles from one block's start to the next, in addition to those for its warps.
// kWarpStart: the cycles from the start of one warp to the next
// (data/measured/model/h200-probe.csv, `life`).
constexpr double kBlockStart = 16, kWarpStart = 2;
// Lanes that succeeded delay the retry of the others by this many cycles: an attempt takes 95.6
// cycles (shared_add_float, one warp).
constexpr double kSucceededLanes = 13.5;
// After this many cycles an attempt of a compare-and-swap has certainly ended.
constexpr double kLongestRound = 2000;
// The cycles from the exit of one warp to that of the next (from the same measurement: blocks whose
// warps end together).
constexpr double kLeave = 7;

}  // namespace

SmWarps::SmWarps(const DeviceProfile& profile, const AverageWarpTrace& trace, const SmWork& work,
                 const WarpPathChooser& paths, double congestion)
    : t_(profile.time),
      trace_(trace),
      work_(work),
      paths_(paths),
      memory_(profile.time, work, congestion),
      mean_(instructions_per_warp(trace)),
      lines_(trace.lines + 1, -1) {
  const auto every = [](double per_clock) { return kSchedulers / std::max(per_clock, 1e-9); };
  // One half of the multiply-add pipeline executes integers and floats, the other only floats. Some
  // cards have only the first half.
  every_[size_t(Unit::fma)] = every(t_.fp32_per_clock - t_.multiply_per_clock);
  if (t_.fp32_per_clock <= t_.multiply_per_clock)
    for (auto& units : units_) units[size_t(Unit::fma)] = kNever;
  every_[size_t(Unit::multiply)] = every(t_.multiply_per_clock);
  every_[size_t(Unit::alu)] = every(t_.alu_per_clock);
  every_[size_t(Unit::half)] = every(t_.half_per_clock);
  every_[size_t(Unit::fp64)] = every(t_.fp64_per_clock);
  every_[size_t(Unit::special)] = every(t_.special_per_clock);
  every_[size_t(Unit::memory)] = 1;
  if (t_.blocks_per_second > 0)
    launcher_ = static_cast<double>(std::min<uint64_t>(work.blocks, profile.multiprocessors)) *
                t_.sm_hz / t_.blocks_per_second;
  double branches = 0;
  for (const TraceBasicBlock& b : trace.blocks) {
    for (const ModelledInstruction& in : b.code) {
      reconvergences_ += in.kind == Kind::meet ? b.runs : 0;
      branches += in.kind == Kind::branch ? b.runs : 0;
    }
  }
  // Lanes that leave a loop diverge at its branch and reconverge once. If the code has no
  // reconvergence, ptxas replaced branches by guards.
  if (reconvergences_ > 0 && branches > 0)
    divergence_rate_ = std::clamp((trace.splits - reconvergences_) / branches, 0.0, 1.0);
}

SmTiming SmWarps::run(const std::vector<uint64_t>& blocks) {
  SmTiming result;
  result.blocks = static_cast<double>(blocks.size());
  const double of_block = std::max(mean_ * work_.warps, 1.0);
  size_t count = blocks.size();
  if (of_block * static_cast<double>(count) > kMostIssued) {
    // Only whole waves of resident blocks are simulated.
    const auto rounds = static_cast<size_t>(kMostIssued / of_block / work_.resident);
    count = std::min(count, std::max<size_t>(rounds, 3) * work_.resident);
  }
  resident_.resize(std::min<size_t>(work_.resident, count));
  warps_.resize(resident_.size() * work_.warps);
  for (size_t p = 0; p < resident_.size(); ++p) begin_block(p, blocks[next_++], 0);
  double at_half = 0;
  size_t done_at_half = 0;
  while (true) {
    size_t best = kSchedulers;
    double when = kNever;
    for (size_t s = 0; s < kSchedulers; ++s) {
      if (stale_[s]) choose_next_warp(s);
      if (chosen_time_[s] < when) when = chosen_time_[s], best = s;
    }
    if (best == kSchedulers) break;
    const size_t ended = ended_;
    issue_instruction(warps_[chosen_[best]], when);
    if (ended_ != ended) {
      if (next_ < count)
        begin_block(freed_, blocks[next_++],
                    std::max(when, exit_free_) + t_.block_seconds * t_.sm_hz);
      if (ended_ == count / 2) at_half = when, done_at_half = ended_;
    }
  }
  const double end = std::max(end_, memory_.end());
  result.cycles = end;
  result.issued = issued_;
  if (count < blocks.size() && done_at_half > 0) {
    const double each = (end - at_half) / static_cast<double>(count - done_at_half);
    result.cycles += each * static_cast<double>(blocks.size() - count);
    result.issued *= static_cast<double>(blocks.size()) / static_cast<double>(count);
  }
  return result;
}

void SmWarps::begin_block(size_t p, uint64_t block, double now) {
  ResidentBlock& place = resident_[p];
  for (const size_t slot : place.warps) {
    std::vector<size_t>& of = of_scheduler_[warps_[slot].scheduler];
    of.erase(std::find(of.begin(), of.end(), slot));
  }
  place = {};
  place.live = work_.warps;
  // One launcher serves the whole card, and it handles one ended block at a time.
  if (now > 0) launcher_free_ += launcher_;
  const double start = std::max({warp_start_free_, now, launcher_free_});
  warp_start_free_ = start + kBlockStart + work_.warps / t_.warps_per_clock;
  for (uint32_t w = 0; w < work_.warps; ++w) {
    const size_t slot = p * work_.warps + w;
    WarpState& warp = warps_[slot];
    warp.path = paths_.estimated_path_of_warp(block, w);
    warp.number = block * work_.warps + w;
    warp.block = warp.instruction = 0;
    warp.free = start + kWarpStart * w;
    warp.copied = 0;
    warp.history = {};
    warp.groups.clear();
    warp.ready.assign(trace_.registers, 0);
    warp.read_at = 0;
    warp.failed_share = std::fmod(static_cast<double>(warp.number) * kGolden, 1.0);
    warp.failed = warp.is_retry = warp.swapped = false;
    warp.barriers.fill(0);
    warp.scheduler = (first_ + w) % kSchedulers;
    warp.resident = p;
    place.warps.push_back(slot);
    advance_and_set_issue_time(warp);
    of_scheduler_[warp.scheduler].push_back(slot);
    stale_[warp.scheduler] = true;
  }
  // Warps are assigned to the schedulers in turn. If all blocks would begin at the same scheduler,
  // each begins at the next one instead (measured: data/measured/model/h200-atomics.csv, `place`).
  first_ = (first_ + work_.warps + (work_.warps % kSchedulers == 0)) % kSchedulers;
}

// Computes when the warp's next instruction could be issued if its unit were free.
void SmWarps::advance_and_set_issue_time(WarpState& warp) {
  while (warp.block < warp.path.size() &&
         warp.instruction >= trace_.blocks[warp.path[warp.block]].code.size()) {
    if (!warp.failed) ++warp.block;
    warp.swapped = false;
    warp.is_retry = warp.failed;
    warp.failed = false;
    warp.instruction = 0;
  }
  if (warp.block >= warp.path.size()) {
    warp.in = nullptr;
    end_warp(warp);
    return;
  }
  const uint16_t b = warp.path[warp.block];
  warp.in = &trace_.blocks[b].code[warp.instruction];
  double next = warp.free;
  if (warp.in->scheduled) {
    for (size_t i = 0; i < warp.barriers.size(); ++i)
      if ((warp.in->waits_for >> i & 1) != 0) next = std::max(next, warp.barriers[i]);
  } else {
    for (const uint16_t reg : warp.in->reads) next = std::max(next, warp.ready[reg]);
    for (const uint16_t reg : warp.in->writes)
      next = std::max(next, warp.ready[reg] - warp.in->latency);
  }
  double& line = lines_[warp.in->line];
  if (line < 0) line = std::max(warp.free, fetched_) + t_.code_seconds * t_.sm_hz, fetched_ = line;
  next = std::max(next, line);
  if (warp.in->kind == Kind::copy_wait) {
    const size_t left = warp.in->slots - 1u;
    while (warp.groups.size() > left) {
      next = std::max(next, warp.groups.front());
      warp.groups.pop_front();
    }
  }
  warp.next = next;
}

// The unit that executes the instruction. A float instruction uses the half of the multiply-add
// pipeline that executes only floats, or the other half if that is free sooner (low_fill of
// data/measured/model).
size_t SmWarps::unit_of_instruction(const ModelledInstruction& in, size_t s, double now) const {
  constexpr auto kOwn = static_cast<size_t>(Unit::fma),
                 kOther = static_cast<size_t>(Unit::multiply);
  if (in.unit != Unit::fma) return static_cast<size_t>(in.unit);
  return units_[s][kOwn] > now && units_[s][kOther] < units_[s][kOwn] ? kOther : kOwn;
}

void SmWarps::choose_next_warp(size_t s) {
  stale_[s] = false;
  chosen_time_[s] = kNever;
  for (const size_t slot : of_scheduler_[s]) {
    const WarpState& warp = warps_[slot];
    if (warp.in == nullptr) continue;
    double at = std::max(warp.next, slots_[s]);
    if (at > chosen_time_[s]) continue;
    at = std::max(at, units_[s][unit_of_instruction(*warp.in, s, at)]);
    if (warp.in->unit == Unit::memory) at = std::max(at, memory_.accepts_from());
    if (at < chosen_time_[s] || (at == chosen_time_[s] && is_preferred_warp(slot, s)))
      chosen_time_[s] = at, chosen_[s] = slot;
  }
}

// Whether the scheduler prefers this warp to the one chosen so far, if both can issue: it prefers
// the warp that issued last, else the oldest. (With the youngest first, blocks with repeated
// barriers, such as block_sums, reduce_v3 and tree_far of data/measured/model, were predicted a
// fifth too long.)
bool SmWarps::is_preferred_warp(size_t slot, size_t s) const {
  if (slot == last_[s] || chosen_[s] == last_[s]) return slot == last_[s];
  return warps_[slot].number < warps_[chosen_[s]].number;
}

void SmWarps::issue_instruction(WarpState& warp, double now) {
  const ModelledInstruction& in = *warp.in;
  const size_t s = warp.scheduler;
  last_[s] = static_cast<size_t>(&warp - warps_.data());
  if (!warp.is_retry) issued_ += 1;
  slots_[s] = now + kSchedulers / t_.issue_per_clock;
  if (in.unit == Unit::memory) slots_[s] += kMemorySlots;
  if (in.unit == Unit::multiply && in.unit_passes > 1) slots_[s] += kWideSlots;
  const size_t unit = unit_of_instruction(in, s, now);
  units_[s][unit] = now + every_[unit] * in.unit_passes;
  // Reads that are still in a bank's queue delay the next instructions, except for kQueuedReads
  // cycles of them.
  for (size_t bank = 0; bank < in.banks.size(); ++bank) {
    banks_[s][bank] = std::max(banks_[s][bank], now) + in.banks[bank];
    slots_[s] = std::max(slots_[s], banks_[s][bank] - kQueuedReads);
  }
  stale_[s] = true;
  if (in.kind == Kind::barrier) return arrive_at_barrier(warp, now);
  schedule_after_branch(warp, now);
  const MemoryPath::ResultAndOperandTimes times = issue_access(warp, now);
  for (const uint16_t reg : in.writes) warp.ready[reg] = times.ready;
  const auto raise = [&](int8_t which, double until) {
    if (which < 0) return;
    double& barrier = warp.barriers[static_cast<size_t>(which)];
    barrier = std::max(barrier, until);
  };
  raise(in.write_barrier, times.ready);
  raise(in.read_barrier, times.read);
  ++warp.instruction;
  advance_and_set_issue_time(warp);
}

// Computes when the warp could issue the instruction after a branch or a reconvergence.
void SmWarps::schedule_after_branch(WarpState& warp, double now) {
  const ModelledInstruction& in = *warp.in;
  const double split = t_.split_seconds * t_.sm_hz;
  warp.free = now + std::max<double>(1, in.stall);
  if (in.kind == Kind::branch) {
    if (!in.scheduled)
      warp.free = now + kBranch;
    else if (is_branch_taken(warp))
      warp.free += kTaken;
    warp.free += split * divergence_rate_;
    if (warp.swapped && !warp.failed && !is_next_basic_block_different(warp))
      warp.free += kSucceededLanes;
  } else if (in.kind == Kind::meet && reconvergences_ > 0) {
    const double diverged = std::min(1.0, trace_.splits / reconvergences_);
    warp.free = now + std::max<double>(in.stall, in.latency) + split * diverged;
    slots_[warp.scheduler] += t_.split_slots * diverged;
  }
}

// Issues the access and returns when its result is available.
MemoryPath::ResultAndOperandTimes SmWarps::issue_access(WarpState& warp, double now) {
  const ModelledInstruction& in = *warp.in;
  MemoryPath::ResultAndOperandTimes times{now + in.latency, now + kOperandsRead};
  switch (in.kind) {
    case Kind::shared:
      times = memory_.access_shared(in, now);
      attempt_compare_and_swap(warp, times.read - kOperandsRead);
      break;
    case Kind::global_load:
    case Kind::global_store:
    case Kind::copy:
      times = memory_.access_global(in, now, warp.number, warp.history);
      if (in.kind == Kind::copy) warp.copied = std::max(warp.copied, times.ready);
      break;
    case Kind::commit:
      warp.groups.push_back(std::max(warp.copied, now));
      warp.copied = 0;
      return times;
    default:
      return times;
  }
  // Other warps that want to access memory may have to wait longer now.
  stale_.fill(true);
  return times;
}

// Whether the warp takes the branch: its next block is not the one that follows in the code.
bool SmWarps::is_branch_taken(const WarpState& warp) {
  if (warp.failed) return true;
  return warp.block + 1 < warp.path.size() &&
         warp.path[warp.block + 1] != warp.path[warp.block] + 1;
}

// Whether the warp goes on to another block, so that it leaves a loop of one block.
bool SmWarps::is_next_basic_block_different(const WarpState& warp) {
  return warp.block + 1 >= warp.path.size() || warp.path[warp.block + 1] != warp.path[warp.block];
}

// A compare-and-swap fails if another warp has changed the word since this warp read it. The words
// are not known, only the probability that two warps use the same word. Shares of failures below
// one attempt are therefore accumulated. All lanes for which the loop waits must succeed; those
// that failed retry.
void SmWarps::attempt_compare_and_swap(WarpState& warp, double served) {
  using Spin = ModelledInstruction::Spin;
  warp.swapped |= warp.in->spin == Spin::swap;
  if (warp.in->spin == Spin::none || work_.shared_words <= 0) return;
  if (warp.in->spin == Spin::load) {
    warp.read_at = served;
    return;
  }
  std::deque<std::pair<double, uint64_t>>& swaps = resident_[warp.resident].swaps;
  while (!swaps.empty() && swaps.front().first < served - kLongestRound) swaps.pop_front();
  double takes = 1;  // the probability that a lane succeeds
  for (const auto& [when, who] : swaps)
    if (when > warp.read_at && who != warp.number) takes *= 1 - work_.shared_words;
  if (!warp.is_retry) warp.lanes = work_.last_lanes;
  warp.failed_share += 1 - std::pow(takes, warp.lanes);
  warp.lanes = std::max(1.0, warp.lanes * (1 - takes));
  warp.failed = warp.failed_share >= 1 - 1e-9;
  if (warp.failed)
    warp.failed_share -= 1;
  else
    swaps.emplace_back(served, warp.number);
}

void SmWarps::arrive_at_barrier(WarpState& warp, double now) {
  ResidentBlock& place = resident_[warp.resident];
  barrier_free_ = std::max(barrier_free_, now) + kArrival;
  place.last = std::max(place.last, barrier_free_);
  ++place.arrived;
  warp.in = nullptr;
  ++warp.instruction;
  warp.free = kNever;
  release_waiting_warps(place);
}

void SmWarps::release_waiting_warps(ResidentBlock& place) {
  if (place.arrived == 0 || place.arrived < place.live) return;
  const double then = place.last + t_.barrier_latency * t_.sm_hz;
  place.arrived = 0;
  place.last = 0;
  for (const size_t slot : place.warps) {
    WarpState& warp = warps_[slot];
    if (warp.free != kNever) continue;
    warp.free = then;
    stale_[warp.scheduler] = true;
    advance_and_set_issue_time(warp);
  }
}

void SmWarps::end_warp(WarpState& warp) {
  ResidentBlock& place = resident_[warp.resident];
  exit_free_ = std::max(exit_free_, warp.free) + kLeave;
  end_ = std::max(end_, exit_free_);
  warp.free = -1;
  if (--place.live == 0) {
    ++ended_;
    freed_ = warp.resident;
  } else {
    release_waiting_warps(place);
  }
}

}  // namespace lab32::model
