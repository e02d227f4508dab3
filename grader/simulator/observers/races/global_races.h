// Finds races in device memory, by the PTX memory model: two accesses to one byte by different
// threads, one of them a write, that nothing orders (happens_before.h), and not both strong in
// scopes that hold both threads.
//
// It is told of suspect words only (core/memory/touch_map.h), in a run of the launch on one host
// thread; launches without such words cost it nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "simulator/core/memory/memory.h"
#include "simulator/core/warp/events.h"
#include "simulator/observers/counters.h"
#include "simulator/observers/races/finding.h"
#include "simulator/observers/races/happens_before.h"

namespace lab32::counters {

class GlobalRaceObserver : public sim::Observer {
 public:
  // `memory` is the launch's: it has the names of arrays.
  explicit GlobalRaceObserver(const sim::Memory& memory);

  std::unique_ptr<sim::Observer> fork() const override;
  void merge(sim::Observer& other) override;
  void block_begin(const sim::BlockInfo& block) override;
  void block_end() override;
  void block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block) override;
  void warp_barrier(uint32_t warp, uint32_t mask) override;
  void mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes) override;
  void mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key) override;
  void cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase, bool releases,
                      bool completes) override;
  void cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase) override;
  void ordered(uint32_t warp, const sim::OrderedAccess& access) override;
  void fence(uint32_t warp, uint32_t mask, const ptx::MemoryOrder& order) override;
  bool wants_order() const override { return true; }
  void begin_order() override;
  void follow_order() override { follows_ = true; }

  // One for each pair of source lines, sorted by file, line, other line. A note is left out where
  // the same lines race in earnest.
  std::vector<Finding> findings(const PositionOf& position) const;

 private:
  // What a thread did to a word, and when.
  struct Record {
    GridThread by;
    uint32_t stamp = 0, site = 0;
    uint64_t sequence = 0;  // of the warp's access, in the launch
    uint8_t bytes = 0;      // of the access
    uint8_t touched = 0;    // of the word's four bytes, a bit each
    sim::AccessKind kind = sim::AccessKind::load;
    bool strong = false, block_only = false;
  };
  struct Word {
    std::vector<Record> reads, writes, strong;
    // By block: its last strong access, which comes after all strong ones before it.
    std::unordered_map<uint64_t, Record> last_strong;
    bool block_only = false;           // one of `strong` is
    uint8_t value[4] = {}, known = 0;  // last written by a plain store; a bit for each known byte
  };
  struct Key {
    bool note;
    uint32_t earlier, later;  // sites
    bool operator<(const Key& o) const {
      return std::tie(note, earlier, later) < std::tie(o.note, o.earlier, o.later);
    }
  };
  struct Race {
    uint64_t count = 0, address = 0;
    Record earlier, later;
  };
  // All forks of one run share it: it has one host thread.
  struct State {
    std::unique_ptr<Causality> causality = std::make_unique<Causality>();
    std::unordered_map<uint64_t, Word> words;
    // of_other_order: of the runs before this one.
    std::map<Key, Race> races, of_other_order;
    sim::BlockInfo shape{};  // of any block
    uint64_t sequence = 0;
  };

  void touch(const Record& now, uint64_t word, const std::byte* value);
  bool conflicts(const Word& word, const Record& before, const Record& now) const;
  void report(const Record& before, const Record& now, uint64_t word, bool same_value);
  Finding finding_of(const Race& race, const PositionOf& position) const;

  const sim::Memory& memory_;
  std::shared_ptr<State> state_;
  bool follows_ = false;
  uint64_t block_ = 0;
  uint64_t cluster_ = 0, in_cluster_ = 0;  // its number; 0: in none
};

}  // namespace lab32::counters
