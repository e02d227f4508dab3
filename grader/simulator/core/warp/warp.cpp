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

void Warp::restart() {
  frames_.restart();
  slice_ = slice_ends_ = kSlice;
  polling_.restart();
  spun_slices_ = 0;
  issued_ = 0;
  copies_.clear();
  copy_group_.fill(0);
  track_.reset();
  local_.restart();
  const std::optional<PartOfBlock>& part = block_.launch().part;
  const uint32_t absent = part ? part->absent_of(block_.info().index, index_) : 0;
  splits_.restart(initial_lanes_ & ~absent, frames_.make(program().functions[0], nullptr, nullptr));
}

void Warp::branch(const Inst& in, uint32_t op_mask) {
  if (splits_.branch(in, op_mask)) ++block_.tally()[in.site].splits;
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
  const size_t ready = splits_.count_ready();
  const bool spins = polling_.synchronised() && splits_.is_current_ready();
  polling_.forget_synchronisation();
  spun_slices_ = spins ? spun_slices_ + 1 : 0;
  if (spun_slices_ >= ready && spins) {
    if (splits_.release_one_join()) slice_ = kSpinSlice;
    // If the released lanes were not those that the split waits for, the end of the next slice
    // releases lanes from the joins of the next split.
    spun_slices_ = ready - 1;
  }
  splits_.choose_next();
}

Warp::Progress Warp::run_any_split(uint64_t slice, Random& random) {
  random_ = &random;
  splits_.choose_random(random);
  return run(slice);
}

Warp::Progress Warp::run(uint64_t slice) {
  if (splits_.live() == 0) return Progress::done;
  const uint64_t limit = block_.warp_budget();
  const uint64_t stop = issued_ + slice;
  polling_.begin_slice(stop);
  IssueTally* const tally = block_.tally().data();
  BlockContext::RunTally* const runs = block_.runs().data();

  for (;;) {
    // Choose a ready split.
    if (!splits_.is_current_ready()) {
      if (splits_.live() == 0) return Progress::done;
      if (!splits_.choose_next()) {
        if (splits_.release_lanes_to_exit()) continue;
        return Progress::blocked;
      }
      slice_ends_ = issued_ + slice_;
    }
    if (!splits_.join_arrived_lanes()) continue;

    // This is the hot loop: it executes straight instructions of one split and keeps its state in
    // local variables.
    Split* split = &splits_.current();
    std::byte* const regs = split->frame->regs;
    const Inst* const code = split->frame->function->code.data();
    const Join* join = split->join;
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
        const Exec x{regs, mask, this};
        for (; in != end && !track_; ++in) in->exec(x, *in);
        for (; in != end; ++in) track_->execute(*split->frame, mask, *in);
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
      IssueTally& t = tally[in->site];
      ++t.warps;
      t.lanes += static_cast<unsigned>(__builtin_popcount(op_mask));
      ++issued_;
      if (in->flow != Dispatch::straight) break;
      if (track_)
        track_->execute(*split->frame, op_mask, *in);
      else
        in->exec(Exec{regs, op_mask, this}, *in);
      if (++pc == join_pc || issued_ >= pause) break;
    }
    split->pc = pc;
    if (op_mask == 0 && in->may_skip_reconvergence) splits_.current_leaves_joins(*in);

    if (in->flow != Dispatch::straight && op_mask != 0) {
      last_op_mask_ = op_mask;
      if (track_) track_->track_branch_decision(*split->frame, mask, *in);
      switch (in->flow) {
        case Dispatch::branch:
          branch(*in, op_mask);
          if (random_ != nullptr) splits_.choose_random(*random_);
          break;
        case Dispatch::table_branch:
          indirect_branch(*in, op_mask);
          break;
        case Dispatch::call:
          call(*in, op_mask);
          break;
        case Dispatch::ret:
          leave(op_mask, false);
          break;
        case Dispatch::exit:
          leave(op_mask, true);
          break;
        case Dispatch::warp_sync:
          warp_sync(*in, op_mask);
          break;
        case Dispatch::block_sync:
          if (op_mask != mask) {
            split_off_lanes(*in, mask & ~op_mask, pc + 1);
          } else {
            in->exec(Exec{regs, op_mask, this}, *in);  // arrives, and waits or continues
          }
          break;
        case Dispatch::fence:
          in->exec(Exec{regs, op_mask, this}, *in);
          split->pc = pc + 1;
          // With a random schedule the slice ends at a fence: an error in the accesses before and
          // after the fence shows only if other warps run in between.
          if (random_ != nullptr) polling_.begin_slice(issued_);
          break;
        case Dispatch::trap:
          in->exec(Exec{regs, op_mask, this}, *in);
          break;
        case Dispatch::straight:
          break;
      }
    }
    if (splits_.live() == 0) return Progress::done;
    if (issued_ >= limit) {
      TrapFacts endless = facts(TrapReason::instruction_limit);
      endless.limit = limit;
      trap(*in, std::move(endless));
    }
    if (issued_ >= polling_.slice_end()) return Progress::yielded;
    if (issued_ >= slice_ends_) {
      end_slice();
      slice_ends_ = issued_ + slice_;
    }
  }
}

void note_out_of_range_amount(const Exec& x, const Inst& in, bool shuffle, uint32_t amount,
                              uint32_t limit) {
  if (x.warp != nullptr) x.warp->block().note_out_of_range_amount(in.site, shuffle, amount, limit);
}

}  // namespace lab32::sim
