// How a block shares its memory with the copy engine, which goes another way to it than threads do
// (PTX ISA, "proxies"): what threads have written must be made visible to the engine before a copy
// reads it, by fence.proxy.async; and what a copy reads must stay until its thread has waited for
// the group (cp.async.bulk.wait_group). A finding is what no order of the block's threads excuses:
// for what may be ordered in ways that are not seen here, there is none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/races/hazard.h"

namespace lab32::counters {

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
