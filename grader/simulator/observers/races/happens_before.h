// Which accesses of a block's threads are ordered before which: the happens-before relation that
// barriers build, as stamps. Every barrier advances one clock; an access is stamped with the clock
// of its warp's last barrier; "all of thread a's accesses stamped below s came before mine" is then
// one comparison.
//
// The usual barriers, of the whole block and of a whole warp, are two floors. Barriers among fewer
// threads (named ones, __syncwarp() with a partial mask) need a vector clock for each thread; since
// threads that met hold equal vectors, they share one, made at the barrier.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace lab32::counters {

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

}  // namespace lab32::counters
