// Which accesses come before which: of a block's threads, and across blocks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/core/warp/events.h"

namespace lab32::counters {

// Which accesses of a block's threads are ordered before which: the happens-before relation that
// barriers build, as stamps. Every barrier advances one clock; an access is stamped with the clock
// of its warp's last barrier; "all of thread a's accesses stamped below s came before mine" is then
// one comparison.
//
// The usual barriers, of the whole block and of a whole warp, are two floors. Barriers among fewer
// threads (named ones, __syncwarp() with a partial mask) need a vector clock for each thread; since
// threads that met hold equal vectors, they share one, made at the barrier.
class HappensBefore {
 public:
  // Stamps go on growing from block to block, so that nothing kept with one needs clearing; past
  // `restart` they begin anew.
  explicit HappensBefore(uint32_t restart = uint32_t{1} << 31) : restart_(restart) {}

  // True: the clock began anew, forget everything that holds a stamp.
  bool begin_block(uint32_t threads);

  void whole_block();
  void whole_warp(uint32_t warp);
  // The threads in lane_mask_of_warp[0..warps) waited for each other.
  void some_threads(const uint32_t* lane_mask_of_warp, uint32_t warps);

  // What the threads that arrive at some object have seen and done: whoever acquires it comes
  // after. Empty: nothing.
  using Vector = std::vector<uint32_t>;  // of each thread: accesses stamped below are known
  using Token = std::shared_ptr<const Vector>;
  void release(Token& token, uint32_t warp, uint32_t mask);
  void acquire(const Token& token, uint32_t warp, uint32_t mask);

  // An mbarrier at some place of the block's shared memory: what the threads of a phase did before
  // they arrived comes before what those do who have seen it end.
  void mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes);
  void mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key);

  // What a thread of the warp knows now: of whom it comes after, in its block. What its warp does
  // from then on is stamped anew.
  struct View {
    uint32_t block_floor = 0, warp_floor = 0;
    uint32_t own = 0;  // the thread's own accesses are stamped below
    Token vector;
  };
  View look(uint32_t thread);

  bool is_whole_warp(uint32_t warp, uint32_t mask) const;
  uint32_t block_start() const { return block_start_; }
  uint32_t block_floor() const { return block_floor_; }
  uint32_t warp_floor(uint32_t warp) const { return warps_[warp].floor; }
  uint32_t stamp(uint32_t warp) const { return warps_[warp].stamp; }

  // Did thread a's accesses stamped `stamp` come before what thread b does now?
  bool ordered(uint32_t a, uint32_t stamp, uint32_t b) const {
    return stamp < block_floor_ || (a / 32 == b / 32 && stamp < warps_[a / 32].floor) ||
           (vectors_in_use_ && vector_[b] != nullptr && stamp < (*vector_[b])[a]);
  }

 private:
  struct WarpClock {
    uint32_t floor = 0;  // last barrier of all its lanes
    uint32_t stamp = 0;  // last barrier of any of its lanes
  };
  // `token`, and what the lanes of the warp know.
  Vector join(const Token& token, uint32_t warp, uint32_t mask) const;

  uint32_t restart_;
  uint32_t clock_ = 0, block_start_ = 0, block_floor_ = 0;
  uint32_t threads_ = 0;
  std::vector<WarpClock> warps_;
  bool vectors_in_use_ = false;
  std::vector<Token> vector_;  // of each thread; null: floors are all
  struct Phases {
    Token present, past;  // who has arrived in this phase, and who had in the one before
  };
  std::map<uint64_t, Phases> mbarriers_;
};

// A thread of the grid: its block's linear index, and its own in the block.
struct GridThread {
  uint64_t block = 0;
  uint32_t thread = 0;
};

// Which accesses of a launch's threads are ordered before which, across blocks: the causality order
// of the PTX memory model, as far as a run shows it. Barriers order the threads of a block
// (HappensBefore). Between blocks, order comes from a strong write that another block's strong
// access sees, with a fence (or release) before the one and a fence (or acquire) after the other.
//
// Two things that hardware gives are taken for granted although the model's letter has them only
// for one and the same thread: what a thread has fenced, and what it has seen by a strong read,
// reaches the rest of its block through a barrier. So the usual "all fence, __syncthreads(), thread
// 0 counts" and the last block that goes on after __syncthreads() without a second fence are right.
class Causality {
 public:
  Causality() = default;
  ~Causality();
  Causality(const Causality&) = delete;
  Causality& operator=(const Causality&) = delete;

  void begin_block(const sim::BlockInfo& block);
  void end_block(uint64_t block);
  void block_barrier(uint64_t block, const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole);
  void warp_barrier(uint64_t block, uint32_t warp, uint32_t mask);
  void mbarrier_arrive(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key, bool completes);
  void mbarrier_wait(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key);
  // As strong accesses of a word that all threads of a cluster share: `key`, no address of device
  // memory.
  void arrive(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key, bool releases);
  void wait(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key);
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
  // What was released at an address, in its order: whoever sees the n-th value knows all up to it.
  struct Log;
  // A prefix of a log, as somebody of the block `by` has acquired it. What is of a block's scope,
  // there or here, it tells only of that block.
  struct Seen {
    std::shared_ptr<const Log> log;
    size_t length = 0;
    uint64_t by = 0;
    bool block_only = false;
  };
  using Knowledge = std::vector<Seen>;
  // What a thread knew of its own block, and of others, when it released.
  struct Release {
    uint64_t id = 0;  // none is another's
    GridThread by;
    HappensBefore::View view;
    std::shared_ptr<const Knowledge> known;  // null: nothing
    bool block_only = false;
    bool covers(uint32_t thread, uint32_t stamp) const;
  };
  // What the releases of a block handed on of one log: at each place, how much of it.
  struct Handed {
    std::shared_ptr<const Log> log;
    std::vector<std::pair<size_t, size_t>> lengths;  // growing, by place
  };
  // Block of who released it, at a block's scope?; what was handed on; block of who had seen that,
  // at a block's scope?
  using HandedKey = std::tuple<uint64_t, bool, const Log*, uint64_t, bool>;
  // Who has appended what: `version` of the thread's and of its block's releases.
  struct Appended {
    uint64_t own = 0, all = 0;
    bool block_only = false;
  };
  struct Log {
    size_t length = 0;
    bool any_block_only = false;
    // By block, then by thread and whether at a block's scope: each release covers those before.
    using OfThread = std::map<std::pair<uint32_t, bool>, std::vector<std::pair<size_t, Release>>>;
    std::unordered_map<uint64_t, OfThread> of_block;
    std::map<HandedKey, Handed> handed;  // what those who released knew of other blocks
    std::map<std::pair<uint64_t, uint32_t>, Appended> appended;  // by block and thread
  };
  // Fenced, by thread, so that a strong write of the thread, or of one that it has met since,
  // releases it.
  struct Published {
    std::map<uint32_t, Release> to_device, to_block;
    bool empty() const { return to_device.empty() && to_block.empty(); }
  };
  struct Thread {
    Knowledge known, pending;  // pending: seen, but for the fence
    Published published;
    uint64_t version = 0;  // grows with `published`
    bool empty() const { return known.empty() && pending.empty() && published.empty(); }
  };
  struct Block {
    HappensBefore order;
    Thread all;  // what every thread of it has
    std::unordered_map<uint32_t, Thread> threads;
  };
  using Visited = std::map<std::tuple<const Log*, bool, uint64_t>, size_t>;

  static void add(Knowledge& to, const Seen& what);
  static void add(Knowledge& to, const Knowledge& what);
  static void join(std::map<uint32_t, Release>& to, const std::map<uint32_t, Release>& from);
  static void join(Thread& to, const Thread& from);
  void join_lanes(Block& block, const uint32_t* lane_mask_of_warp, uint32_t warps);
  std::shared_ptr<Log> new_log();
  Release release_of(Block& block, const Thread& own, GridThread who, bool block_only);
  static void append(Log& log, const Release& release, bool block_only);
  static bool covers(const Knowledge& known, GridThread a, uint32_t stamp, Visited& visited);

  std::unordered_map<uint64_t, Block> blocks_;               // those that run
  std::unordered_map<uint64_t, std::shared_ptr<Log>> logs_;  // by address
  std::vector<std::weak_ptr<Log>> made_;                     // all that may still be there
  size_t prune_at_ = 1024;
  uint64_t releases_ = 0, versions_ = 0;
};

}  // namespace lab32::counters
