// Operations of several lanes together: which lanes they wait for, and when they go.
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

// The lanes meet there and exchange nothing.
static bool is_barrier(const Inst& in) {
  return in.ptx->op->traits.sync == ptx::Sync::warp_barrier;
}

// Which lanes the instruction wants: the member mask operand, for lane `l`.
static uint32_t member_mask(const Inst& in, const std::byte* regs, int l, uint32_t live) {
  if (in.ptx->op->traits.of_whole_warp()) return live;
  const Slot& slot = in.src[in.src_count - 1];
  return reinterpret_cast<const uint32_t*>(regs + slot.offset)[l];
}

// Those of the lanes that want the same ones.
static uint32_t of_one_mind(const Inst& in, const std::byte* regs, uint32_t lanes,
                            uint32_t wanted) {
  if (in.ptx->op->traits.of_whole_warp()) return lanes;
  const Slot& slot = in.src[in.src_count - 1];
  const auto* masks = reinterpret_cast<const uint32_t*>(regs + slot.offset);
  uint32_t same = 0;
  for (uint32_t l = 0; l < kWarpSize; ++l) same |= uint32_t{masks[l] == wanted} << l;
  return same & lanes;
}

void Warp::warp_sync(const Inst& in, uint32_t op_mask) {
  Split& split = splits_[current_];
  if (op_mask != split.mask) return set_aside(in, split.mask & ~op_mask, split.pc + 1);
  const std::byte* regs = split.frame->regs;
  uint32_t wanted = member_mask(in, regs, __builtin_ctz(op_mask), live_);
  const uint32_t same = of_one_mind(in, regs, op_mask, wanted);
  if (same != op_mask) return set_aside(in, op_mask & ~same, split.pc);
  if ((same & ~wanted) != 0) {
    block_.own_lane_not_named(index_, in, same & ~wanted, wanted);
    wanted |= same;
  }
  if ((wanted & live_ & ~same) == 0) {
    if (is_barrier(in)) {
      block_.report_warp_barrier(index_, same);
    } else {
      execute(*split.frame, same, in);
    }
    ++split.pc;
    return;
  }
  split.state = Split::State::warp_sync;
  split.op_mask = same;
  split.wanted = wanted;
  retry_warp_syncs();
}

// Executes the warp operations whose lanes have all come (or exited).
void Warp::retry_warp_syncs() {
  for (size_t i = 0; i < splits_.size(); ++i)
    if (splits_[i].state == Split::State::warp_sync) try_warp_sync(i, false);
}

// The operation that split `i` waits at, with all who wait for the same.
void Warp::try_warp_sync(size_t i, bool whoever_came) {
  const Split first = splits_[i];
  const Inst& in = first.frame->function->code[first.pc];
  const bool barrier = is_barrier(in);
  // A barrier may be met at several places of the program, a data exchange at one only.
  auto together = [&](const Split& s) {
    if (s.state != Split::State::warp_sync || s.wanted != first.wanted) return false;
    const Inst& other = s.frame->function->code[s.pc];
    return barrier ? is_barrier(other) : s.pc == first.pc && s.frame == first.frame;
  };
  uint32_t here = 0;
  for (const Split& s : splits_)
    if (together(s)) here |= s.op_mask;
  if (!whoever_came && (first.wanted & live_ & ~here) != 0) return;
  if (barrier) {
    block_.report_warp_barrier(index_, here);
  } else {
    execute(*first.frame, here, in);
  }
  for (Split& s : splits_) {
    if (!together(s) || (s.op_mask & ~here) != 0) continue;
    s.state = Split::State::ready;
    ++s.pc;
  }
}

const Split* Warp::stuck_in_warp_sync() const {
  for (const Split& s : splits_)
    if (s.state == Split::State::warp_sync) return &s;
  return nullptr;
}

// `if (t < 16) { ...; __syncwarp(); }` waits for lanes that leave the branch and exit. That they
// wait behind it for the others is our way of bringing lanes together; on an H100 they do not
// (programs/warp_barriers). An exchange of data with them stays what it is, a mistake.
bool Warp::release_for_warp_barrier() {
  const auto is_at_barrier = [](const Split& s) {
    return s.state == Split::State::warp_sync && is_barrier(s.frame->function->code[s.pc]);
  };
  for (const Split& s : splits_) {
    if (!is_at_barrier(s)) continue;
    uint32_t missing = s.wanted & live_;
    for (const Split& other : splits_)
      if (is_at_barrier(other) && other.wanted == s.wanted) missing &= ~other.op_mask;
    for (Join* join = s.join; join != nullptr; join = join->parent) {
      if ((join->arrived & missing) == 0) continue;
      release(join);
      return true;
    }
  }
  return false;
}

bool Warp::release_for_block_barrier() {
  for (const Split& s : splits_)
    for (Join* join = s.join; join != nullptr; join = join->parent) {
      if (join->arrived == 0 || join->callee != nullptr) continue;
      release(join);
      return true;
    }
  return false;
}

void Warp::force_warp_sync() {
  for (size_t i = 0; i < splits_.size(); ++i)
    if (splits_[i].state == Split::State::warp_sync) return try_warp_sync(i, true);
}

}  // namespace lab32::sim
