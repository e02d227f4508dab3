#include <algorithm>

#include "simulator/core/schedule/block_group.h"

namespace lab32::sim {
namespace {

// A warp's time slice once blocks are known to wait for each other. It is short, because a slice
// that only polls is wasted.
constexpr uint64_t kPollSlice = 200;
// A deadlock is declared after this many rounds without a progress event: 2 million instructions of
// each warp that does not poll.
constexpr uint64_t kIdleRounds = 10'000;

// A loop that reads the clock may end by itself after a time: it gets this many more instructions,
// for all blocks together.
constexpr uint64_t kClockBudget = 100'000'000;

// With a random schedule: number of running blocks, as long as none waits for a block that has not
// started.
constexpr uint64_t kUnderWay = 8;
// Slices per warp of all running blocks between two tests for progress. A slice has a hundred
// instructions on average.
constexpr uint64_t kWatchedSlices = 64;
// A deadlock is declared after this many tests without a progress event. They take about as many
// instructions as kIdleRounds rounds do.
constexpr uint64_t kIdleWatches = 300;

// Whether the instruction can release another block.
bool may_unblock_other_block(const KernelProgram& program, const InstructionSite& site) {
  const ptx::InstructionTraits& traits = site.ptx->op->traits;
  // A warp that reads the result of an atomic may be polling by it.
  if (traits.is_atomic() && has_used_result(program.functions[site.function].code[site.index]))
    return false;
  return traits.may_release_waiters();
}

// Whether the instruction reads a clock. The waiting loops of libcu++ read %globaltimer, too, so
// that register does not count.
bool reads_sm_clock(const InstructionSite& site) {
  const auto& operands = site.ptx->operands;
  return std::any_of(operands.begin(), operands.end(), [](const ptx::Operand& op) {
    return op.kind == ptx::Operand::Kind::special &&
           (op.special == ptx::SpecialReg::clock || op.special == ptx::SpecialReg::clock64);
  });
}

}  // namespace

ResidentBlockScheduler::ResidentBlockScheduler(const LaunchContext& launch,
                                               const std::vector<Observer*>& observers,
                                               SerialEquivalenceRollback::Worker* guard,
                                               const PossibleRaceDetector* suspects)
    : launch_(launch),
      observers_(observers),
      guard_(guard),
      suspects_(suspects),
      groups_(BlockGroup::group_count(launch)),
      capacity_(std::max<uint64_t>(launch.resident_blocks / launch.cluster.count(), 1)) {
  for (const InstructionSite& site : launch.program->sites) reads_clock_ |= reads_sm_clock(site);
  for (size_t s = 0; s < launch.program->sites.size(); ++s)
    if (may_unblock_other_block(*launch.program, launch.program->sites[s]))
      progress_sites_.push_back(static_cast<uint32_t>(s));
  // The blocks of a cooperative launch are expected to wait for each other.
  if (launch.grid_workspace != 0) slice_ = kPollSlice;
}

template <class Slice>
void ResidentBlockScheduler::resume(GroupSlot& slot, Slice slice) {
  const uint64_t before = slot.group.issued();
  slot.busy = slice() == Block::State::polls;
  issued_ += slot.group.issued() - before;
  if (!slot.busy || slot.group.trapped()) slot.group.save_printf_output();
}

void ResidentBlockScheduler::begin_group(GroupSlot& slot, uint64_t nth) {
  slot.group.begin(nth);
  uint64_t bytes = 0;
  for (const auto& each : slots_) bytes += each->group.local_bytes();
  if (slot.group.trapped() || launch_.meter == nullptr ||
      launch_.meter->allows_local_bytes_of_residents(bytes))
    return;
  TrapFacts full;
  full.reason = TrapReason::block_local_memory;
  full.block = slot.group.first_block();
  full.value = bytes;
  full.limit = launch_.meter->most_local_bytes();
  slot.group.record_trap(Trap{std::move(full), 0});
}

// The group that starts as the n-th. In reverse order, the last group of each set that the device
// holds starts first.
uint64_t ResidentBlockScheduler::number_of_nth_group(uint64_t nth) const {
  if (!launch_.reversed) return nth;
  const uint64_t set = nth / capacity_ * capacity_;
  return set + std::min(groups_ - set, capacity_) - 1 - (nth - set);
}

ResidentBlockScheduler::GroupSlot& ResidentBlockScheduler::free_or_new_slot() {
  for (auto& slot : slots_)
    if (!slot->busy) return *slot;
  slots_.push_back(std::make_unique<GroupSlot>(launch_, observers_, guard_, suspects_));
  return *slots_.back();
}

void ResidentBlockScheduler::run(uint64_t first, uint64_t max_issued_instructions) {
  most_ = max_issued_instructions;
  if (launch_.schedule)
    run_random_schedule();
  else
    run_residents_round_robin(first);
  for (auto& slot : slots_) slot->group.take_results();
}

// Runs until all blocks have ended or one has trapped.
void ResidentBlockScheduler::run_residents_round_robin(uint64_t first) {
  uint64_t next = first, idle = 0, progress_before = 0, moved_at = issued_;
  const auto resume = [this](GroupSlot& slot) {
    this->resume(slot, [&] { return slot.group.resume(slice_); });
  };
  while (next < groups_ || !residents_.empty()) {
    bool moved = false;
    while (next < groups_ && residents_.size() < capacity_) {
      GroupSlot& slot = free_or_new_slot();
      begin_group(slot, number_of_nth_group(next++));
      moved = true;
      if (!slot.group.trapped()) resume(slot);
      if (slot.group.trapped() || issued_ > most_) return;
      if (!slot.busy) continue;
      residents_.push_back(&slot);
      slice_ = kPollSlice;
    }
    for (size_t i = 0; i < residents_.size();) {
      GroupSlot& slot = *residents_[i];
      resume(slot);
      if (slot.group.trapped() || issued_ > most_) return;
      if (slot.busy) {
        ++i;
      } else {
        residents_.erase(residents_.begin() + static_cast<std::ptrdiff_t>(i));
        moved = true;
      }
    }
    const uint64_t now = count_progress_events();
    idle = moved || now != progress_before ? 0 : idle + 1;
    progress_before = now;
    if (idle == 0) moved_at = issued_;
    if (idle > kIdleRounds && !may_end_by_clock(moved_at)) return report_deadlock(next);
  }
}

void ResidentBlockScheduler::begin_random_arrived_group(std::vector<uint64_t>& arrived,
                                                        Random& random) {
  std::swap(arrived[random.below(static_cast<uint32_t>(arrived.size()))], arrived.back());
  GroupSlot& slot = free_or_new_slot();
  begin_group(slot, arrived.back());
  slot.busy = true;
  arrived.pop_back();
  residents_.push_back(&slot);
}

bool ResidentBlockScheduler::test_and_clear_all_groups_polled() {
  bool all = true;
  for (GroupSlot* slot : residents_) all &= slot->group.test_and_clear_all_polled();
  return all;
}

// As run_residents_round_robin(), from block 0, with a random schedule. A device starts blocks in
// the order of their numbers, but resident blocks may be at any point of their execution.
void ResidentBlockScheduler::run_random_schedule() {
  const uint64_t warps =
      (launch_.block.count() + kWarpSize - 1) / kWarpSize * launch_.cluster.count();
  Random random(*launch_.schedule);
  std::vector<uint64_t> arrived;  // resident blocks that have not started
  uint64_t next = 0, ended = 0, most = launch_.grid_workspace != 0 ? capacity_ : kUnderWay;
  uint64_t slices = 0, idle = 0, progress_before = 0, ended_before = 0, moved_at = 0;
  while (ended < groups_) {
    while (next < groups_ && next - ended < capacity_) arrived.push_back(next++);
    while (!arrived.empty() && residents_.size() < most) {
      begin_random_arrived_group(arrived, random);
      if (residents_.back()->group.trapped()) return;
    }
    const uint32_t which = random.below(static_cast<uint32_t>(residents_.size()));
    GroupSlot& slot = *residents_[which];
    resume(slot, [&] { return slot.group.resume_random_warp(random); });
    if (slot.group.trapped() || issued_ > most_) return;
    if (!slot.busy) {
      std::swap(residents_[which], residents_.back());
      residents_.pop_back();
      ++ended;
    }
    if (++slices < kWatchedSlices * warps * residents_.size()) continue;
    slices = 0;
    const uint64_t now = count_progress_events();
    const bool still =
        test_and_clear_all_groups_polled() && now == progress_before && ended == ended_before;
    progress_before = now;
    ended_before = ended;
    idle = still ? idle + 1 : 0;
    if (!still) moved_at = issued_;
    if (still && !arrived.empty()) {
      // The running blocks may wait for one that has not started, so twice as many may run.
      most = 2 * residents_.size();
    } else if (idle > kIdleWatches && !residents_.empty() && !may_end_by_clock(moved_at)) {
      return report_deadlock(next);
    }
  }
}

bool ResidentBlockScheduler::may_end_by_clock(uint64_t moved_at) const {
  return reads_clock_ && issued_ - moved_at < kClockBudget;
}

uint64_t ResidentBlockScheduler::count_progress_events() const {
  uint64_t n = 0;
  for (const auto& slot : slots_)
    for (uint32_t site : progress_sites_) n += slot->group.issue_count_of_site(site);
  return n;
}

void ResidentBlockScheduler::report_deadlock(uint64_t next) {
  const uint64_t blocks = launch_.cluster.count();
  BlockGroup& group = residents_.front()->group;
  TrapFacts facts;
  facts.reason = TrapReason::blocks_wait;
  facts.block = group.first_block();
  facts.value = residents_.size() * blocks;
  facts.limit = next == groups_ ? 0 : next * blocks;
  group.record_trap(Trap{std::move(facts), group.polling_site()});
  for (GroupSlot* s : residents_) s->group.save_printf_output();
}

std::vector<WorkerResult*> ResidentBlockScheduler::results() {
  std::vector<WorkerResult*> all;
  for (auto& slot : slots_) slot->group.append_results_to(all);
  return all;
}

}  // namespace lab32::sim
