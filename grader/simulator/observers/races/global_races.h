// Finds races in device memory by the PTX memory model: two accesses to one byte by different
// threads, at least one of them a write, that nothing orders (happens_before.h) and that are not
// both strong in scopes that contain both threads.
//
// The observer sees only suspect words (core/memory/race_filter.h), in a second run of the launch
// on one host thread. A launch without suspect words has no second run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "simulator/core/memory/memory.h"
#include "simulator/observers/races/causality_observer.h"

namespace lab32::counters {

class GlobalMemoryRaceObserver : public CausalityObserverBase {
 public:
  // `memory` belongs to the launch and has the names of its arrays.
  explicit GlobalMemoryRaceObserver(const sim::Memory& memory);

  std::unique_ptr<sim::Observer> fork() const override;
  void strong_or_suspect_access(uint32_t warp, const sim::StrongOrSuspectAccess& access) override;
  bool wants_order() const override { return true; }
  void begin_ordered_run() override;
  void begin_ordered_reports() override { follows_ = true; }

  // One finding for each pair of source lines, sorted by file, line, other line. A note is left out
  // if the same lines also have a real race.
  std::vector<Finding> findings(const PositionOf& position) const;

 private:
  // One access of a thread to a word.
  struct AccessRecord {
    GridThread by;
    uint32_t stamp = 0, site = 0;
    uint64_t sequence = 0;  // number of the warp's access in the launch
    uint8_t bytes = 0;      // bytes of the access
    uint8_t element = 0;    // bytes of one element of the access; 0: unknown
    uint8_t touched = 0;    // which of the word's four bytes are accessed, one bit each
    sim::AccessKind kind = sim::AccessKind::load;
    bool strong = false, block_only = false, volatile_store = false, polls = false,
         read_only = false;
  };
  // Earlier accesses of one kind to a word, at most kMost. A later access that races with one that
  // was dropped usually races with a kept one, too: of each warp, accesses of two threads are kept,
  // and the oldest of the block with most records goes first.
  struct EarlierAccesses {
    static constexpr size_t kMost = 64;
    std::vector<AccessRecord> records;
    bool one_site = true;  // all records are accesses of one kind by one instruction
    void add(const AccessRecord& now);
    // Removes the records that access none but `bytes` of the word, one bit each.
    void remove_covered_records(uint8_t bytes);

   private:
    // Index of the record that a further lane of its instruction replaces; kMost: none.
    size_t last_of_instruction = kMost;
    void drop_oldest_of_busiest_block();
  };
  struct WordState {
    EarlierAccesses reads, writes, strong;
    // The last strong access of each block. It is ordered after all strong accesses before it.
    std::unordered_map<uint64_t, AccessRecord> last_strong;
    // Whether two accesses in `strong` may race: one has block scope or is a volatile store, or
    // their sizes differ.
    bool strong_may_race = false;
    uint8_t strong_element = 0;        // element size of the accesses in `strong`; 0: none yet
    uint8_t value[4] = {}, known = 0;  // last store; one bit for each known byte
  };
  struct RaceKey {
    bool note;
    uint32_t earlier, later;  // sites
    bool operator<(const RaceKey& o) const {
      return std::tie(note, earlier, later) < std::tie(o.note, o.earlier, o.later);
    }
  };
  struct Race {
    uint64_t count = 0;    // accesses that raced with an earlier one
    uint64_t address = 0;  // of the example
    AccessRecord earlier, later;
    uint64_t last = 0;  // number of the last access that was counted
  };
  // Shared by all forks of one run, which uses one host thread.
  struct RunState {
    std::unordered_map<uint64_t, WordState> words;
    WordState* last_word = nullptr;  // the word at last_address; null: none yet
    uint64_t last_address = 0;
    // `races_of_earlier_runs` are the races that earlier runs, with another order of blocks, have
    // found.
    std::map<RaceKey, Race> races, races_of_earlier_runs;
    uint64_t sequence = 0;
    uint64_t accesses = 0;  // of single threads
  };

  void record_access(const AccessRecord& now, uint64_t word, const std::byte* value);
  static bool sizes_differ(const AccessRecord& a, const AccessRecord& b);
  static bool are_morally_strong(const AccessRecord& before, const AccessRecord& now);
  bool is_race(const WordState& word, const AccessRecord& before, const AccessRecord& now) const;
  const Race& report(const AccessRecord& before, const AccessRecord& now, uint64_t word,
                     bool same_value);
  Finding finding_of(const Race& race, const PositionOf& position) const;

  const sim::Memory& memory_;
  std::shared_ptr<RunState> state_;
};

}  // namespace lab32::counters
