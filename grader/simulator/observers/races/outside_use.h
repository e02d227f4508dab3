// How others than a block's threads use its shared memory: the other blocks of its cluster, and the
// copy engine.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/races/finding.h"
#include "simulator/observers/races/happens_before.h"

namespace lab32::counters {

// How the blocks of a cluster use each other's shared memory. To the race check they are one block:
// warps and bytes are numbered through, rank by rank. Kept here besides: an access to another
// block's memory must come after that block has started and before it ends, by the order that
// barriers make (CUDA programming guide, "Distributed Shared Memory").
class ClusterUse {
 public:
  // The cluster's barrier, beside those in shared memory, and as the next phase of it.
  static constexpr uint64_t kBarrier = uint64_t{1} << 62;

  explicit ClusterUse(const sim::BlockInfo& first);
  void join(const sim::BlockInfo& block);
  // All have begun; what comes from now on is stamped behind it.
  void started(const HappensBefore& order) { start_ = order.block_start(); }

  uint32_t threads() const { return blocks_count_ * warps_ * 32; }
  uint32_t shared_bytes() const { return blocks_count_ * stride_; }
  // Bytes from one block's shared memory to the next one's.
  uint32_t stride() const { return stride_; }

  // Lanes have seen the end of a phase of the cluster's barrier: all blocks have started.
  void met(uint32_t warp, uint32_t mask) { met_[warp] |= mask; }
  // What is wrong with it is kept until end_of(): before its start, or not before its end.
  struct Early {
    uint32_t site, lanes;
    sim::TrapFacts facts;
  };
  void access(const HappensBefore& order, uint32_t warp, const sim::RawAccess& access);
  // The block has ended.
  std::vector<Early> end_of(const HappensBefore& order, uint32_t rank);

  // From numbers of the cluster to those of blocks.
  void describe(Hazard& hazard) const;

 private:
  struct Remote {
    uint32_t stamp, lanes;
    uint64_t offset;
    uint8_t bytes;
    Use use;
  };
  uint32_t rank_of_warp(uint32_t warp) const { return warp / warps_; }
  sim::TrapFacts facts(sim::TrapReason reason, uint32_t warp, uint32_t lane, uint32_t owner,
                       const Remote& remote) const;
  // Does some thread of the block know of it?
  bool known_to(const HappensBefore& order, uint32_t rank, uint32_t thread, uint32_t stamp) const;

  uint32_t blocks_count_, warps_, stride_;
  uint32_t start_ = 0;
  std::vector<sim::BlockInfo> blocks_;  // by rank
  std::vector<uint32_t> met_;           // by warp
  // By warp and owner: lanes that are known to come after its start.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> after_start_;
  // By owner, warp and site.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<Remote>> remote_;
  std::vector<Early> before_start_;
};

// How a block shares its memory with the copy engine, which goes another way to it than threads do
// (PTX ISA, "proxies"): what threads have written must be made visible to the engine before a copy
// reads it, by fence.proxy.async; and what a copy reads must stay until its thread has waited for
// the group (cp.async.bulk.wait_group). A finding is what no order of the block's threads excuses:
// for what may be ordered in ways that are not seen here, there is none.
class EngineUse : public sim::Observer {
 public:
  std::unique_ptr<sim::Observer> fork() const override { return std::make_unique<EngineUse>(); }
  void merge(sim::Observer& other) override;
  void block_begin(const sim::BlockInfo& block) override;
  void block_end() override;
  void raw_shared(uint32_t warp, const sim::RawAccess& access) override;
  void engine(uint32_t warp, const sim::EngineEvent& event) override;
  void block_barrier(const uint32_t*, uint32_t, bool) override { meet(); }
  void warp_barrier(uint32_t, uint32_t) override { meet(); }
  void mbarrier_wait(uint32_t, uint32_t, uint64_t) override { meet(); }
  void fence(uint32_t, uint32_t, const ptx::MemoryOrder&) override { meet(); }
  bool wants_raw_shared() const override { return true; }

  std::vector<Finding> findings(const PositionOf& position) const;

 private:
  // A word of shared memory that a thread has written last.
  struct Write {
    uint32_t when = 0, meeting = 0, thread = 0;  // when 0: nobody, or the copy engine
  };
  // Bytes that a copy of a thread's reads, in that group of its; once it has waited for them, until
  // threads meet again.
  struct Reading {
    uint32_t site, thread, group;
    uint64_t begin, end;
    bool waited = false;
  };

  // Some threads have met: what one has done before may come before what another does now.
  void meet();
  void read(uint32_t warp, const sim::EngineEvent& event);
  void found(sim::TrapReason reason, uint32_t site, uint32_t thread, uint32_t other,
             uint64_t offset, uint32_t bytes, sim::AccessUse use);
  sim::ThreadId name_of(uint32_t thread) const;

  bool watched_ = false;
  sim::BlockInfo block_{};
  uint32_t now_ = 0, meetings_ = 0, last_fence_meeting_ = 0;
  bool fenced_ = false;
  std::vector<Write> words_;
  std::vector<uint32_t> fence_of_thread_, groups_of_thread_;
  std::vector<Reading> readings_;
  std::map<std::pair<sim::TrapReason, uint32_t>, Hazard> seen_;  // by site
};

}  // namespace lab32::counters
