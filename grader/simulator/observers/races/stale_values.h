// The adversary of a trial launch. The simulator executes accesses in one order, and each is
// visible at once. On a GPU a strong load may return an older value of its word, as long as the
// newest store is not ordered before the load (happens_before.h). StaleGlobalValueInjector lets
// loads do that. A protocol that lacks a fence then gives another result than in a run without it.
//
// A strong load that updates nothing may return the value of every store after the last one
// that
// - is ordered before the load (base causality of the PTX memory model, and the order of fence.sc),
// - or whose value a thread of the same block, or a load ordered before this one, has returned.
// Updates read the newest value. A load that repeats gets the newest value in the end, so waiting
// loops end.
//
// With Choice::oldest, a fence.sc of the device comes before those that the run has executed
// earlier, unless a load contradicts that. A thread that fences before it waits, but not
// afterwards, then misses the stores in every run.
//
// The trial leaves out: the order of stores is that of the run, so an update never misses a store.
// Loads of shared memory and words that are accessed in several sizes give the newest value. Plain
// loads race instead (global_races.h), and so do loads that need not see what the launch writes
// (ld.global.nc). The history of a word is short (kVersions), and only kElements words have one. In
// launches with clusters all loads give the newest value. A contradiction between fences of three
// threads is not recognised.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/random.h"
#include "simulator/core/memory/memory.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/observers/races/causality_observer.h"
#include "simulator/observers/races/race_check.h"

namespace lab32::counters {

class StaleGlobalValueInjector : public CausalityObserverBase {
 public:
  // The value that a load returns: the oldest that it may return, or a random one.
  enum class Choice : uint8_t { oldest, any };
  // `memory` belongs to the launch. `orders`: of all instructions of the program.
  StaleGlobalValueInjector(const sim::Memory& memory, SiteOrders orders, Choice choice,
                           uint64_t seed);

  // Whether the program has a load that may return an older value.
  static bool has_loads_of_old_values(const sim::KernelProgram& program);

  std::unique_ptr<sim::Observer> fork() const override;
  void block_begin(const sim::BlockInfo& block) override;
  void block_end() override;
  void strong_or_suspect_access(uint32_t warp, const sim::StrongOrSuspectAccess& access) override;
  void shared_ptx_access(uint32_t warp, const sim::PtxSharedAccessEvent& access) override;
  void fence(uint32_t warp, uint32_t mask, uint32_t site, const ptx::MemoryOrder& order) override;
  void replace_loaded_values(uint32_t warp, const sim::StrongOrSuspectAccess& access,
                             std::byte* values) override;
  bool replaces_loaded_values() const override { return true; }
  bool wants_shared_ptx_accesses() const override { return state_->strong_shared; }

  // The loads that have returned an older value, and the first store that each has missed: one
  // finding for each pair of instructions, in the order of the run, polls last.
  std::vector<Finding> findings(const PositionOf& position) const;

 private:
  static constexpr size_t kVersions = 8, kElements = 1 << 17;

  // A value of an element. The lanes of one instruction write one version together.
  struct ElementVersion {
    uint64_t number = 0;  // 0: from before the launch
    AccessOfThread write;
    uint32_t lanes = 0, stamp = 0;      // the lanes of the writing warp, and the stamp of the write
    Causality::LogPrefix releases;      // the releases that a load of this version observes
    size_t fences_at_last_read = 0;     // fences that had been executed at its last read
    std::array<std::byte, 16> value{};  // unused in the newest version: the value is in memory
  };
  struct VersionRead {
    GridThread by;
    uint32_t stamp = 0;
    uint64_t number = 0;  // of the version
  };
  // The reads of a block: the newest version that they returned, and the number of successive reads
  // that missed a newer one.
  struct NewestVersionReadByBlock {
    uint64_t number = 0;
    uint32_t missed = 0;
  };
  // A word of 1, 2, 4, 8 or 16 bytes that strong accesses use.
  struct Element {
    uint64_t address = 0;
    unsigned bytes = 0;
    bool mixed = false;                    // accessed in several sizes: it has no history
    uint64_t sequence = 0;                 // instruction of the newest version
    std::vector<ElementVersion> versions;  // the newest last
    std::unordered_map<uint64_t, NewestVersionReadByBlock> by_block;
    std::vector<VersionRead> reads;  // the latest reads, one for each block
    uint64_t least = 0;              // the oldest version that a read may still return
  };
  struct RunningBlock {
    std::vector<Element*> stored;  // kept by StateSharedByForks::elements
    // By thread: the number of executed fences at its last one.
    std::map<uint32_t, size_t> fences_of_thread;
  };
  // Loads of one site that missed a store of another site.
  struct LoadsThatMissedStore {
    uint64_t count = 0, first = 0;  // first: the number of the first such load in the launch
    bool polls = false;
    AccessOfThread load, store;
    uint64_t address = 0;
  };
  struct StateSharedByForks {
    SiteOrders orders;
    bool strong_shared = false;
    Choice choice = Choice::oldest;
    Random random{0};
    std::unordered_map<uint64_t, std::shared_ptr<Element>> elements;  // by word, or part of one
    // hashes of the words in `elements`; a word without its bit has no element
    std::bitset<1 << 16> may_hold;
    uint64_t sequence = 0;                     // of instructions
    std::vector<Causality::LogPrefix> fences;  // executed fence.sc of the device, up to each
    size_t fences_at_unknown_read = 0;         // of a word without a history
    size_t moved_fences = 0;                   // pairs in another order than the run's
    std::unordered_map<uint64_t, RunningBlock> running;
    std::map<std::pair<uint32_t, uint32_t>, LoadsThatMissedStore>
        missed;  // by the sites of load and store
  };

  StaleGlobalValueInjector(const sim::Memory& memory, std::shared_ptr<SharedCausality> order,
                           std::shared_ptr<StateSharedByForks> state);
  Element* find_or_create_element(uint64_t address, unsigned bytes, bool create);
  static std::shared_ptr<Element> new_element(uint64_t address, unsigned bytes);
  void order_untracked_access(GridThread by, uint64_t address,
                              const sim::StrongOrSuspectAccess& access);
  void note_stored_by_block(Element& element);
  size_t earliest_position_for_fence(GridThread by) const;
  void place_in_total_fence_order(GridThread by, const ptx::MemoryOrder& update);
  void write(Element& element, GridThread by, const sim::StrongOrSuspectAccess& access);
  size_t choose_version(Element& element, GridThread by, bool polls);
  void replace_loaded_value(Element& element, GridThread by,
                            const sim::StrongOrSuspectAccess& access, std::byte* value);
  bool is_version_ordered_before(const ElementVersion& version, GridThread thread) const;
  void note_version_read(Element& element, GridThread by, uint64_t number);

  const sim::Memory& memory_;
  std::shared_ptr<StateSharedByForks> state_;
};

}  // namespace lab32::counters
