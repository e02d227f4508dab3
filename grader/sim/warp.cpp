#include "sim/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ptx/diagnostic.h"
#include "sim/block.h"
#include "sim/printf.h"

namespace lab32::sim {
namespace {

// After so many instructions of one split, another ready split of the warp gets its turn. When all
// ready splits have used up a turn and look as if they waited for a lane (they executed an atomic
// with a result or a volatile load meanwhile), lanes that stand in a join are let go on. Once a warp
// has shown that it spins, turns are short: a lock that 32 lanes take one after the other changes
// hands 31 times.
constexpr uint64_t kTurn = 10'000;
constexpr uint64_t kSpinTurn = 500;

constexpr size_t kRegisterAlign = 64;

}  // namespace

Warp::Warp(Block& block, uint32_t index, uint32_t live_lanes)
    : block_(block), index_(index), initial_lanes_(live_lanes) {
  free_frames_.resize(program().functions.size());
}

Warp::~Warp() = default;

const KernelProgram& Warp::program() const { return *block_.launch().program; }

Frame* Warp::make_frame(const CodeFunction& function, Frame* parent, const Inst* call) {
  Frame* frame;
  auto& pool = free_frames_[function.index];
  if (!pool.empty()) {
    frame = pool.back();
    pool.pop_back();
  } else {
    frames_.push_back(std::make_unique<Frame>());
    frame = frames_.back().get();
    frame->function = &function;
    register_files_.push_back(
        std::make_unique<std::byte[]>(function.register_bytes + kRegisterAlign));
    auto raw = reinterpret_cast<uintptr_t>(register_files_.back().get());
    frame->regs = reinterpret_cast<std::byte*>((raw + kRegisterAlign - 1) / kRegisterAlign *
                                               kRegisterAlign);
    std::memset(frame->regs, 0, function.register_bytes);
    frame->params.resize(static_cast<size_t>(function.param_bytes) * kWarpSize);
    for (const FixedSlot& slot : function.fixed) {
      std::byte* at = frame->regs + slot.offset;
      if (slot.bytes == 0) std::memcpy(at, &slot.value, sizeof(uint32_t));
      for (int l = 0; slot.bytes != 0 && l < kWarpSize; ++l, at += slot.bytes)
        std::memcpy(at, &slot.value, std::min<size_t>(slot.bytes, 8));
    }
    fill_specials(*frame);
  }
  for (auto [offset, bytes] : function.zero) std::memset(frame->regs + offset, 0, bytes);
  // Padding of a structure may be loaded though nobody stored it.
  std::fill(frame->params.begin(), frame->params.end(), std::byte{0});
  fill_block_specials(*frame);
  frame->parent = parent;
  frame->local_base =
      parent ? parent->local_base + parent->function->local_bytes + kCallBytes : kLocalStart;
  const uint32_t top = frame->local_base + function.local_bytes;
  if (top > kLocalLimit) {
    if (!call)
      throw Trap{"stack", fmt::format("the kernel needs {} KiB of local memory a thread; {} are possible",
                                      function.local_bytes >> 10, kLocalLimit >> 10)};
    trap(*call, "stack",
         fmt::format("warp {} of block {}: the functions called need more than {} KiB of local "
                     "memory a thread: a recursion without end?",
                     index_, block_.info().index, kLocalLimit >> 10));
  }
  if (top > local_capacity_) {
    // Lanes' stacks lie side by side; growing moves each to its new place.
    const uint32_t capacity = std::max(top, local_capacity_ * 2);
    std::vector<std::byte> bytes(static_cast<size_t>(capacity) * kWarpSize);
    std::vector<uint8_t> written(static_cast<size_t>(capacity) * kWarpSize);
    for (size_t l = 0; l < kWarpSize; ++l) {
      std::copy_n(local_.begin() + static_cast<std::ptrdiff_t>(l * local_capacity_),
                  local_capacity_, bytes.begin() + static_cast<std::ptrdiff_t>(l * capacity));
      std::copy_n(local_written_.begin() + static_cast<std::ptrdiff_t>(l * local_capacity_),
                  local_capacity_, written.begin() + static_cast<std::ptrdiff_t>(l * capacity));
    }
    local_.swap(bytes);
    local_written_.swap(written);
    local_capacity_ = capacity;
  }
  for (const LocalSlot& slot : function.local_addresses) {
    const uint64_t value =
        (slot.generic ? kLocalBase : 0) + frame->local_base + slot.local_offset;
    for (int l = 0; l < kWarpSize; ++l)
      std::memcpy(frame->regs + slot.offset + static_cast<size_t>(l) * slot.bytes, &value,
                  slot.bytes);
  }
  return frame;
}

void Warp::free_frame(Frame* frame) { free_frames_[frame->function->index].push_back(frame); }

void Warp::fill_specials(Frame& frame) {
  using ptx::SpecialReg;
  const LaunchContext& launch = block_.launch();
  for (const SpecialSlot& slot : frame.function->specials) {
    auto* at = reinterpret_cast<uint32_t*>(frame.regs + slot.offset);
    for (uint32_t l = 0; l < kWarpSize; ++l) {
      const uint32_t thread = index_ * kWarpSize + l;
      const uint32_t below = (1u << l) - 1;
      uint32_t value = 0;
      switch (slot.reg) {
        case SpecialReg::tid_x: value = thread % launch.block.x; break;
        case SpecialReg::tid_y: value = thread / launch.block.x % launch.block.y; break;
        case SpecialReg::tid_z: value = thread / launch.block.x / launch.block.y; break;
        case SpecialReg::ntid_x: value = launch.block.x; break;
        case SpecialReg::ntid_y: value = launch.block.y; break;
        case SpecialReg::ntid_z: value = launch.block.z; break;
        case SpecialReg::nctaid_x: value = launch.grid.x; break;
        case SpecialReg::nctaid_y: value = launch.grid.y; break;
        case SpecialReg::nctaid_z: value = launch.grid.z; break;
        case SpecialReg::laneid: value = l; break;
        case SpecialReg::warpid: value = index_; break;
        case SpecialReg::nwarpid: value = 64; break;
        case SpecialReg::nsmid: value = launch.multiprocessors; break;
        case SpecialReg::gridid: value = 1; break;
        case SpecialReg::lanemask_eq: value = 1u << l; break;
        case SpecialReg::lanemask_lt: value = below; break;
        case SpecialReg::lanemask_le: value = below | 1u << l; break;
        case SpecialReg::lanemask_gt: value = ~(below | 1u << l); break;
        case SpecialReg::lanemask_ge: value = ~below; break;
        case SpecialReg::total_smem_size: value = launch.shared_bytes; break;
        case SpecialReg::dynamic_smem_size:
          value = launch.shared_bytes - program().dynamic_offset;
          break;
        case SpecialReg::warpsize: value = kWarpSize; break;
        default: break;  // set for each block, or read by an instruction of its own
      }
      at[l] = value;
    }
  }
}

void Warp::fill_block_specials(Frame& frame) {
  using ptx::SpecialReg;
  for (const SpecialSlot& slot : frame.function->specials) {
    uint32_t value;
    switch (slot.reg) {
      case SpecialReg::ctaid_x: value = block_.info().x; break;
      case SpecialReg::ctaid_y: value = block_.info().y; break;
      case SpecialReg::ctaid_z: value = block_.info().z; break;
      case SpecialReg::smid:
        value = static_cast<uint32_t>(block_.info().index % block_.launch().multiprocessors);
        break;
      default: continue;
    }
    auto* at = reinterpret_cast<uint32_t*>(frame.regs + slot.offset);
    std::fill_n(at, kWarpSize, value);
  }
}

void Warp::restart() {
  for (auto& pool : free_frames_) pool.clear();
  for (auto& frame : frames_) free_frame(frame.get());
  free_joins_.clear();
  for (auto& join : joins_) free_joins_.push_back(join.get());
  turn_ = kTurn;
  synchronised_ = false;
  spun_turns_ = 0;
  next_id_ = 0;
  issued_ = 0;
  live_ = initial_lanes_;
  copies_.clear();
  copy_group_.fill(0);
  if (!local_written_.empty()) std::fill(local_written_.begin(), local_written_.end(), 0);
  Split start;
  start.id = next_id_++;
  start.mask = live_;
  start.frame = make_frame(program().functions[0], nullptr, nullptr);
  splits_.assign(1, start);
  current_ = 0;
}

Join* Warp::make_join() {
  if (free_joins_.empty()) {
    joins_.push_back(std::make_unique<Join>());
    free_joins_.push_back(joins_.back().get());
  }
  Join* join = free_joins_.back();
  free_joins_.pop_back();
  *join = Join{};
  return join;
}

void Warp::free_join(Join* join) { free_joins_.push_back(join); }

// ---------------------------------------------------------------------------------------------
// Divergence and reconvergence

// The lanes of `join` are complete: they go on as one split.
void Warp::push_arrived(Join* join) {
  Split split;
  split.id = next_id_++;
  split.pc = join->pc;
  split.mask = join->arrived;
  split.frame = join->frame;
  split.join = join->parent;
  if (join->callee) free_frame(join->callee);
  free_join(join);
  splits_.push_back(split);
}

// If the current split stands at its join, it waits there, or goes on with the joined lanes when it
// was the last. False: it waits, another split must be chosen.
bool Warp::settle() {
  for (;;) {
    Split& split = splits_[current_];
    Join* join = split.join;
    if (!join || join->callee || split.pc != join->pc || split.frame != join->frame) return true;
    join->arrived |= split.mask;
    if (join->arrived != join->expected) {
      splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(current_));
      return false;
    }
    split.mask = join->arrived;
    split.join = join->parent;
    free_join(join);
  }
}

void Warp::diverge(uint32_t other_pc, uint32_t other_mask, uint32_t my_pc, uint32_t my_mask,
                   uint32_t reconverge) {
  Split& split = splits_[current_];
  Join* join = split.join;
  // A loop that lanes leave one after the other has one join, not one for each iteration.
  const bool same = join && !join->callee && join->pc == reconverge && join->frame == split.frame;
  if (reconverge != Inst::kNoReconverge && !same) {
    join = make_join();
    join->pc = reconverge;
    join->frame = split.frame;
    join->expected = split.mask;
    join->parent = split.join;
  }
  split.join = join;
  split.pc = my_pc;
  split.mask = my_mask;
  Split other = split;
  other.id = next_id_++;
  other.pc = other_pc;
  other.mask = other_mask;
  splits_.push_back(other);
}

void Warp::branch(const Inst& in, uint32_t op_mask) {
  Split& split = splits_[current_];
  if (op_mask == split.mask) {
    split.pc = in.target;
  } else {
    block_.note_divergence(in.site);
    diverge(in.target, op_mask, split.pc + 1, split.mask & ~op_mask, in.reconverge);
  }
}

// Lanes with the same target go on as one split.
void Warp::indirect_branch(const Inst& in, uint32_t op_mask) {
  const auto* index =
      reinterpret_cast<const uint32_t*>(splits_[current_].frame->regs + in.src[0].offset);
  const std::vector<uint32_t>& table = program().branch_tables[in.target];
  const auto target_of = [&](int lane) {
    if (index[lane] >= table.size())
      trap(in, "trap", fmt::format("{} jumps to entry {} of a table of {}", thread_name(lane),
                                   index[lane], table.size()));
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
      // The rest is sent on by the next rounds; what is left then, its guard off, goes on here.
      diverge(target, same, next, others, in.reconverge);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Calls

void Warp::enter(uint32_t function, const Inst& call, uint32_t lanes, Split& split) {
  const CallSite& site = program().calls[call.target];
  const CodeFunction& callee = program().functions[function];
  if (!callee.refusal.empty())
    trap(call, "trap",
         fmt::format("{} calls `{}`, which the simulator cannot run: {}",
                     thread_name(__builtin_ctz(lanes)), ptx::demangle(callee.ptx->name),
                     callee.refusal));
  Frame* caller = split.frame;
  Frame* frame = make_frame(callee, caller, &call);
  // What an earlier call left there is not this one's. Other lanes may be in calls of their own.
  if (callee.local_bytes != 0)
    for (uint32_t r = lanes; r; r &= r - 1)
      std::memset(local_written(__builtin_ctz(r)) + frame->local_base, 0, callee.local_bytes);
  const uint32_t from_bytes = caller->function->param_bytes;
  for (size_t a = 0; a < callee.arguments.size() && a < site.arguments.size(); ++a) {
    for (uint32_t r = lanes; r; r &= r - 1) {
      const auto l = static_cast<size_t>(__builtin_ctz(r));
      std::memcpy(frame->params.data() + l * callee.param_bytes + callee.arguments[a].offset,
                  caller->params.data() + l * from_bytes + site.arguments[a],
                  callee.arguments[a].bytes);
    }
  }
  Join* back = make_join();
  back->pc = split.pc + 1;
  back->frame = caller;
  back->expected = lanes;
  back->parent = split.join;
  back->callee = frame;
  split.frame = frame;
  split.join = back;
  split.pc = 0;
}

void Warp::call(const Inst& in, uint32_t op_mask) {
  const CallSite& site = program().calls[in.target];
  Split& split = splits_[current_];
  if (site.target == CallSite::Target::vprintf) {
    device_printf(*this, in, site, op_mask);
    ++split.pc;
    return;
  }
  if (site.target == CallSite::Target::assertfail) device_assert(*this, in, site, op_mask);
  if (op_mask != split.mask) return set_aside(in, split.mask & ~op_mask, split.pc + 1);
  if (site.target == CallSite::Target::function)
    return enter(site.function, in, op_mask, split);

  // Through a pointer: lanes with the same target go together, the others call by themselves.
  const auto* pointer = reinterpret_cast<const uint64_t*>(split.frame->regs + site.pointer.offset);
  const int first = __builtin_ctz(op_mask);
  const uint64_t target = pointer[first];
  const auto callee = program().function_at.find(target);
  if (callee == program().function_at.end())
    trap(in, "trap", fmt::format("{} calls through the pointer {:#x}, which is no function",
                                 thread_name(first), target));
  uint32_t same = 0;
  for (uint32_t r = op_mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    if (pointer[l] == target) same |= 1u << l;
  }
  if (same != op_mask) return set_aside(in, op_mask & ~same, split.pc);
  enter(callee->second, in, op_mask, split);
}

// Lanes that cannot execute this instruction with the rest leave the split (to come back to it, or
// to wait behind it); the instruction is then executed anew, so this issue of it does not count.
void Warp::set_aside(const Inst& in, uint32_t lanes, uint32_t their_pc) {
  Split& split = splits_[current_];
  IssueTally& t = block_.tally()[in.site];
  --t.warps;
  t.lanes -= static_cast<unsigned>(__builtin_popcount(last_op_mask_));
  const uint32_t here = split.pc;
  diverge(their_pc, lanes, here, split.mask & ~lanes, here + 1);
}

void Warp::leave(uint32_t lanes, bool exit_thread) {
  Split& split = splits_[current_];
  Join* join = split.join;
  Frame* frame = split.frame;
  const bool to_caller = !exit_thread && frame->parent != nullptr;

  if (to_caller) {
    // Results go from the callee's return parameters to where the caller wants them.
    const Join* back = join;
    while (back->callee != frame) back = back->parent;
    const CodeFunction& callee = *frame->function;
    const Inst& at = back->frame->function->code[back->pc - 1];
    const CallSite& site = program().calls[at.target];
    const uint32_t to_bytes = back->frame->function->param_bytes;
    for (size_t r = 0; r < callee.results.size() && r < site.results.size(); ++r)
      for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const auto l = static_cast<size_t>(__builtin_ctz(rest));
        std::memcpy(back->frame->params.data() + l * to_bytes + site.results[r],
                    frame->params.data() + l * callee.param_bytes + callee.results[r].offset,
                    callee.results[r].bytes);
      }
  }

  split.mask &= ~lanes;
  if (split.mask == 0) {
    splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(current_));
  } else {
    ++split.pc;
  }
  // Every join on their way out stops expecting the lanes.
  while (join) {
    Join* parent = join->parent;
    if (to_caller && join->callee == frame) {
      join->arrived |= lanes;
      if (join->arrived == join->expected) push_arrived(join);
      break;
    }
    join->expected &= ~lanes;
    if (join->expected == 0) {
      if (join->callee) free_frame(join->callee);
      free_join(join);
    } else if (join->arrived == join->expected) {
      push_arrived(join);
    }
    join = parent;
  }
  if (!to_caller) {
    live_ &= ~lanes;
    retry_warp_syncs();
    block_.threads_exited();
  }
}

// ---------------------------------------------------------------------------------------------
// Operations of several lanes together

// Which lanes the instruction wants: the member mask operand, for lane `l`.
static uint32_t member_mask(const Inst& in, const std::byte* regs, int l, uint32_t live) {
  if (in.ptx->op->id == ptx::OpId::ldmatrix || in.ptx->op->id == ptx::OpId::stmatrix) return live;
  const Slot& slot = in.src[in.src_count - 1];
  return reinterpret_cast<const uint32_t*>(regs + slot.offset)[l];
}

void Warp::warp_sync(const Inst& in, uint32_t op_mask) {
  Split& split = splits_[current_];
  if (op_mask != split.mask) return set_aside(in, split.mask & ~op_mask, split.pc + 1);
  const std::byte* regs = split.frame->regs;
  const uint32_t wanted = member_mask(in, regs, __builtin_ctz(op_mask), live_);
  uint32_t same = 0;
  for (uint32_t r = op_mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    if (member_mask(in, regs, l, live_) == wanted) same |= 1u << l;
  }
  if (same != op_mask) return set_aside(in, op_mask & ~same, split.pc);
  if ((same & ~wanted) != 0) {
    const int l = __builtin_ctz(same & ~wanted);
    trap(in, "shuffle",
         fmt::format("{} executes a warp operation whose mask {:#010x} does not name its own lane {}",
                     thread_name(l), wanted, l));
  }
  if ((wanted & live_ & ~same) == 0) {
    if (in.ptx->op->id == ptx::OpId::bar_warp_sync) {
      block_.report_warp_barrier(*this, same);
    } else {
      in.exec(Exec{split.frame->regs, same, this}, in);
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
  for (size_t i = 0; i < splits_.size(); ++i) {
    if (splits_[i].state != Split::State::warp_sync) continue;
    const Split first = splits_[i];
    const Inst& in = first.frame->function->code[first.pc];
    const bool barrier = in.ptx->op->id == ptx::OpId::bar_warp_sync;
    // A barrier may be met at several places of the program, a data exchange at one only.
    auto together = [&](const Split& s) {
      if (s.state != Split::State::warp_sync || s.wanted != first.wanted) return false;
      const Inst& other = s.frame->function->code[s.pc];
      return barrier ? other.ptx->op->id == ptx::OpId::bar_warp_sync
                     : s.pc == first.pc && s.frame == first.frame;
    };
    uint32_t here = 0;
    for (const Split& s : splits_)
      if (together(s)) here |= s.op_mask;
    if ((first.wanted & live_ & ~here) != 0) continue;
    if (barrier) {
      block_.report_warp_barrier(*this, here);
    } else {
      in.exec(Exec{first.frame->regs, here, this}, in);
    }
    for (Split& s : splits_) {
      if (!together(s) || (s.op_mask & ~here) != 0) continue;
      s.state = Split::State::ready;
      ++s.pc;
    }
  }
}

const Split* Warp::stuck_in_warp_sync() const {
  for (const Split& s : splits_)
    if (s.state == Split::State::warp_sync) return &s;
  return nullptr;
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

// The current split spins, and lanes it may be waiting for stand in a join: the innermost such join
// lets them go. (Also that of a function's return: the lock may be taken in a function.)
void Warp::release_one_join() {
  Join* join = splits_[current_].join;
  while (join && join->arrived == 0) join = join->parent;
  if (!join) return;
  Split split;
  split.id = next_id_++;
  split.pc = join->pc;
  split.mask = join->arrived;
  split.frame = join->frame;
  split.join = join->parent;
  join->expected &= ~join->arrived;
  join->arrived = 0;
  splits_.push_back(split);
  turn_ = kSpinTurn;
}

// The current split has run long, and others get their turn.
void Warp::end_turn() {
  const auto ready = static_cast<size_t>(
      std::count_if(splits_.begin(), splits_.end(),
                    [](const Split& s) { return s.state == Split::State::ready; }));
  const bool spins = synchronised_ && current_ < splits_.size() &&
                     splits_[current_].state == Split::State::ready;
  synchronised_ = false;
  spun_turns_ = spins ? spun_turns_ + 1 : 0;
  if (spun_turns_ >= ready && spins) {
    release_one_join();
    // The next turn that ends tries the next split's joins, should these not have been the ones.
    spun_turns_ = ready - 1;
  }
  const size_t mine = current_;
  if (!next_split()) current_ = mine;
}

Warp::Progress Warp::run(uint64_t slice) {
  if (live_ == 0) return Progress::done;
  const uint64_t budget = block_.launch().warp_budget;
  const uint64_t stop = issued_ + slice;
  uint64_t turn_ends = issued_ + turn_;
  IssueTally* const tally = block_.tally().data();

  for (;;) {
    // Choose a split that can run.
    if (current_ >= splits_.size() || splits_[current_].state != Split::State::ready) {
      if (live_ == 0) return Progress::done;
      if (current_ >= splits_.size()) current_ = 0;
      if (!next_split()) return Progress::blocked;
      turn_ends = issued_ + turn_;
    }
    if (!settle()) continue;

    // The hot part: straight instructions of one split. All it needs is in locals.
    Split* split = &splits_[current_];
    std::byte* const regs = split->frame->regs;
    const Inst* const code = split->frame->function->code.data();
    const Join* join = split->join;
    const uint32_t join_pc =
        join && !join->callee && join->frame == split->frame ? join->pc : Inst::kNoReconverge;
    const uint32_t mask = split->mask;
    current_local_top_ = split->frame->local_base + split->frame->function->local_bytes;
    uint32_t pc = split->pc;
    const uint64_t pause = std::min(std::min(stop, turn_ends), budget);
    uint32_t op_mask;
    const Inst* in;
    for (;;) {
      in = code + pc;
      op_mask = mask;
      if (in->has_guard) {
        uint32_t guard;
        std::memcpy(&guard, regs + in->guard, sizeof guard);
        op_mask &= in->guard_negated ? ~guard : guard;
        if (op_mask == 0) {
          if (++pc == join_pc) break;
          continue;
        }
      }
      IssueTally& t = tally[in->site];
      ++t.warps;
      t.lanes += static_cast<unsigned>(__builtin_popcount(op_mask));
      ++issued_;
      if (in->flow != Flow::straight) break;
      in->exec(Exec{regs, op_mask, this}, *in);
      if (++pc == join_pc || issued_ >= pause) break;
    }
    split->pc = pc;

    if (in->flow != Flow::straight && op_mask != 0) {
      last_op_mask_ = op_mask;
      switch (in->flow) {
        case Flow::branch:
          if (in->ptx->op->id == ptx::OpId::brx) {
            indirect_branch(*in, op_mask);
          } else {
            branch(*in, op_mask);
          }
          break;
        case Flow::call: call(*in, op_mask); break;
        case Flow::ret: leave(op_mask, false); break;
        case Flow::exit: leave(op_mask, true); break;
        case Flow::warp_sync: warp_sync(*in, op_mask); break;
        case Flow::block_sync:
          if (op_mask != mask) {
            set_aside(*in, mask & ~op_mask, pc + 1);
          } else {
            in->exec(Exec{regs, op_mask, this}, *in);  // arrives, and waits or goes on
          }
          break;
        case Flow::trap: in->exec(Exec{regs, op_mask, this}, *in); break;
        case Flow::straight: break;
      }
    }
    if (live_ == 0) return Progress::done;
    if (issued_ >= budget)
      trap(*in, "budget", fmt::format("warp {} of block {} still runs after {} instructions",
                                      index_, block_.info().index, budget));
    if (issued_ >= stop) return Progress::yielded;
    if (issued_ >= turn_ends) {
      end_turn();
      turn_ends = issued_ + turn_;
    }
  }
}

std::string Warp::thread_name(int lane) const {
  const Extent& b = block_.launch().block;
  const uint32_t t = index_ * kWarpSize + static_cast<uint32_t>(lane);
  const BlockInfo& info = block_.info();
  return fmt::format("thread ({},{},{}) of block ({},{},{})", t % b.x, t / b.x % b.y,
                     t / b.x / b.y, info.x, info.y, info.z);
}

void Warp::trap(const Inst& in, const std::string& kind, const std::string& message) const {
  throw Trap{kind, message, in.site, true, block_.info().index};
}

}  // namespace lab32::sim
