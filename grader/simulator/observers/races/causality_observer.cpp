#include "simulator/observers/races/causality_observer.h"

#include <algorithm>

namespace lab32::counters {

void CausalityObserverBase::block_begin(const sim::BlockInfo& block) {
  if (!follows_) return;
  block_ = block.index;
  cluster_ = block.cluster;
  in_cluster_ = block.cluster_blocks;
  order_->shape = block;
  causality().begin_block(block);
}

void CausalityObserverBase::block_end() {
  if (follows_) causality().end_block(block_);
}

void CausalityObserverBase::block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps,
                                          bool whole_block) {
  if (follows_) causality().block_barrier(block_, lane_mask_of_warp, warps, whole_block);
}

void CausalityObserverBase::warp_barrier(uint32_t warp, uint32_t mask) {
  if (follows_) causality().warp_barrier(block_, warp, mask);
}

void CausalityObserverBase::mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key,
                                            bool completes) {
  if (!follows_) return;
  causality().mbarrier_arrive(block_, warp, mask, key, completes);
  // In a cluster, the threads that wait for this mbarrier may belong to other blocks, so the order
  // is kept by a key that all blocks of the cluster share.
  if (in_cluster_ > 1)
    causality().arrive_across_blocks(block_, warp, mask, kMbarrierKeys | cluster_ << 32 | key,
                                     true);
}

void CausalityObserverBase::mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key) {
  if (!follows_) return;
  causality().mbarrier_wait(block_, warp, mask, key);
  if (in_cluster_ > 1)
    causality().wait_across_blocks(block_, warp, mask, kMbarrierKeys | cluster_ << 32 | key);
}

// Phases alternate between two words, so that a thread that still waits for one phase does not
// observe the next one.
void CausalityObserverBase::cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase,
                                           bool releases, bool) {
  if (follows_)
    causality().arrive_across_blocks(block_, warp, mask, kClusterKeys | cluster_ << 1 | phase % 2,
                                     releases);
}

void CausalityObserverBase::cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase) {
  if (follows_)
    causality().wait_across_blocks(block_, warp, mask, kClusterKeys | cluster_ << 1 | phase % 2);
}

void CausalityObserverBase::fence(uint32_t warp, uint32_t mask, uint32_t,
                                  const ptx::MemoryOrder& order) {
  if (!follows_) return;
  for (uint32_t left = mask; left != 0; left &= left - 1)
    causality().fence(thread(warp, static_cast<uint32_t>(__builtin_ctz(left))), order);
}

namespace {

Finding::Index3 index_in_3d(uint64_t i, uint32_t x, uint32_t y) {
  return {static_cast<uint32_t>(i % x), static_cast<uint32_t>(i / x % y),
          static_cast<uint32_t>(i / x / y)};
}

}  // namespace

Finding finding_of_pair(const AccessOfThread& earlier, const AccessOfThread& later,
                        uint64_t address, const sim::BlockInfo& shape, const sim::Memory& memory,
                        const PositionOf& position) {
  const auto party = [&](const AccessOfThread& a) {
    return Finding::Party{index_in_3d(a.by.thread, shape.dim_x, shape.dim_y), a.by.thread / 32,
                          sim::access_use_of(a.kind), a.bytes};
  };
  const auto block = [&](const AccessOfThread& a) {
    return index_in_3d(a.by.block, shape.grid_x, shape.grid_y);
  };
  Finding f;
  f.kind = Finding::Kind::race;
  f.global = true;
  f.block = block(later);
  f.block_size = {shape.dim_x, shape.dim_y, shape.dim_z};
  f.party = party(later);
  f.other = party(earlier);
  f.other_block = block(earlier);
  if (const auto at = position(later.site)) {
    f.file = at->file;
    f.line = at->line;
  }
  if (const auto at = position(earlier.site)) {
    f.other_file = at->file;
    f.other_line = at->line;
  }
  f.update = f.line != 0 && f.line == f.other_line && f.file == f.other_file;
  f.offset = address;
  if (const sim::Allocation* in = memory.find(address)) {
    f.object = in->name;
    f.offset = address - in->begin;
    const uint32_t bytes = std::min(earlier.bytes, later.bytes);
    if (in->end - in->begin > bytes) f.element = f.offset / bytes;
  }
  return f;
}

}  // namespace lab32::counters
