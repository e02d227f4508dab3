#include "simulator/core/schedule/block_group.h"

#include <algorithm>
#include <utility>

namespace lab32::sim {

ClusterBarrier::ClusterBarrier(const LaunchContext& launch, bool undefined)
    : ClusterContext(static_cast<uint32_t>(launch.cluster.count()), undefined), lanes_(blocks_) {}

void ClusterBarrier::begin(std::vector<Block*> blocks) {
  blocks_by_rank_ = std::move(blocks);
  for (auto& of_block : lanes_) of_block.fill({});
  waiting_.clear();
  phase_ = 0;
  exited_ = 0;
  bulk_copies_.clear();
}

// Whether all live threads have arrived. Exited threads count as arrived, but at least one thread
// must be there.
bool ClusterBarrier::all_threads_arrived() const {
  bool any = false;
  for (uint32_t rank = 0; rank < blocks_; ++rank)
    for (const auto& warp : blocks_by_rank_[rank]->warps()) {
      const uint32_t came = lanes_[rank][warp->index()].now;
      if ((warp->live() & ~came) != 0) return false;
      any |= (warp->live() & came) != 0;
    }
  return any;
}

void ClusterBarrier::arrive(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) {
  ArrivedLanes& lanes = lanes_[rank][warp.index()];
  BlockContext& block = warp.block();
  if (const uint32_t again = (lanes.now | lanes.before) & mask)
    block.faults().trap_or_report(in.site, again, FaultEvent::Kind::barrier, [&](int lane) {
      return block.faults().facts(TrapReason::cluster_arrives_twice, warp.index(), lane);
    });
  lanes.now |= mask;
  lanes.before &= ~mask;
  ++warp.current().pc;
  const bool completes = all_threads_arrived();
  block.reports().cluster_arrive(warp.index(), mask, phase_, !in.ptx->has(ptx::Modifier::relaxed),
                                 completes);
  if (completes) complete();
}

void ClusterBarrier::wait(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) {
  ArrivedLanes& lanes = lanes_[rank][warp.index()];
  BlockContext& block = warp.block();
  if (const uint32_t first = mask & ~lanes.now & ~lanes.before) {
    block.faults().trap_or_report(in.site, first, FaultEvent::Kind::barrier, [&](int lane) {
      return block.faults().facts(TrapReason::cluster_waits_first, warp.index(), lane);
    });
    lanes.before |= first;  // these lanes continue
  }
  WarpSplit& split = warp.current();
  const uint32_t wait = mask & lanes.now, over = mask & lanes.before;
  if (wait != 0 && over != 0) return warp.split_off_lanes(in, wait, split.pc);
  if (wait != 0) {
    split.state = WarpSplit::State::block_barrier;
    waiting_.push_back({rank, &warp, split.id, mask});
    return;
  }
  lanes.before &= ~mask;
  ++split.pc;
  block.reports().cluster_wait(warp.index(), mask, phase_ - 1);
}

void ClusterBarrier::on_threads_exit(uint32_t rank, bool all) {
  if (all) exited_ |= 1u << rank;
  if (all_threads_arrived()) complete();
}

void ClusterBarrier::complete() {
  const uint64_t over = phase_++;
  for (auto& of_block : lanes_)
    for (ArrivedLanes& lanes : of_block) lanes = {0, lanes.now};
  for (const WaitingSplit& w : std::exchange(waiting_, {})) {
    lanes_[w.rank][w.warp->index()].before &= ~w.mask;
    w.warp->splits().release_split_from_barrier(w.split);
    w.warp->block().reports().cluster_wait(w.warp->index(), w.mask, over);
  }
}

// ---------------------------------------------------------------------------------------------

BlockGroup::BlockGroup(const LaunchContext& launch, const std::vector<Observer*>& observers,
                       SerialEquivalenceRollback::Worker* guard,
                       const PossibleRaceDetector* suspects)
    : launch_(launch) {
  const auto blocks = static_cast<uint32_t>(launch.cluster.count());
  if (launch.has_clusters()) cluster_.emplace(launch, launch.checks_reads());
  for (uint32_t rank = 0; rank < blocks; ++rank)
    members_.push_back(std::make_unique<GroupMember>(launch, observers, guard, suspects,
                                                     cluster_ ? &*cluster_ : nullptr, rank));
  if (!cluster_) return;
  for (const auto& member : members_)
    for (size_t i = 0; i < observers.size(); ++i)
      member->result.observers[i]->join_cluster(*members_.front()->result.observers[i]);
}

uint64_t BlockGroup::block_index(uint64_t nth, uint32_t rank) const {
  const Dim3 &c = launch_.cluster, &g = launch_.grid;
  const uint64_t along_x = g.x / c.x, along_y = g.y / c.y;
  const uint64_t x = nth % along_x * c.x + rank % c.x;
  const uint64_t y = nth / along_x % along_y * c.y + rank / c.x % c.y;
  const uint64_t z = nth / along_x / along_y * c.z + rank / c.x / c.y;
  return (z * g.y + y) * g.x + x;
}

template <class What>
void BlockGroup::run_and_record_trap(GroupMember& member, What what) {
  try {
    what();
  } catch (Trap& trap) {
    trap.block = member.block.info().index;
    member.result.trap = std::move(trap);
    trapped_ = true;
  }
}

void BlockGroup::begin(uint64_t nth) {
  std::vector<Block*> blocks;
  for (const auto& member : members_) {
    member->ended = false;
    blocks.push_back(&member->block);
  }
  for (uint32_t rank = 0; rank < members_.size() && !trapped_; ++rank)
    run_and_record_trap(*members_[rank],
                        [&] { members_[rank]->block.begin(block_index(nth, rank)); });
  if (cluster_) cluster_->begin(std::move(blocks));
}

void BlockGroup::end(GroupMember& member) {
  member.block.end();
  member.ended = true;
}

Block::State BlockGroup::resume(uint64_t slice) {
  Block::State state = Block::State::done;
  if (cluster_) return run_round_robin(slice);
  run_and_record_trap(*members_.front(),
                      [&] { state = members_.front()->block.run_until_done_or_polling(slice); });
  return state;
}

// Runs until all blocks have ended or trapped, or all of them poll.
Block::State BlockGroup::run_round_robin(uint64_t slice) {
  for (;;) {
    bool all_ended = true, moved = false, polls = false;
    for (size_t i = 0; i < members_.size() && !trapped_; ++i) {
      GroupMember& member = *members_[launch_.reversed ? members_.size() - 1 - i : i];
      if (member.ended) continue;
      run_and_record_trap(member, [&] {
        const Block::SliceResult result = member.block.run_slice_of_each_warp(slice);
        moved |= result == Block::SliceResult::moved || result == Block::SliceResult::done;
        polls |= result == Block::SliceResult::polls;
        if (result == Block::SliceResult::done) end(member);
      });
      all_ended &= member.ended;
    }
    if (all_ended || trapped_) return Block::State::done;
    if (moved) continue;
    if (polls) return Block::State::polls;
    trap_stuck_group();
    if (trapped_) return Block::State::done;
  }
}

Block::State BlockGroup::resume_random_warp(Random& random) {
  Block::State state = Block::State::done;
  if (!cluster_) {
    run_and_record_trap(*members_.front(),
                        [&] { state = members_.front()->block.resume_random_warp(random); });
    return state;
  }
  const uint32_t first = random.below(static_cast<uint32_t>(members_.size()));
  bool moved = false;
  for (size_t i = 0; i < members_.size() && !moved && !trapped_; ++i) {
    GroupMember& member = *members_[(first + i) % members_.size()];
    if (member.ended) continue;
    run_and_record_trap(member, [&] {
      const Block::SliceResult result = member.block.run_random_slice(random);
      moved = result != Block::SliceResult::stuck;
      if (result == Block::SliceResult::done) end(member);
    });
  }
  const bool all_ended =
      std::all_of(members_.begin(), members_.end(), [](const auto& m) { return m->ended; });
  if (!moved && !all_ended && !trapped_) trap_stuck_group();
  return all_ended || trapped_ ? Block::State::done : Block::State::polls;
}

// Called when no block can run. A block that waits at the cluster's barrier waits for another block
// that is stuck within itself; the trap should name the latter.
void BlockGroup::trap_stuck_group() {
  GroupMember* stuck = nullptr;
  for (const auto& member : members_)
    if (!member->ended && (stuck == nullptr || !stuck->block.has_warp_waiting_within_block()))
      stuck = member.get();
  run_and_record_trap(*stuck, [&] { stuck->block.trap_or_break_deadlock(); });
}

bool BlockGroup::test_and_clear_all_polled() {
  bool all = true;
  for (const auto& member : members_)
    all &= member->ended || member->block.test_and_clear_all_polled();
  return all;
}

uint64_t BlockGroup::issued() const {
  uint64_t sum = 0;
  for (const auto& member : members_) sum += member->block.issued();
  return sum;
}

uint64_t BlockGroup::local_bytes() const {
  uint64_t sum = 0;
  for (const auto& member : members_) sum += member->block.local_bytes();
  return sum;
}

uint64_t BlockGroup::issue_count_of_site(uint32_t site) const {
  uint64_t sum = 0;
  for (const auto& member : members_) sum += member->block.issue_count_of_site(site);
  return sum;
}

uint32_t BlockGroup::polling_site() const { return members_.front()->block.polling_site(); }

void BlockGroup::record_trap(Trap trap) {
  members_.front()->result.trap = std::move(trap);
  trapped_ = true;
}

void BlockGroup::save_printf_output() {
  for (const auto& member : members_) member->result.save_printf_output(member->block);
}

void BlockGroup::take_results() {
  for (const auto& member : members_) member->result.take_results(member->block);
}

void BlockGroup::append_results_to(std::vector<WorkerResult*>& all) {
  for (const auto& member : members_) all.push_back(&member->result);
}

}  // namespace lab32::sim
