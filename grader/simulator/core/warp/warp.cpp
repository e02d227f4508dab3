#include "simulator/core/warp/warp.h"

#include <algorithm>
#include <cstring>

namespace lab32::sim {
namespace {

// A split's time slice in instructions: when it is used up, another ready split of the warp runs.
// When all ready splits have used up theirs and look as if they waited for a lane (they executed an
// atomic with a result or a volatile load meanwhile), lanes that stand in a join are let go on.
// Once a warp has shown that it spins, slices are short: a lock that 32 lanes take one after the
// other changes hands 31 times.
constexpr uint64_t kSlice = 10'000;
constexpr uint64_t kSpinSlice = 500;

}  // namespace

Warp::Warp(BlockContext& block, uint32_t index, uint32_t live_lanes)
    : block_(block), index_(index), initial_lanes_(live_lanes) {
  free_frames_.resize(program().functions.size());
}

Warp::~Warp() = default;

const KernelProgram& Warp::program() const { return *block_.launch().program; }

void Warp::restart() {
  for (auto& pool : free_frames_) pool.clear();
  for (auto& frame : frames_) free_frame(frame.get());
  free_joins_.clear();
  for (auto& join : joins_) free_joins_.push_back(join.get());
  slice_ = slice_ends_ = kSlice;
  synchronised_ = polled_ = false;
  std::fill(looked_at_.begin(), looked_at_.end(), 0);
  waited_ = 0;
  spun_slices_ = 0;
  next_id_ = 0;
  issued_ = clock_ahead_ = clock_looks_ = looked_at_clock_ = 0;
  live_ = initial_lanes_;
  copies_.clear();
  copy_group_.fill(0);
  track_.reset();
  if (local_capacity_ != 0) forget_local(kFullMask, kLocalStart, local_capacity_ - kLocalStart);
  Split start;
  start.id = next_id_++;
  start.mask = live_;
  start.frame = make_frame(program().functions[0], nullptr, nullptr);
  splits_.assign(1, start);
  current_ = 0;
}

void Warp::branch(const Inst& in, uint32_t op_mask) {
  Split& split = splits_[current_];
  if (op_mask == split.mask) {
    split.pc = in.target;
  } else {
    ++block_.tally()[in.site].splits;
    diverge(in.target, op_mask, split.pc + 1, split.mask & ~op_mask, join_of(in, split));
    leave_joins(splits_.size() - 1, in);
  }
  leave_joins(current_, in);
}

// Lanes with the same target go on as one split.
void Warp::indirect_branch(const Inst& in, uint32_t op_mask) {
  const auto* index =
      reinterpret_cast<const uint32_t*>(splits_[current_].frame->regs + in.src[0].offset);
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
  const uint32_t next = splits_[current_].pc + 1;
  uint32_t rest = op_mask;
  while (rest) {
    const uint32_t target = target_of(__builtin_ctz(rest));
    uint32_t same = 0;
    for (uint32_t r = rest; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      if (target_of(l) == target) same |= 1u << l;
    }
    rest &= ~same;
    const uint32_t others = splits_[current_].mask & ~same;
    if (others == 0) {
      splits_[current_].pc = target;
    } else {
      ++block_.tally()[in.site].splits;
      // The rest is sent on by the next rounds; what is left then, its guard off, goes on here.
      diverge(target, same, next, others, join_of(in, splits_[current_]));
      leave_joins(splits_.size() - 1, in);
    }
  }
  leave_joins(current_, in);
}

void Warp::release_barrier(uint32_t split_id) {
  for (Split& s : splits_) {
    if (s.id != split_id) continue;
    s.state = Split::State::ready;
    ++s.pc;
  }
}

// ---------------------------------------------------------------------------------------------
// The loop

bool Warp::next_split() {
  const size_t n = splits_.size();
  if (n == 0) return false;
  for (size_t step = 1; step <= n; ++step) {
    const size_t i = (current_ + step) % n;
    if (splits_[i].state == Split::State::ready) {
      current_ = i;
      return true;
    }
  }
  return false;
}

// The current split has used up its time slice, and the others run.
void Warp::end_slice() {
  const auto ready =
      static_cast<size_t>(std::count_if(splits_.begin(), splits_.end(), [](const Split& s) {
        return s.state == Split::State::ready;
      }));
  const bool spins =
      synchronised_ && current_ < splits_.size() && splits_[current_].state == Split::State::ready;
  synchronised_ = false;
  spun_slices_ = spins ? spun_slices_ + 1 : 0;
  if (spun_slices_ >= ready && spins) {
    if (release_one_join()) slice_ = kSpinSlice;
    // The next slice that ends tries the next split's joins, should these not have been the ones.
    spun_slices_ = ready - 1;
  }
  const size_t mine = current_;
  if (!next_split()) current_ = mine;
}

void Warp::any_split() {
  if (splits_.size() < 2) return;
  current_ = random_->below(static_cast<uint32_t>(splits_.size()));
  if (splits_[current_].state != Split::State::ready) next_split();
}

Warp::Progress Warp::run_any_split(uint64_t slice, Random& random) {
  random_ = &random;
  any_split();
  return run(slice);
}

Warp::Progress Warp::run(uint64_t slice) {
  if (live_ == 0) return Progress::done;
  const uint64_t limit = block_.warp_budget();
  const uint64_t stop = issued_ + slice;
  poll_ends_ = stop;
  IssueTally* const tally = block_.tally().data();
  BlockContext::RunTally* const runs = block_.runs().data();

  for (;;) {
    // Choose a split that can run.
    if (current_ >= splits_.size() || splits_[current_].state != Split::State::ready) {
      if (live_ == 0) return Progress::done;
      if (current_ >= splits_.size()) current_ = 0;
      if (!next_split()) return Progress::blocked;
      slice_ends_ = issued_ + slice_;
    }
    if (!join_lanes()) continue;

    // The hot part: straight instructions of one split. All it needs is in locals.
    Split* split = &splits_[current_];
    std::byte* const regs = split->frame->regs;
    const Inst* const code = split->frame->function->code.data();
    const Join* join = split->join;
    const uint32_t join_pc =
        join && !join->callee && join->frame == split->frame ? join->pc : Inst::kNoJoin;
    const uint32_t mask = split->mask;
    current_local_top_ = split->frame->local_base + split->frame->local_bytes;
    uint32_t pc = split->pc;
    const uint64_t pause = std::min(std::min(poll_ends_, slice_ends_), limit);
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
          if (track_) track_->skip(*split->frame, mask, *in);
          if (++pc == join_pc || in->avoids) break;
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
    if (op_mask == 0 && in->avoids) leave_joins(current_, *in);

    if (in->flow != Dispatch::straight && op_mask != 0) {
      last_op_mask_ = op_mask;
      if (track_) track_->decide(*split->frame, mask, *in);
      switch (in->flow) {
        case Dispatch::branch:
          branch(*in, op_mask);
          if (random_ != nullptr) any_split();
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
            set_aside(*in, mask & ~op_mask, pc + 1);
          } else {
            in->exec(Exec{regs, op_mask, this}, *in);  // arrives, and waits or goes on
          }
          break;
        case Dispatch::trap:
          in->exec(Exec{regs, op_mask, this}, *in);
          break;
        case Dispatch::straight:
          break;
      }
    }
    if (live_ == 0) return Progress::done;
    if (issued_ >= limit) {
      TrapFacts endless = facts(TrapReason::instruction_limit);
      endless.limit = limit;
      trap(*in, std::move(endless));
    }
    if (issued_ >= poll_ends_) return Progress::yielded;
    if (issued_ >= slice_ends_) {
      end_slice();
      slice_ends_ = issued_ + slice_;
    }
  }
}

}  // namespace lab32::sim
