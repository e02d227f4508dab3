#include "simulator/core/schedule/cluster_barrier.h"

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

// Threads that have exited are not waited for. Nobody there: nobody came.
bool ClusterBarrier::all_came() const {
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
  Lanes& lanes = lanes_[rank][warp.index()];
  BlockContext& block = warp.block();
  if (const uint32_t again = (lanes.now | lanes.before) & mask)
    block.raise(in.site, again, FaultEvent::Kind::barrier, [&](int lane) {
      return block.facts(TrapReason::cluster_arrives_twice, warp.index(), lane);
    });
  lanes.now |= mask;
  lanes.before &= ~mask;
  ++warp.current().pc;
  const bool completes = all_came();
  block.report_cluster_arrive(warp.index(), mask, phase_, !in.ptx->has(ptx::Mod::relaxed),
                              completes);
  if (completes) complete();
}

void ClusterBarrier::wait(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) {
  Lanes& lanes = lanes_[rank][warp.index()];
  BlockContext& block = warp.block();
  if (const uint32_t first = mask & ~lanes.now & ~lanes.before) {
    block.raise(in.site, first, FaultEvent::Kind::barrier, [&](int lane) {
      return block.facts(TrapReason::cluster_waits_first, warp.index(), lane);
    });
    lanes.before |= first;  // they go on
  }
  Split& split = warp.current();
  const uint32_t wait = mask & lanes.now, over = mask & lanes.before;
  if (wait != 0 && over != 0) return warp.set_aside(in, wait, split.pc);
  if (wait != 0) {
    split.state = Split::State::block_barrier;
    waiting_.push_back({rank, &warp, split.id, mask});
    return;
  }
  lanes.before &= ~mask;
  ++split.pc;
  block.report_cluster_wait(warp.index(), mask, phase_ - 1);
}

void ClusterBarrier::threads_exited(uint32_t rank, bool all) {
  if (all) exited_ |= 1u << rank;
  if (all_came()) complete();
}

void ClusterBarrier::complete() {
  const uint64_t over = phase_++;
  for (auto& of_block : lanes_)
    for (Lanes& lanes : of_block) lanes = {0, lanes.now};
  for (const Waiting& w : std::exchange(waiting_, {})) {
    lanes_[w.rank][w.warp->index()].before &= ~w.mask;
    w.warp->release_barrier(w.split);
    w.warp->block().report_cluster_wait(w.warp->index(), w.mask, over);
  }
}

}  // namespace lab32::sim
