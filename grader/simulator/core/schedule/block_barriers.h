// The barriers of a block (bar.sync and similar): which threads have come, and how many are
// awaited.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/core/warp/block_context.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

class BlockBarriers {
 public:
  using Warps = std::vector<std::unique_ptr<Warp>>;
  BlockBarriers(BlockContext& block, const Warps& warps) : block_(block), warps_(warps) {}
  // The next block begins.
  void restart();

  void arrive(Warp& warp, uint32_t mask, std::byte* regs, const BlockContext::Arrival& arrival);
  // __syncthreads() waits for the threads that have not exited, so an exit can complete it.
  void threads_exited();
  // Whether threads wait at one of them.
  bool is_waited_at() const;
  // No other thread will come: traps, or, in a launch that keeps going, lets the threads at one
  // barrier go on. False: no thread waits at any.
  bool give_up_one();
  uint32_t live_threads() const;

 private:
  struct Waiting {
    uint32_t warp;
    uint32_t split;  // its id
    uint32_t mask;
    std::byte* regs;
    const Inst* inst;
    bool waits;
  };
  struct Barrier {
    uint32_t arrived = 0, wanted = 0;
    uint32_t popc = 0;
    bool all = true, any = false;
    std::vector<Waiting> waiting;
    void reset();
  };
  // `forced`: without all that it waits for.
  void complete(uint32_t barrier, bool forced = false);
  void find_skipped_barrier(const Waiting& here, const uint32_t* lane_mask_of_warp);

  BlockContext& block_;
  const Warps& warps_;
  std::array<Barrier, 16> barriers_;
};

}  // namespace lab32::sim
