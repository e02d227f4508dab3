// The 16 barriers of a block (bar.sync, bar.arrive, bar.red): which threads have arrived and how
// many each barrier waits for. A warp arrives with a mask of lanes; the last arrival releases all
// waiting splits.
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
  // Resets all barriers for the next block.
  void restart();

  void arrive(Warp& warp, uint32_t mask, std::byte* regs, const BlockContext::Arrival& arrival);
  // Called when threads exit. __syncthreads() waits only for threads that have not exited, so an
  // exit can complete it.
  void threads_exited();
  // Whether threads wait at any barrier.
  bool is_waited_at() const;
  // Called when no thread can run any more. Traps; in a launch that keeps going it releases the
  // threads at one barrier instead. False: no thread waits at any barrier.
  bool give_up_one();
  uint32_t live_threads() const;

 private:
  struct WaitingSplit {
    uint32_t warp;
    uint32_t split;  // id of the split
    uint32_t mask;
    std::byte* regs;  // of the activation whose instruction waits
    const Inst* inst;
    bool waits;
  };
  struct Barrier {
    uint32_t arrived = 0, wanted = 0;
    uint32_t popc = 0;
    bool all = true, any = false;
    std::vector<WaitingSplit> waiting;
    void reset();
  };
  // Completes a barrier. `forced`: although threads are missing.
  void complete(uint32_t barrier, bool forced = false);
  // Lanes of a warp that wait at two different barriers are a fault.
  void find_second_barrier(const Warp& warp, const WaitingSplit& here);
  void find_skipped_barrier(const WaitingSplit& here, const uint32_t* lane_mask_of_warp);

  BlockContext& block_;
  const Warps& warps_;
  std::array<Barrier, 16> barriers_;
};

}  // namespace lab32::sim
