// A model of the caches: what hits in L1 and L2, and what device memory moves.
//
// The simulator runs blocks one after the other; the caches of a GPU see those that reside together
// side by side. So each block's accesses are recorded, as lines and sectors, and replayed a *wave*
// at a time: the blocks that reside together, dealt to the multiprocessors in turn; in each round
// every multiprocessor issues one access of its next warp. Waves follow each other; L2 stays as it
// is, L1 too. The replay depends on the launch alone, not on host threads.
//
// What is recorded of one wave is bounded: a block that exceeds its share is replayed as far as it
// was recorded, and the counts are scaled up (CacheCounters::recorded).
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

struct CacheShape {
  uint32_t multiprocessors = 1;
  uint32_t resident_blocks = 1;  // a multiprocessor
  uint64_t l1_bytes = 0;
  uint32_t l1_ways = 16;
  L2Shape l2;
  double float_atomic = 1;                  // what an atomic on a float costs L2, in integer ones
  uint64_t accesses_recorded = 16'000'000;  // lines of one wave, 16 bytes each
};

struct LineAccess;

class CacheObserver : public sim::Observer {
 public:
  // `l2`: what an earlier launch has left; without it L2 starts empty. L1 always does.
  CacheObserver(const CacheShape& shape, std::vector<CacheUse> uses, std::optional<L2> l2);
  ~CacheObserver() override;

  std::unique_ptr<sim::Observer> fork() const override;
  void merge(sim::Observer& other) override;
  void block_begin(const sim::BlockInfo& block) override;
  void block_end() override;
  void access(uint32_t warp, const sim::Access& access) override;
  void texels(uint32_t warp, const sim::TexelAccess& access) override;
  void bulk(uint32_t warp, const sim::BulkMove& move) override;
  bool wants_accesses() const override { return true; }
  bool wants_whole_launch() const override { return true; }

  // After all forks are merged.
  CacheCounters counters();
  double busiest_slice() const;  // L2::busiest_slice
  // After counters().
  std::array<LoadGroup, kLoadGroups> load_groups() const;
  L2 take_l2();

 private:
  struct Launch;  // what the forks of one attempt at the launch share
  struct Recorded;

  explicit CacheObserver(std::shared_ptr<Launch> launch);
  void keep_to_share(std::vector<LineAccess>& accesses, size_t before);

  // Shared with the forks. The simulator runs a launch again, in order, when it must: the forks of
  // the first attempt are gone by then, so that one asked for when none lives begins anew.
  mutable std::shared_ptr<Launch> launch_;
  std::unique_ptr<Recorded> block_;
};

}  // namespace lab32::counters
