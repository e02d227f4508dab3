// One warp: its lanes' registers (frames.h), where each of them is (splits.h), and the loop that
// issues their instructions.
//
// As on Volta and later, a lane may wait for another lane of its warp: when a split runs long while
// others could run, they get time slices, and lanes that wait in a Join for a split that spins are
// let go on without it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "simulator/core/undefined/undefined_bits.h"
#include "simulator/core/warp/block_context.h"
#include "simulator/core/warp/events.h"
#include "simulator/core/warp/frames.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/core/warp/splits.h"
#include "simulator/core/warp/trap.h"

namespace lab32::sim {

// Whether a warp seems to wait for another thread: what it looks at again and again.
class Polling {
 public:
  // The next block begins.
  void restart() {
    synchronised_ = polled_ = false;
    std::fill(looked_at_.begin(), looked_at_.end(), 0);
    waited_ = 0;
    clock_ahead_ = clock_looks_ = looked_at_clock_ = 0;
  }
  // The warp's slice ends there, counted in instructions issued, or soon after a poll.
  void begin_slice(uint64_t end) { slice_ends_ = end; }
  uint64_t slice_end() const { return slice_ends_; }
  // What is waited for comes from another block.
  void end_slice_soon(uint64_t issued) { slice_ends_ = std::min(slice_ends_, issued + kAfterPoll); }

  // An atomic with a result or a volatile load was executed: the split may be waiting for another
  // lane.
  void note_synchronisation() {
    synchronised_ = true;
    clock_looks_ = 0;
  }
  void note_clock() { synchronised_ = true; }
  bool synchronised() const { return synchronised_; }
  void forget_synchronisation() { synchronised_ = false; }

  // The same of device memory, at `place`: who looks at a place again may be waiting for another
  // block, who reads an array from end to end is not. Places are remembered by their hash.
  void note(uint64_t place) { polled_ |= is_seen_again(place); }
  // By a load, which does nothing else. What others do in the meantime is what is waited for, so
  // the slice ends soon: polls are neither work nor of a number that means something.
  void note_load(uint64_t place, uint64_t issued) {
    if (!is_seen_again(place)) return;
    polled_ = true;
    end_slice_soon(issued);
  }
  bool take_polled() { return std::exchange(polled_, false); }
  // Of the warp's instructions, those of slices in which it polled.
  uint64_t waited() const { return waited_; }
  void note_waited(uint64_t instructions) { waited_ += instructions; }

  // What a clock says: the instructions issued, and the time that has passed besides.
  uint64_t read_clock(uint64_t issued) {
    // Who reads a clock again and again, and looks at nothing else, waits for a time: it passes
    // twice as quickly with each look, as if others had their turn in between.
    constexpr uint64_t kTight = 32, kFirst = 8, kLongest = 1 << 16;
    clock_looks_ = issued - looked_at_clock_ <= kTight ? clock_looks_ + 1 : 0;
    looked_at_clock_ = issued;
    if (clock_looks_ > kFirst)
      clock_ahead_ += std::min(uint64_t{1} << std::min<uint64_t>(clock_looks_, 32), kLongest);
    return issued + clock_ahead_;
  }
  // How much of what a clock says has passed while it was waited for.
  uint64_t clock_ahead() const { return clock_ahead_; }

 private:
  bool is_seen_again(uint64_t place) {
    if (looked_at_.empty()) looked_at_.resize(kPlaces);
    uint64_t& before = looked_at_[(place >> 2 ^ place >> 14) % kPlaces];
    return std::exchange(before, place) == place;
  }
  static constexpr uint64_t kAfterPoll = 32;  // instructions: a few more turns of its loop
  static constexpr size_t kPlaces = 4096;

  bool synchronised_ = false;  // an atomic or volatile load in this slice of the split
  bool polled_ = false;        // of device memory, since last asked
  uint64_t slice_ends_ = 0;
  uint64_t waited_ = 0;
  uint64_t clock_ahead_ = 0, clock_looks_ = 0, looked_at_clock_ = 0;
  std::vector<uint64_t> looked_at_;  // empty: nowhere yet
};

// A copy issued by cp.async and not yet waited for.
struct PendingCopy {
  uint32_t site;
  uint32_t mask;
  uint8_t bytes;
  std::array<uint32_t, kWarpSize> group;
  std::array<uint64_t, kWarpSize> to;
  std::array<std::array<std::byte, 16>, kWarpSize> data;
  // Lanes whose source nobody has written, and where that was read.
  uint32_t undefined = 0;
  UndefinedOrigins::Id origin = 0;
};

// Lanes that read what nobody has defined: the undefined bits of lane l lie at
// bits + address[l] + l * stride.
struct UndefinedRead {
  AccessSpace space = AccessSpace::global;
  uint32_t lanes = 0;
  const uint64_t* of = nullptr;  // the addresses that the lanes read
  std::byte* bits = nullptr;
  size_t stride = 0;
  const uint64_t* address = nullptr;
};

class Warp {
 public:
  Warp(BlockContext& block, uint32_t index, uint32_t live_lanes);
  ~Warp();
  Warp(const Warp&) = delete;
  Warp& operator=(const Warp&) = delete;

  // Prepares the warp for the block that BlockContext::info() describes.
  void restart();

  enum class Progress : uint8_t { done, blocked, yielded };
  // Runs until all lanes have exited, all wait, or `slice` instructions were issued.
  Progress run(uint64_t slice);
  // The same, with any of the splits that can go on, at its beginning and after each branch.
  Progress run_any_split(uint64_t slice, Random& random);

  bool done() const { return splits_.live() == 0; }
  uint32_t live() const { return splits_.live(); }
  uint32_t initial_lanes() const { return initial_lanes_; }
  uint32_t index() const { return index_; }
  uint64_t issued() const { return issued_; }
  BlockContext& block() const { return block_; }
  const KernelProgram& program() const;
  Splits& splits() { return splits_; }
  const Splits& splits() const { return splits_; }
  Split& current() { return splits_.current(); }
  Polling& polling() { return polling_; }
  const Polling& polling() const { return polling_; }
  LocalMemory& local() { return local_; }

  // A split that waits for lanes of a warp operation; nullptr: none does.
  const Split* stuck_in_warp_sync() const;
  // Executes the first such operation with the lanes that have come.
  void force_warp_sync();
  // Lanes that cannot execute this instruction with the rest leave the split, to go on at
  // `their_pc`; it is then executed anew.
  void set_aside(const Inst& in, uint32_t lanes, uint32_t their_pc);

  [[noreturn]] static void trap(const Inst& in, TrapFacts facts) {
    throw Trap{std::move(facts), in.site};
  }
  // What is known of any fault of this warp, and of a lane of it.
  TrapFacts facts(TrapReason reason) const { return block_.faults().facts(reason, index_); }
  TrapFacts facts(TrapReason reason, int lane) const {
    return block_.faults().facts(reason, index_, lane);
  }
  ThreadId thread_id(int lane) const { return block_.faults().thread_id(index_, lane); }

  // --- for instructions ---
  // Address registers of the current memory instruction, filled by exec_memory.
  alignas(64) uint64_t address[kWarpSize];
  alignas(64) uint64_t address2[kWarpSize];
  alignas(64) std::byte values[kWarpSize * 16];

  std::vector<PendingCopy>& copies() { return copies_; }
  std::array<uint32_t, kWarpSize>& copy_group() { return copy_group_; }

  // --- values that nobody has defined (definedness.h); where BlockContext::checks_reads() ---
  // After a read: false: all is defined.
  bool find_undefined(AccessSpace space, const uint64_t* address, uint32_t mask, unsigned bytes,
                      UndefinedRead* read);
  UndefinedBits::OfLanes origins_of(const Inst& in, const UndefinedRead& read, unsigned bytes);
  void define(AccessSpace space, const uint64_t* address, uint32_t mask, unsigned bytes);
  // An atomic on shared memory reads it.
  void update_shared(const Inst& in, const uint64_t* address, uint32_t mask, unsigned bytes);
  ValueTracker& track();
  void execute(Frame& frame, uint32_t mask, const Inst& in) {
    if (track_)
      track_->execute(frame, mask, in);
    else
      in.exec(Exec{frame.regs, mask, this}, in);
  }

 private:
  void branch(const Inst& in, uint32_t op_mask);
  void indirect_branch(const Inst& in, uint32_t op_mask);
  void call(const Inst& in, uint32_t op_mask);
  void enter(uint32_t function, const Inst& call, uint32_t lanes);
  void leave(uint32_t lanes, bool exit_thread);
  void warp_sync(const Inst& in, uint32_t op_mask);
  void own_lane_not_named(const Inst& in, uint32_t lanes, uint32_t member_mask);
  void retry_warp_syncs();
  void try_warp_sync(size_t split, bool force);
  void end_slice();

  BlockContext& block_;
  const uint32_t index_;
  const uint32_t initial_lanes_;
  uint64_t issued_ = 0;
  LocalMemory local_;
  Frames frames_;
  Splits splits_;
  Polling polling_;
  Random* random_ = nullptr;  // null: splits in their order
  // Time slices of splits.
  uint64_t slice_ = 0;       // length
  uint64_t slice_ends_ = 0;  // instructions issued when the current one ends
  size_t spun_slices_ = 0;   // slices that ended spinning, one after the other
  uint32_t last_op_mask_ = 0;
  std::unique_ptr<ValueTracker> track_;  // null: no value of a register is undefined
  std::vector<PendingCopy> copies_;
  std::array<uint32_t, kWarpSize> copy_group_{};
};

}  // namespace lab32::sim
