// Which accesses of a launch's threads are ordered before which, across blocks: the causality order
// of the PTX memory model, as far as a run shows it. Barriers order the threads of a block
// (happens_before.h). Between blocks, order comes from a strong write that another block's strong
// access sees, with a fence (or release) before the one and a fence (or acquire) after the other.
//
// Two things that hardware gives are taken for granted although the model's letter has them only
// for one and the same thread: what a thread has fenced, and what it has seen by a strong read,
// reaches the rest of its block through a barrier. So the usual "all fence, __syncthreads(), thread
// 0 counts" and the last block that goes on after __syncthreads() without a second fence are right.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/core/execute/events.h"
#include "simulator/counters/happens_before.h"

namespace lab32::counters {

// A thread of the grid: its block's linear index, and its own in the block.
struct GridThread {
  uint64_t block = 0;
  uint32_t thread = 0;
};

class Causality {
 public:
  void begin_block(const sim::BlockInfo& block);
  void end_block(uint64_t block);
  void block_barrier(uint64_t block, const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole);
  void warp_barrier(uint64_t block, uint32_t warp, uint32_t mask);
  void mbarrier_arrive(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key, bool completes);
  void mbarrier_wait(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key);
  void fence(GridThread thread, const ptx::MemoryOrder& order);
  // A strong access of the thread, when it happens: what it sees at `address`, and what others that
  // see it later will know.
  void strong(GridThread thread, uint64_t address, sim::AccessKind kind,
              const ptx::MemoryOrder& order);

  // What the thread's next access is stamped with.
  uint32_t stamp(GridThread thread) const;
  // Did a's access stamped `stamp` come before what b does now?
  bool ordered(GridThread a, uint32_t stamp, GridThread b) const;

 private:
  // What a thread knew of its own block when it released.
  struct Release {
    GridThread by;
    HappensBefore::View view;
    bool block_only = false;
    bool covers(uint32_t thread, uint32_t stamp) const;
  };
  // What was released at an address, in its order: whoever sees the n-th value knows all up to it.
  struct Log;
  struct Seen {
    std::shared_ptr<const Log> log;
    size_t length = 0;
    bool block_only = false;
  };
  using Knowledge = std::vector<Seen>;
  struct Log {
    size_t length = 0;
    std::unordered_map<uint64_t, std::vector<std::pair<size_t, Release>>> of_block;
    std::vector<std::pair<size_t, Seen>> seen;  // what those who released had seen of others
  };
  struct Thread {
    Knowledge known, pending;               // pending: seen, but for the fence
    std::map<uint32_t, Release> published;  // by thread: fenced, so a strong write releases it
    Knowledge published_known;
    bool empty() const { return known.empty() && pending.empty() && published.empty(); }
  };
  struct Block {
    HappensBefore order;
    Thread all;  // what every thread of it has
    std::unordered_map<uint32_t, Thread> threads;
  };

  static void add(Knowledge& to, const Seen& what);
  static void add(Knowledge& to, const Knowledge& what);
  static void join(Thread& to, const Thread& from);
  void join_lanes(Block& block, const uint32_t* lane_mask_of_warp, uint32_t warps);
  static void append(Log& log, const Release& release);
  static void append(Log& log, const Knowledge& known);
  static bool covers(const Knowledge& known, GridThread a, uint32_t stamp, uint64_t reader,
                     std::map<const Log*, size_t>& visited);

  std::unordered_map<uint64_t, Block> blocks_;               // those that run
  std::unordered_map<uint64_t, std::shared_ptr<Log>> logs_;  // by address
};

}  // namespace lab32::counters
