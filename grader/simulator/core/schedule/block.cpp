#include "simulator/core/schedule/block.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace lab32::sim {
namespace {

// ---------------------------------------------------------------------------------------------
// Recognises a warp that repeats a loop for ever: the loop only computes, and all of the warp's
// registers have the values of an earlier iteration. Such a warp is found within a second, long
// before it has used its budget of instructions.

// The only split that can run; null: there is none, or there are several.
const WarpSplit* only_ready_split(const Warp& warp) {
  const WarpSplit* found = nullptr;
  for (const WarpSplit& s : warp.splits().list()) {
    if (s.state != WarpSplit::State::ready) continue;
    if (found != nullptr) return nullptr;
    found = &s;
  }
  return found;
}

// Whether the instruction reads and changes nothing but registers and constants.
bool is_free_of_memory_and_sync(const ptx::InstructionTraits& t) {
  const bool constant = t.memory_count == 0 || t.memory[0].space == ptx::Space::param ||
                        t.memory[0].space == ptx::Space::constant;
  return constant && !t.has_address_used_as(ptx::AddressUse::Kind::store) && !t.is_texture() &&
         !t.bulk && t.sync == ptx::InstructionSync::none &&
         (t.transfer == ptx::ControlTransfer::next || t.transfer == ptx::ControlTransfer::branch);
}

// Looks at the instructions that a split may execute in its next step and keeps the site of the
// smallest line. False: one of them does more than compute.
bool update_lowest_line_if_pure_step(const WarpSplit& split, const KernelProgram& program,
                                     uint32_t* first) {
  const auto place_of = [&](uint32_t site) {
    const auto at = program.position(site);
    return std::make_pair(at ? at->line : std::numeric_limits<int>::max(), site);
  };
  const std::vector<Inst>& code = split.frame->function->code;
  for (uint32_t pc = split.pc; pc < code.size(); ++pc) {
    const Inst& in = code[pc];
    if (!is_free_of_memory_and_sync(in.ptx->op->traits)) return false;
    if (place_of(in.site) < place_of(*first)) *first = in.site;
    if (!in.has_guard || in.flow != DispatchKind::straight) break;
  }
  return true;
}

// Runs the warp for at most `steps` instructions, until its state repeats. Returns the site of the
// loop's first line. Nothing: the state does not repeat, or an instruction does more than compute.
std::optional<uint32_t> run_to_find_endless_loop_site(Warp& warp, uint64_t steps) {
  const WarpSplit* split = only_ready_split(warp);
  if (split == nullptr) return std::nullopt;
  const WarpSplit start = *split;
  const std::byte* const registers = start.frame->regs;
  const uint32_t size = start.frame->function->register_bytes;
  const std::vector<std::byte> before(registers, registers + size);
  uint32_t site = start.frame->function->code[start.pc].site;
  for (uint64_t step = 0; step < steps; ++step) {
    if (!update_lowest_line_if_pure_step(*split, warp.program(), &site)) return std::nullopt;
    if (warp.run(1) == Warp::RunOutcome::done) return std::nullopt;
    split = only_ready_split(warp);
    if (split == nullptr) return std::nullopt;
    if (split->pc == start.pc && split->mask == start.mask && split->frame == start.frame &&
        std::memcmp(before.data(), registers, size) == 0)
      return site;
  }
  return std::nullopt;
}

// ---------------------------------------------------------------------------------------------

// Random slices have 1 to 2^k instructions, with k less than this.
constexpr uint32_t kLongestRandomSlice = 10;

// After a barrier was released without all its threads (in a launch that keeps going), each warp
// may issue only this many more instructions.
constexpr uint64_t kBudgetWithoutAll = 5'000'000;

// Instructions between two updates of the launch's meter. A block that runs alone also updates it
// at its end. Parallel blocks do not, because each update contends with other host threads.
constexpr uint64_t kMetered = 4096;

// The block looks for endless loops after this many rounds of time slices, which are about a
// million instructions of a warp, and again each time the number of rounds has doubled.
constexpr uint64_t kFirstLookForLoops = 64;
// The longest loop that is recognised, in instructions.
constexpr uint64_t kLongestLoop = 1 << 16;

}  // namespace

Block::Block(const LaunchContext& launch, std::vector<Observer*> observers,
             SerialEquivalenceRollback::Worker* guard, const PossibleRaceDetector* suspects,
             ClusterContext* cluster, uint32_t rank)
    : BlockContext(launch, std::move(observers), guard, suspects, cluster, rank),
      barriers_(*this, warps_) {
  const auto threads = static_cast<uint32_t>(launch_.block.count());
  for (uint32_t first = 0; first < threads; first += kWarpSize) {
    const uint32_t lanes = std::min<uint32_t>(kWarpSize, threads - first);
    const uint32_t mask = lanes == kWarpSize ? kFullMask : (1u << lanes) - 1;
    warps_.push_back(std::make_unique<Warp>(*this, first / kWarpSize, mask));
  }
}

void Block::begin(uint64_t index) {
  start(index);
  warp_budget_ = launch_.warp_budget;
  rounds_ = 0;
  barriers_.reset_for_next_block();
  for (Observer* o : reports().observers()) o->block_begin(info_);
  for (auto& warp : warps_) warp->reset_for_next_block();
}

Block::SliceResult Block::run_slice_of_each_warp(uint64_t slice) {
  bool all_done = true, progress = false, polls = true;
  for (size_t i = 0; i < warps_.size(); ++i) {
    Warp& warp = *warps_[launch_.reversed ? warps_.size() - 1 - i : i];
    if (warp.done()) continue;
    const uint64_t before = warp.issued();
    const Warp::RunOutcome p = warp.run(slice);
    charge_to_launch_limit(warp.issued() - before);
    progress |= p != Warp::RunOutcome::blocked || warp.issued() != before;
    all_done &= p == Warp::RunOutcome::done;
    if (p != Warp::RunOutcome::yielded) {
      polls &= warp.issued() == before;
    } else if (warp.polling().test_and_clear_polled()) {
      warp.polling().note_waited(warp.issued() - before);
    } else {
      polls = false;
    }
  }
  ++rounds_;
  const bool has_doubled = (rounds_ & (rounds_ - 1)) == 0;
  if (has_doubled && rounds_ >= kFirstLookForLoops && !all_done) check_for_endless_loop();
  return all_done    ? SliceResult::done
         : !progress ? SliceResult::stuck
         : polls     ? SliceResult::polls
                     : SliceResult::moved;
}

void Block::check_for_endless_loop() {
  for (const auto& warp : warps_) {
    const uint64_t before = warp->issued();
    const auto site = run_to_find_endless_loop_site(*warp, kLongestLoop);
    charge_to_launch_limit(warp->issued() - before);
    if (site) throw Trap{warp->facts(TrapReason::endless_loop), *site};
  }
}

Block::State Block::run_until_done_or_polling(uint64_t slice) {
  for (;;) {
    switch (run_slice_of_each_warp(slice)) {
      case SliceResult::done:
        end();
        return State::done;
      case SliceResult::stuck:
        trap_or_break_deadlock();
        break;
      case SliceResult::polls:
        return State::polls;
      case SliceResult::moved:
        break;
    }
  }
}

void Block::charge_to_launch_limit(uint64_t issued) {
  not_metered_ += issued;
  if (not_metered_ >= kMetered) flush_meter();
}

void Block::flush_meter() {
  const uint64_t issued = not_metered_;
  not_metered_ = 0;
  if (launch_.meter == nullptr || issued == 0) return;
  const LaunchLimitMeter::ExceededLimit over = launch_.meter->add_instructions(issued);
  if (over == LaunchLimitMeter::ExceededLimit::nothing) return;
  TrapFacts facts;
  facts.block = info_.index;
  const bool time = over == LaunchLimitMeter::ExceededLimit::time;
  facts.reason = time ? TrapReason::launch_seconds : TrapReason::launch_limit;
  facts.limit = time ? static_cast<uint64_t>(launch_.meter->most_seconds() + 0.5)
                     : launch_.meter->most_instructions();
  throw Trap{std::move(facts), 0};  // run_grid() finds the site
}

void Block::end() {
  if (!accesses().runs_in_parallel()) flush_meter();
  longest_warp_ = std::max(longest_warp_, most_issued_by_warp());
  const bool noted = launch_.note_warps && (info_.index + 1) * warps_.size() <= kMostWarpsNoted;
  if (noted) warp_tally_.blocks.push_back(info_.index);
  for (const auto& warp : warps_) {
    const uint64_t issued = warp->issued() - warp->polling().waited();
    busiest_warp_ = std::max(busiest_warp_, issued);
    longest_wait_ = std::max(longest_wait_, warp->polling().clock_ahead());
    if (noted) warp_tally_.issued.push_back(static_cast<uint32_t>(issued));
  }
  for (Observer* o : reports().observers()) o->block_end();
}

Block::SliceResult Block::run_random_slice(Random& random) {
  // From one instruction to some hundreds, so that some warps run far ahead and others are
  // interrupted between any two accesses.
  const uint64_t slice = 1 + random.below(1u << random.below(kLongestRandomSlice));
  const uint32_t first = random.below(static_cast<uint32_t>(warps_.size()));
  bool all_done = true, moved = false;
  for (size_t i = 0; i < warps_.size() && !moved; ++i) {
    Warp& warp = *warps_[(first + i) % warps_.size()];
    if (warp.done()) continue;
    const uint64_t before = warp.issued();
    const Warp::RunOutcome p = warp.run_random_split(slice, random);
    charge_to_launch_limit(warp.issued() - before);
    moved = p != Warp::RunOutcome::blocked || warp.issued() != before;
    all_done &= p == Warp::RunOutcome::done;
  }
  for (const auto& warp : warps_) all_done &= warp->done();
  return all_done ? SliceResult::done : moved ? SliceResult::moved : SliceResult::stuck;
}

Block::State Block::resume_random_warp(Random& random) {
  const SliceResult result = run_random_slice(random);
  if (result == SliceResult::stuck) trap_or_break_deadlock();
  if (result != SliceResult::done) return State::polls;
  end();
  return State::done;
}

bool Block::test_and_clear_all_polled() {
  bool all = true;
  for (const auto& warp : warps_) {
    bool can_go_on = false;
    for (const WarpSplit& s : warp->splits().list())
      can_go_on |= s.state == WarpSplit::State::ready;
    all &= warp->polling().test_and_clear_polled() || !can_go_on;
  }
  return all;
}

uint64_t Block::most_issued_by_warp() const {
  uint64_t longest = 0;
  for (const auto& warp : warps_) longest = std::max(longest, warp->issued());
  return longest;
}

uint64_t Block::issued() const {
  uint64_t sum = 0;
  for (const auto& warp : warps_) sum += warp->issued();
  return sum;
}

uint32_t Block::polling_site() const {
  for (const auto& warp : warps_)
    for (const WarpSplit& s : warp->splits().list())
      if (s.state == WarpSplit::State::ready) return s.frame->function->code[s.pc].site;
  return 0;
}

bool Block::has_warp_waiting_within_block() const {
  for (const auto& warp : warps_)
    if (warp->split_waiting_in_warp_collective() != nullptr) return true;
  return barriers_.has_waiting_threads();
}

void Block::trap_or_break_deadlock() {
  for (const auto& warp : warps_)
    if (warp->splits().release_join_lanes_for_warp_barrier()) return;
  // `if (…) __syncthreads();` within a warp: on an H100 the other lanes continue until they exit or
  // reach a barrier.
  for (const auto& warp : warps_)
    if (as_on_a_gpu() && warp->splits().release_join_lanes_for_block_barrier()) return;
  // A warp that continues although not all of its lanes arrived may wait for the results of the
  // missing lanes for ever, so its number of instructions is limited.
  warp_budget_ = std::min(warp_budget_, most_issued_by_warp() + kBudgetWithoutAll);
  // A warp operation that waits for missing lanes is the more specific reason.
  for (const auto& warp : warps_) {
    const WarpSplit* s = warp->split_waiting_in_warp_collective();
    if (!s) continue;
    const Inst& in = s->frame->function->code[s->pc];
    const uint32_t missing = s->wanted & warp->live() & ~s->op_mask;
    faults().trap_or_report(in.site, s->op_mask, FaultEvent::Kind::barrier, [&](int) {
      TrapFacts facts = warp->facts(TrapReason::lane_missing);
      facts.warp->lanes = s->op_mask;
      facts.warp->mask = s->wanted;
      facts.warp->lane = static_cast<uint32_t>(__builtin_ctz(missing));
      return facts;
    });
    return warp->force_one_warp_collective();
  }
  if (barriers_.force_one_barrier()) return;
  TrapFacts facts;
  facts.reason = TrapReason::block_stuck;
  facts.block = info_.index;
  Trap trap{std::move(facts), 0};
  trap.has_site = false;
  throw trap;
}

}  // namespace lab32::sim
