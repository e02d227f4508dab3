// Warp: the registers of its lanes (frames.h), their program counters (splits.h), and the loop that
// issues their instructions. run() executes a time slice.
//
// As on Volta and later, a lane may wait for another lane of its warp. WarpSplits that can run
// share the warp in time slices, and lanes that wait in a ReconvergenceJoin for a spinning split
// are released without it.
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

// Detects whether a warp seems to wait for another thread, by the addresses that it reads
// repeatedly.
class PollingDetector {
 public:
  // Resets the state for the next block.
  void reset_for_next_block() {
    synchronised_ = polled_ = false;
    std::fill(looked_at_.begin(), looked_at_.end(), 0);
    waited_ = 0;
    clock_ahead_ = clock_looks_ = looked_at_clock_ = 0;
  }
  // Starts a time slice that ends at `end` issued instructions, or soon after a poll.
  void begin_slice(uint64_t end) { slice_ends_ = end; }
  uint64_t slice_end() const { return slice_ends_; }
  // Ends the slice soon, because the awaited value comes from another block.
  void end_slice_soon(uint64_t issued) { slice_ends_ = std::min(slice_ends_, issued + kAfterPoll); }

  // An atomic with a result or a volatile load was executed: the split may be waiting for another
  // lane.
  void note_potentially_polling_read() {
    synchronised_ = true;
    clock_looks_ = 0;
  }
  void note_clock() { synchronised_ = true; }
  bool is_possibly_spinning() const { return synchronised_; }
  void forget_possible_spin() { synchronised_ = false; }

  // Notes a read of device memory at `place`. A warp that reads a place again may be waiting for
  // another block; a warp that reads an array from end to end is not. Places are stored by their
  // hash.
  void note(uint64_t place) { polled_ |= is_seen_again(place); }
  // Notes a plain load. A warp that repeats it waits for other warps, so its slice ends soon: polls
  // are no work, and their number has no meaning.
  void note_load(uint64_t place, uint64_t issued) {
    if (!is_seen_again(place)) return;
    polled_ = true;
    end_slice_soon(issued);
  }
  bool test_and_clear_polled() { return std::exchange(polled_, false); }
  // The number of instructions in slices in which the warp polled.
  uint64_t waited() const { return waited_; }
  void note_waited(uint64_t instructions) { waited_ += instructions; }

  // Reads a clock, whose value is the number of issued instructions plus the time that the warp has
  // waited.
  uint64_t read_clock(uint64_t issued) {
    // A warp that reads only a clock waits for a certain time. Each of its reads advances the clock
    // twice as far as the read before, as if other warps ran in between.
    constexpr uint64_t kTight = 32, kFirst = 8, kLongest = 1 << 16;
    clock_looks_ = issued - looked_at_clock_ <= kTight ? clock_looks_ + 1 : 0;
    looked_at_clock_ = issued;
    if (clock_looks_ > kFirst)
      clock_ahead_ += std::min(uint64_t{1} << std::min<uint64_t>(clock_looks_, 32), kLongest);
    return issued + clock_ahead_;
  }
  // The part of the clock's value that is not instructions but waiting time.
  uint64_t clock_ahead() const { return clock_ahead_; }

 private:
  bool is_seen_again(uint64_t place) {
    if (looked_at_.empty()) looked_at_.resize(kPlaces);
    uint64_t& before = looked_at_[(place >> 2 ^ place >> 14) % kPlaces];
    return std::exchange(before, place) == place;
  }
  // The instructions that a warp may still issue after a poll: a few more iterations of its loop.
  static constexpr uint64_t kAfterPoll = 32;
  static constexpr size_t kPlaces = 4096;

  bool synchronised_ = false;  // this slice of the split has executed an atomic or a volatile load
  bool polled_ =
      false;  // whether the warp has polled device memory since the last test_and_clear_polled()
  uint64_t slice_ends_ = 0;
  uint64_t waited_ = 0;
  uint64_t clock_ahead_ = 0, clock_looks_ = 0, looked_at_clock_ = 0;
  std::vector<uint64_t> looked_at_;  // empty: no read yet
};

// A copy that cp.async has issued and for which no thread has waited yet.
struct PendingAsyncCopy {
  uint32_t site;
  uint32_t mask;
  uint8_t bytes;
  std::array<uint32_t, kWarpSize> group;
  std::array<uint64_t, kWarpSize> to;
  std::array<std::array<std::byte, 16>, kWarpSize> data;
  // The lanes whose source in device memory was never written, and the origin of their undefined
  // values.
  uint32_t undefined = 0;
  UndefinedOrigins::Id origin = 0;
};

// The lanes of an access that read undefined bytes. The undefined bits of lane l are at bits +
// address[l] + l * stride.
struct UndefinedBitsOfWarpRead {
  AccessSpace space = AccessSpace::global;
  uint32_t lanes = 0;
  const uint64_t* of = nullptr;  // the addresses in `space` that the lanes read
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
  void reset_for_next_block();

  enum class RunOutcome : uint8_t { done, blocked, yielded };
  // Runs until all lanes have exited (done), all wait (blocked), or `slice` instructions were
  // issued (yielded).
  RunOutcome run(uint64_t slice);
  // As run(), but chooses a random ready split at the beginning and after each branch.
  RunOutcome run_random_split(uint64_t slice, Random& random);

  bool done() const { return splits_.live() == 0; }
  uint32_t live() const { return splits_.live(); }
  uint32_t initial_lanes() const { return initial_lanes_; }
  uint32_t index() const { return index_; }
  uint64_t issued() const { return issued_; }
  BlockContext& block() const { return block_; }
  const KernelProgram& program() const;
  WarpSplits& splits() { return splits_; }
  const WarpSplits& splits() const { return splits_; }
  WarpSplit& current() { return splits_.current(); }
  PollingDetector& polling() { return polling_; }
  const PollingDetector& polling() const { return polling_; }
  LocalMemory& local() { return local_; }

  // A split that waits for lanes at a warp operation; nullptr: there is none.
  const WarpSplit* split_waiting_in_warp_collective() const;
  // Executes the first warp operation that waits, only with the lanes that have arrived.
  void force_one_warp_collective();
  // Lanes that cannot execute this instruction with the rest leave the split and continue at
  // `their_pc`. The instruction is then executed again.
  void split_off_lanes(const Inst& in, uint32_t lanes, uint32_t their_pc);

  [[noreturn]] static void trap(const Inst& in, TrapFacts facts) {
    throw Trap{std::move(facts), in.site};
  }
  // The facts that all faults of this warp, or of one of its lanes, have in common.
  TrapFacts facts(TrapReason reason) const { return block_.faults().facts(reason, index_); }
  TrapFacts facts(TrapReason reason, int lane) const {
    return block_.faults().facts(reason, index_, lane);
  }
  BlockAndThreadIndex thread_id(int lane) const { return block_.faults().thread_id(index_, lane); }

  // --- for instructions ---
  // The addresses of the current memory instruction.
  alignas(64) uint64_t address[kWarpSize];
  alignas(64) uint64_t address2[kWarpSize];
  alignas(64) std::byte values[kWarpSize * 16];

  std::vector<PendingAsyncCopy>& copies() { return copies_; }
  std::array<uint32_t, kWarpSize>& copy_group() { return copy_group_; }

  // --- undefined values (definedness.h), if BlockContext::checks_reads() ---
  // Called after a read. False: all bytes are defined.
  bool find_undefined_bytes(AccessSpace space, const uint64_t* address, uint32_t mask,
                            unsigned bytes, UndefinedBitsOfWarpRead* read);
  bool is_other_4_bytes_of_8_written(AccessSpace space, uint64_t at, unsigned bytes);
  FrameUndefinedBits::OfLanes origins_of_undefined_read(const Inst& in,
                                                        const UndefinedBitsOfWarpRead& read,
                                                        unsigned bytes);
  // A shuffle read from lanes, `absent`, that do not execute it. Marks the results of the lanes
  // `readers` as undefined.
  void mark_absent_reads_undefined(const ExecContext& x, const Inst& in, uint32_t readers,
                                   uint32_t absent);
  void mark_defined(AccessSpace space, const uint64_t* address, uint32_t mask, unsigned bytes);
  // An exchange writes a defined value and gives the old, perhaps undefined, value to its result.
  // Moves the undefined bits accordingly.
  void track_undefined_bits_in_atom_exch(const ExecContext& x, const Inst& in, AccessSpace space,
                                         const uint64_t* address, unsigned bytes);
  // Checks the value that any other atomic on shared memory reads, and reports it if it is
  // undefined.
  void check_shared_atomic_reads_defined(const Inst& in, const uint64_t* address, uint32_t mask,
                                         unsigned bytes);
  UndefinedValueTracker& value_tracker();
  void execute(CallFrame& frame, uint32_t mask, const Inst& in) {
    if (track_)
      track_->execute_and_propagate(frame, mask, in);
    else
      in.exec(ExecContext{frame.regs, mask, this}, in);
  }

 private:
  void branch(const Inst& in, uint32_t op_mask);
  void indirect_branch(const Inst& in, uint32_t op_mask);
  void call(const Inst& in, uint32_t op_mask);
  void enter_function(uint32_t function, const Inst& call, uint32_t lanes);
  void return_or_exit(uint32_t lanes, bool exit_thread);
  void start_warp_collective(const Inst& in, uint32_t op_mask);
  void report_lane_not_in_mask(const Inst& in, uint32_t lanes, uint32_t member_mask);
  void retry_warp_collectives();
  void try_warp_collective(size_t split, bool force);
  void end_slice();

  BlockContext& block_;
  const uint32_t index_;
  const uint32_t initial_lanes_;
  uint64_t issued_ = 0;
  LocalMemory local_;
  CallFramePool frames_;
  WarpSplits splits_;
  PollingDetector polling_;
  Random* random_ = nullptr;  // null: splits run in their normal order
  // Time slices of splits.
  uint64_t slice_ = 0;       // length
  uint64_t slice_ends_ = 0;  // instructions issued when the current one ends
  size_t spun_slices_ = 0;   // number of consecutive slices that ended spinning
  uint32_t last_op_mask_ = 0;
  std::unique_ptr<UndefinedValueTracker> track_;  // null: all registers are defined
  std::vector<PendingAsyncCopy> copies_;
  std::array<uint32_t, kWarpSize> copy_group_{};
};

}  // namespace lab32::sim
