// A model of the caches: hits in L1 and L2, and traffic of device memory. Create an observer with
// the shape of the GPU, run the launch, and call counters().
//
// The simulator runs blocks one after another, but the caches of a GPU see the accesses of all
// resident blocks interleaved. So each block's accesses are recorded as lines and sectors and
// replayed one *wave* at a time. A wave is the blocks that are resident together, dealt to the
// multiprocessors in turn. In each round every multiprocessor issues one access of its next warp.
// L1 and L2 keep their contents between waves. The replay depends only on the launch, not on the
// number of host threads.
//
// The record of one wave is bounded. Accesses of a block beyond its share are not replayed, and the
// counts are scaled up (CacheCounters::recorded).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/caches/cache_record.h"
#include "simulator/observers/caches/l2.h"
#include "simulator/observers/counters.h"

namespace lab32::counters {

struct CacheHierarchyConfig {
  uint32_t multiprocessors = 1;
  uint32_t resident_blocks = 1;  // per multiprocessor
  uint64_t l1_bytes = 0;
  uint32_t l1_ways = 16;
  L2Shape l2;
  // The cost of a float atomic in L2, relative to an integer one.
  double float_atomic = 1;
  // the most lines that are recorded for one wave; each takes 16 bytes
  uint64_t accesses_recorded = 16'000'000;
};

struct CacheLineAccess;

class CacheReplayObserver : public sim::Observer {
 public:
  // `l2`: the state that an earlier launch has left; without it L2 starts empty. L1 always starts
  // empty.
  CacheReplayObserver(const CacheHierarchyConfig& shape,
                      std::vector<CacheTreatmentOfInstruction> uses, std::optional<L2> l2);
  ~CacheReplayObserver() override;

  std::unique_ptr<sim::Observer> fork() const override;
  void merge(sim::Observer& other) override;
  void block_begin(const sim::BlockInfo& block) override;
  void block_end() override;
  void access(uint32_t warp, const sim::IssuedWarpAccess& access) override;
  void texel_access(uint32_t warp, const sim::WarpTexelAccess& access) override;
  void bulk_move(uint32_t warp, const sim::ContiguousBulkMove& move) override;
  bool wants_accesses() const override { return true; }
  bool wants_whole_launch() const override { return true; }

  // After all forks are merged.
  CacheCounters counters();
  double busiest_slice_atomic_work() const;  // L2::busiest_slice_atomic_work
  // After counters().
  std::array<LoadGroupCacheCounts, kLoadGroups> load_counts_by_instruction_group() const;
  L2 take_l2();

 private:
  struct Launch;  // state that the forks of one run share
  struct Recorded;

  explicit CacheReplayObserver(std::shared_ptr<Launch> launch);
  void drop_if_block_share_is_full(std::vector<CacheLineAccess>& accesses, size_t before);

  // Shared with the forks. The simulator runs a launch a second time, in order, if it must. The
  // forks of the first run are destroyed by then, so a fork made when no other exists starts with a
  // new state.
  mutable std::shared_ptr<Launch> launch_;
  std::unique_ptr<Recorded> block_;
};

}  // namespace lab32::counters
