#include "simulator/core/warp/warp.h"

#include <algorithm>
#include <cstring>

namespace lab32::sim {
namespace {

// The time slice of a split, in instructions. After it another ready split of the warp runs. If all
// ready splits have used their slices and seem to wait for a lane (they executed an atomic with a
// result or a volatile load), lanes that wait in a join are released. The slices of a warp that has
// spun are short, because a lock that 32 lanes take in turn changes hands 31 times.
constexpr uint64_t kSlice = 10'000;
constexpr uint64_t kSpinSlice = 500;

}  // namespace

Warp::Warp(BlockContext& block, uint32_t index, uint32_t live_lanes)
    : block_(block),
      index_(index),
      initial_lanes_(live_lanes),
      local_(block, index),
      frames_(block, index, local_),
      splits_(frames_) {}

Warp::~Warp() = default;

const KernelProgram& Warp::program() const { return *block_.launch().program; }

void Warp::reset_for_next_block() {
  frames_.reset_for_next_block();
  slice_ = slice_ends_ = kSlice;
  polling_.reset_for_next_block();
  spun_slices_ = 0;
  issued_ = 0;
  copies_.clear();
  copy_group_.fill(0);
  track_.reset();
  local_.reset_for_next_block();
  const std::optional<PartialBlockLaunch>& part = block_.launch().part;
  const uint32_t absent = part ? part->absent_lanes_of_warp(block_.info().index, index_) : 0;
  splits_.reset_for_next_block(initial_lanes_ & ~absent,
                               frames_.make_frame(program().functions[0], nullptr, nullptr));
}

void Warp::branch(const Inst& in, uint32_t op_mask) {
  if (splits_.send_lanes_to_branch_target(in, op_mask)) ++block_.tally()[in.site].splits;
}

// Lanes with equal targets form one split.
void Warp::indirect_branch(const Inst& in, uint32_t op_mask) {
  const auto* index =
      reinterpret_cast<const uint32_t*>(splits_.current().frame->regs + in.src[0].offset);
  const std::vector<uint32_t>& table = program().branch_tables[in.target];
  const auto target_of = [&](int lane) {
    if (index[lane] >= table.size()) {
      TrapFacts wrong = facts(TrapReason::jump_table, lane);
      wrong.value = index[lane];
      wrong.limit = table.size();
      trap(in, std::move(wrong));
    }
    return table[index[lane]];
  };
  const uint32_t next = splits_.current().pc + 1;
  uint32_t rest = op_mask;
  while (rest) {
    const uint32_t target = target_of(__builtin_ctz(rest));
    uint32_t same = 0;
    for (uint32_t r = rest; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      if (target_of(l) == target) same |= 1u << l;
    }
    rest &= ~same;
    const uint32_t others = splits_.current().mask & ~same;
    if (others == 0) {
      splits_.current().pc = target;
    } else {
      ++block_.tally()[in.site].splits;
      // The next iterations handle the lanes with other targets. The lanes that remain at the end,
      // whose guard is false, continue at the next instruction.
      splits_.diverge(target, same, next, others, splits_.join_of_branch(in, splits_.current()));
      splits_.last_leaves_joins(in);
    }
  }
  splits_.current_leaves_joins(in);
}

// ---------------------------------------------------------------------------------------------
// The loop

// Ends the time slice of the current split and switches to the others.
void Warp::end_slice() {
  const size_t ready = splits_.count_ready_splits();
  const bool spins = polling_.is_possibly_spinning() && splits_.is_current_split_ready();
  polling_.forget_possible_spin();
  spun_slices_ = spins ? spun_slices_ + 1 : 0;
  if (spun_slices_ >= ready && spins) {
    if (splits_.release_innermost_join()) slice_ = kSpinSlice;
    // If the released lanes were not those that the split waits for, the end of the next slice
    // releases lanes from the joins of the next split.
    spun_slices_ = ready - 1;
  }
  splits_.choose_next_ready_split();
}

Warp::RunOutcome Warp::run_random_split(uint64_t slice, Random& random) {
  random_ = &random;
  splits_.choose_random_ready_split(random);
  return run(slice);
}

Warp::RunOutcome Warp::run(uint64_t slice) {
  if (splits_.live() == 0) return RunOutcome::done;
  const uint64_t limit = block_.warp_budget();
  const uint64_t stop = issued_ + slice;
  polling_.begin_slice(stop);
  StaticInstructionIssueCounts* const tally = block_.tally().data();
  BlockContext::StraightLineIssueCounts* const runs = block_.runs().data();

  for (;;) {
    // Choose a ready split.
    if (!splits_.is_current_split_ready()) {
      if (splits_.live() == 0) return RunOutcome::done;
      if (!splits_.choose_next_ready_split()) {
        if (splits_.release_join_lanes_to_exit()) continue;
        return RunOutcome::blocked;
      }
      slice_ends_ = issued_ + slice_;
    }
    if (!splits_.try_pass_join()) continue;

    // This is the hot loop: it executes straight instructions of one split and keeps its state in
    // local variables.
    WarpSplit* split = &splits_.current();
    std::byte* const regs = split->frame->regs;
    const Inst* const code = split->frame->function->code.data();
    const ReconvergenceJoin* join = split->join;
    const uint32_t join_pc =
        join && !join->callee && join->frame == split->frame ? join->pc : Inst::kNoJoin;
    const uint32_t mask = split->mask;
    local_.set_top(split->frame->local_base + split->frame->local_bytes);
    uint32_t pc = split->pc;
    const uint64_t pause = std::min(std::min(polling_.slice_end(), slice_ends_), limit);
    uint32_t op_mask;
    const Inst* in;
    for (;;) {
      in = code + pc;
      op_mask = mask;
      if (const uint32_t run = in->run; run != 0) {
        const auto lanes = static_cast<unsigned>(__builtin_popcount(mask));
        const uint64_t left = pause > issued_ ? pause - issued_ : 1;
        const Inst* end = in + run;
        if (run <= left) {
          ++runs[in->site].warps;
          runs[in->site].lanes += lanes;
        } else {
          end = in + left;
          for (uint64_t i = 0; i < left; ++i) {
            ++tally[in->site + i].warps;
            tally[in->site + i].lanes += lanes;
          }
        }
        issued_ += static_cast<uint64_t>(end - in);
        pc += static_cast<uint32_t>(end - in);
        const ExecContext x{regs, mask, this};
        for (; in != end && !track_; ++in) in->exec(x, *in);
        for (; in != end; ++in) track_->execute_and_propagate(*split->frame, mask, *in);
        --in;
        if (pc == join_pc || issued_ >= pause) break;
        continue;
      }
      if (in->has_guard) {
        uint32_t guard;
        std::memcpy(&guard, regs + in->guard, sizeof guard);
        op_mask &= in->guard_negated ? ~guard : guard;
        if (op_mask == 0) {
          if (track_) track_->execute_guarded_off(*split->frame, mask, *in);
          if (++pc == join_pc || in->may_skip_reconvergence) break;
          continue;
        }
      }
      StaticInstructionIssueCounts& t = tally[in->site];
      ++t.warps;
      t.lanes += static_cast<unsigned>(__builtin_popcount(op_mask));
      ++issued_;
      if (in->flow != DispatchKind::straight) break;
      if (track_)
        track_->execute_and_propagate(*split->frame, op_mask, *in);
      else
        in->exec(ExecContext{regs, op_mask, this}, *in);
      if (++pc == join_pc || issued_ >= pause) break;
    }
    split->pc = pc;
    if (op_mask == 0 && in->may_skip_reconvergence) splits_.current_leaves_joins(*in);

    if (in->flow != DispatchKind::straight && op_mask != 0) {
      last_op_mask_ = op_mask;
      if (track_) track_->check_control_flow_operands(*split->frame, mask, *in);
      switch (in->flow) {
        case DispatchKind::branch:
          branch(*in, op_mask);
          if (random_ != nullptr) splits_.choose_random_ready_split(*random_);
          break;
        case DispatchKind::table_branch:
          indirect_branch(*in, op_mask);
          break;
        case DispatchKind::call:
          call(*in, op_mask);
          break;
        case DispatchKind::ret:
          return_or_exit(op_mask, false);
          break;
        case DispatchKind::exit:
          return_or_exit(op_mask, true);
          break;
        case DispatchKind::warp_collective:
          start_warp_collective(*in, op_mask);
          break;
        case DispatchKind::block_sync:
          if (op_mask != mask) {
            split_off_lanes(*in, mask & ~op_mask, pc + 1);
          } else {
            in->exec(ExecContext{regs, op_mask, this}, *in);  // arrives, and waits or continues
          }
          break;
        case DispatchKind::fence:
          in->exec(ExecContext{regs, op_mask, this}, *in);
          split->pc = pc + 1;
          // With a random schedule the slice ends at a fence: an error in the accesses before and
          // after the fence shows only if other warps run in between.
          if (random_ != nullptr) polling_.begin_slice(issued_);
          break;
        case DispatchKind::trap:
          in->exec(ExecContext{regs, op_mask, this}, *in);
          break;
        case DispatchKind::straight:
          break;
      }
    }
    if (splits_.live() == 0) return RunOutcome::done;
    if (issued_ >= limit) {
      TrapFacts endless = facts(TrapReason::instruction_limit);
      endless.limit = limit;
      trap(*in, std::move(endless));
    }
    if (issued_ >= polling_.slice_end()) return RunOutcome::yielded;
    if (issued_ >= slice_ends_) {
      end_slice();
      slice_ends_ = issued_ + slice_;
    }
  }
}

void note_out_of_range_shift(const ExecContext& x, const Inst& in, bool shuffle, uint32_t amount,
                             uint32_t limit) {
  if (x.warp != nullptr) x.warp->block().note_out_of_range_shift(in.site, shuffle, amount, limit);
}

}  // namespace lab32::sim
