// How often warps of a block get in each other's way in compare-and-swap loops on shared memory:
// the sums of floats and of 64 bits that ptxas makes such loops of.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "simulator/core/warp/events.h"

namespace lab32::counters {

class SpinObserver : public sim::Observer {
 public:
  std::unique_ptr<sim::Observer> fork() const override;
  void merge(sim::Observer& other) override;
  void block_begin(const sim::BlockInfo& block) override;
  void block_end() override { end_phase(); }
  void access(uint32_t warp, const sim::Access& access) override;
  void block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block) override;
  bool wants_accesses() const override { return true; }

  // Of a lane's word, the share of the rounds of the block's other warps that change it, on the
  // mean: 1 where all warps go to the same words, 0 where each has words of its own. What lies
  // between two barriers of the block counts together.
  double shared_words() const { return lanes_ > 0 ? meetings_ / lanes_ : 0; }
  // Lanes that take part in the last round of a loop, on the mean: so many words decide how long it
  // takes.
  double last_lanes() const { return loops_ > 0 ? in_last_ / loops_ : 0; }

 private:
  void end_phase();
  void end_loop(uint32_t warp);

  struct Word {
    uint32_t all = 0;  // updates
    std::unordered_map<uint32_t, uint32_t> of_warp;
  };
  std::unordered_map<uint64_t, Word> words_;
  std::vector<uint64_t> rounds_;  // of each warp
  std::vector<uint32_t> trying_;  // lanes of each warp in its latest round
  double lanes_ = 0, meetings_ = 0, loops_ = 0, in_last_ = 0;
};

}  // namespace lab32::counters
