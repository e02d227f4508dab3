// One warp: its lanes' registers and where each of them is.
//
// Lanes that took different paths are kept as splits, each a program counter with a mask of lanes.
// A split that reaches the place where the lanes meet that a branch has parted waits in a Join
// until the others come too, or have gone where they cannot come to it. As on Volta and later, a
// lane may wait for another lane of its warp: when a split runs long while others could run, they
// get time slices, and lanes that wait in a Join for a split that spins are let go on without it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "simulator/core/undefined/undefined_bits.h"
#include "simulator/core/warp/block_context.h"
#include "simulator/core/warp/events.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/core/warp/trap.h"

namespace lab32::sim {

// Each lane's local memory starts here, so that offset 0 is a null pointer's.
constexpr uint32_t kLocalStart = 64;
// The ISA's limit of local memory per thread.
constexpr uint32_t kLocalLimit = 512 << 10;
// What a call takes of it besides the callee's own arrays, for return address and saved registers:
// ptxas decides, but it is never nothing, so that a recursion without end always meets the limit.
constexpr uint32_t kCallBytes = 64;

// One activation of a function, shared by all splits that came in through the same call.
struct Frame {
  const CodeFunction* function = nullptr;
  Frame* parent = nullptr;
  std::byte* regs = nullptr;
  std::vector<std::byte> params;             // [lane][param_bytes]
  uint32_t local_base = 0;                   // offset of its .local variables in each lane's stack
  uint32_t local_bytes = 0;                  // of those, and of what alloca has given
  std::unique_ptr<UndefinedBits> undefined;  // null: every register that is read has a value
};

struct Join {
  uint32_t pc = 0;
  int meeting = -1;  // of the frame's function; -1: where nobody can miss it
  Frame* frame = nullptr;
  uint32_t expected = 0, arrived = 0;
  Join* parent = nullptr;
  Frame* callee = nullptr;  // a return point: the frame to free when all are back
};

struct Split {
  enum class State : uint8_t { ready, warp_sync, block_barrier };
  uint32_t id = 0;
  uint32_t pc = 0;
  uint32_t mask = 0;
  Frame* frame = nullptr;
  Join* join = nullptr;
  State state = State::ready;
  uint32_t op_mask = 0;  // lanes that execute the instruction it waits at
  uint32_t wanted = 0;   // warp_sync: member mask
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
  Origins::Id origin = 0;
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

  // Prepares the warp for the block that BlockContext::info() describes.
  void restart();

  enum class Progress : uint8_t { done, blocked, yielded };
  // Runs until all lanes have exited, all wait, or `slice` instructions were issued.
  Progress run(uint64_t slice);
  // The same, with any of the splits that can go on, at its beginning and after each branch.
  Progress run_any_split(uint64_t slice, Random& random);

  bool done() const { return live_ == 0; }
  uint32_t live() const { return live_; }
  uint32_t initial_lanes() const { return initial_lanes_; }
  uint32_t index() const { return index_; }
  uint64_t issued() const { return issued_; }
  // How much of what a clock says has passed while it was waited for.
  uint64_t clock_ahead() const { return clock_ahead_; }
  // What a clock says: the instructions issued, and the time that has passed besides.
  uint64_t read_clock() {
    // Who reads a clock again and again, and looks at nothing else, waits for a time: it passes
    // twice as quickly with each look, as if others had their turn in between.
    constexpr uint64_t kTight = 32, kFirst = 8, kLongest = 1 << 16;
    clock_looks_ = issued_ - looked_at_clock_ <= kTight ? clock_looks_ + 1 : 0;
    looked_at_clock_ = issued_;
    if (clock_looks_ > kFirst)
      clock_ahead_ += std::min(uint64_t{1} << std::min<uint64_t>(clock_looks_, 32), kLongest);
    return issued_ + clock_ahead_;
  }
  BlockContext& block() const { return block_; }
  const std::vector<Split>& splits() const { return splits_; }
  Split& current() { return splits_[current_]; }
  // An atomic with a result or a volatile load was executed: the split may be waiting for another
  // lane.
  void note_synchronisation() {
    synchronised_ = true;
    clock_looks_ = 0;
  }
  void note_clock() { synchronised_ = true; }
  // The same of device memory, at `place`: who looks at a place again may be waiting for another
  // block, who reads an array from end to end is not. Places are remembered by their hash.
  void note_poll(uint64_t place) { polled_ |= is_seen_again(place); }
  // By a load, which does nothing else. What others do in the meantime is what is waited for, so
  // the slice ends soon: polls are neither work nor of a number that means something.
  void note_poll_by_load(uint64_t place) {
    if (!is_seen_again(place)) return;
    polled_ = true;
    poll_ends_ = std::min(poll_ends_, issued_ + kAfterPoll);
  }
  // Of its instructions, those of slices in which it polled.
  uint64_t waited() const { return waited_; }
  void note_waited(uint64_t instructions) { waited_ += instructions; }
  bool take_polled() { return std::exchange(polled_, false); }
  const KernelProgram& program() const;

  // Called by Block when the barrier that the split waits for has completed.
  void release_barrier(uint32_t split_id);
  // A split that waits for lanes of a warp operation; nullptr: none does.
  const Split* stuck_in_warp_sync() const;
  // Executes the first such operation with the lanes that have come.
  void force_warp_sync();
  // Nothing can go on, and a warp barrier waits for lanes that stand in a join: lets them go on to
  // where they exit, or come to such a barrier. False: there are none.
  bool release_for_warp_barrier();
  // The same where a barrier of the block waits.
  bool release_for_block_barrier();

  // --- for instructions ---
  // Address registers of the current memory instruction, filled by exec_memory.
  alignas(64) uint64_t address[kWarpSize];
  alignas(64) uint64_t address2[kWarpSize];
  alignas(64) std::byte values[kWarpSize * 16];

  std::byte* local(int lane) { return local_.data() + static_cast<size_t>(lane) * local_capacity_; }
  uint32_t local_top() const { return current_local_top_; }
  uint32_t local_capacity() const { return local_capacity_; }
  // Of the running function's local memory; `offset` of a bad lane is sent elsewhere in a launch
  // that keeps going.
  void check_local(const Inst& in, uint64_t* offset, uint32_t mask, unsigned bytes, bool store);
  // --- values that nobody has defined (definedness.h); where BlockContext::checks_reads() ---
  // After a read: false: all is defined.
  bool find_undefined(AccessSpace space, const uint64_t* address, uint32_t mask, unsigned bytes,
                      UndefinedRead* read);
  UndefinedBits::OfLanes origins_of(const Inst& in, const UndefinedRead& read, unsigned bytes);
  void define(AccessSpace space, const uint64_t* address, uint32_t mask, unsigned bytes);
  // An atomic on shared memory reads it.
  void update_shared(const Inst& in, const uint64_t* address, uint32_t mask, unsigned bytes);
  // The undefined bits of so many bytes of a lane's local memory; null: it has not so many.
  std::byte* undefined_local(int lane, uint64_t offset, unsigned bytes);
  ValueTracker& track();
  void execute(Frame& frame, uint32_t mask, const Inst& in) {
    if (track_)
      track_->execute(frame, mask, in);
    else
      in.exec(Exec{frame.regs, mask, this}, in);
  }
  // alloca: so many bytes of each lane's stack, until the function returns. Their offset.
  uint32_t extend_frame(const Inst& in, uint32_t mask, uint64_t bytes, uint32_t align);
  std::vector<PendingCopy>& copies() { return copies_; }
  std::array<uint32_t, kWarpSize>& copy_group() { return copy_group_; }
  [[noreturn]] static void trap(const Inst& in, TrapFacts facts) {
    throw Trap{std::move(facts), in.site};
  }
  // What is known of any fault of this warp, and of a lane of it.
  TrapFacts facts(TrapReason reason) const { return block_.facts(reason, index_); }
  TrapFacts facts(TrapReason reason, int lane) const { return block_.facts(reason, index_, lane); }
  ThreadId thread_id(int lane) const { return block_.thread_id(index_, lane); }

  // Lanes that cannot execute this instruction with the rest leave the split, to go on at
  // `their_pc`; it is then executed anew.
  void set_aside(const Inst& in, uint32_t lanes, uint32_t their_pc);
  // The slice ends soon: what is waited for comes from another block.
  void end_slice_soon() { poll_ends_ = std::min(poll_ends_, issued_ + kAfterPoll); }

 private:
  // `call`: null for the kernel itself.
  Frame* make_frame(const CodeFunction& function, Frame* parent, const Inst* call);
  void free_frame(Frame* frame);
  void fill_specials(Frame& frame);
  void fill_block_specials(Frame& frame);
  Join* make_join();
  void free_join(Join* join);
  bool join_lanes();
  void forget_local(uint32_t lanes, uint32_t from, uint32_t bytes);
  void grow_local(uint32_t least, bool in_call);
  void branch(const Inst& in, uint32_t op_mask);
  void indirect_branch(const Inst& in, uint32_t op_mask);
  void call(const Inst& in, uint32_t op_mask);
  void enter(uint32_t function, const Inst& call, uint32_t lanes, Split& split);
  void leave(uint32_t lanes, bool exit_thread);
  void warp_sync(const Inst& in, uint32_t op_mask);
  void retry_warp_syncs();
  void try_warp_sync(size_t split, bool whoever_came);
  void diverge(uint32_t other_pc, uint32_t other_mask, uint32_t my_pc, uint32_t my_mask,
               Join* join);
  Join* make_join(uint32_t pc, int meeting, const Split& split, uint32_t expected, Join* parent);
  Join* join_at(uint32_t pc, int meeting, const Split& split);
  Join* join_of(const Inst& in, const Split& split);
  void leave_joins(size_t which, const Inst& in);
  void push_split(const Join& join);
  void push_arrived(Join* join);
  bool next_split();
  void any_split();
  void release(Join* join);
  bool release_one_join();
  void end_slice();

  BlockContext& block_;
  uint32_t index_;
  uint32_t initial_lanes_;
  uint32_t live_ = 0;
  uint64_t issued_ = 0;
  uint64_t clock_ahead_ = 0, clock_looks_ = 0, looked_at_clock_ = 0;
  std::vector<Split> splits_;
  size_t current_ = 0;
  Random* random_ = nullptr;                      // null: splits in their order
  std::vector<std::unique_ptr<Frame>> frames_;    // all ever made
  std::vector<std::vector<Frame*>> free_frames_;  // by function
  std::vector<std::unique_ptr<std::byte[]>> register_files_;
  std::vector<std::unique_ptr<Join>> joins_;
  std::vector<Join*> free_joins_;
  uint64_t slice_ = 0;         // length of a split's time slice
  uint64_t slice_ends_ = 0;    // instructions issued when the current one ends
  bool synchronised_ = false;  // an atomic or volatile load in this slice
  bool polled_ = false;        // of device memory, since last asked
  bool is_seen_again(uint64_t place) {
    if (looked_at_.empty()) looked_at_.resize(kPlaces);
    uint64_t& before = looked_at_[(place >> 2 ^ place >> 14) % kPlaces];
    return std::exchange(before, place) == place;
  }
  static constexpr uint64_t kAfterPoll = 32;  // instructions: a few more turns of its loop
  uint64_t poll_ends_ = 0;                    // instructions issued when this slice ends by that
  static constexpr size_t kPlaces = 4096;
  std::vector<uint64_t> looked_at_;  // empty: nowhere yet
  uint64_t waited_ = 0;
  size_t spun_slices_ = 0;  // slices that ended so, one after the other
  uint32_t next_id_ = 0;
  uint32_t last_op_mask_ = 0;
  uint32_t local_capacity_ = 0, current_local_top_ = 0;
  std::vector<std::byte> local_;
  UndefinedBytes undefined_local_;       // laid out as local_
  std::unique_ptr<ValueTracker> track_;  // null: no value of a register is undefined
  std::vector<PendingCopy> copies_;
  std::array<uint32_t, kWarpSize> copy_group_{};
};

}  // namespace lab32::sim
