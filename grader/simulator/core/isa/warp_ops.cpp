// Operations of several lanes of a warp: shuffles, votes, reductions, barriers. When they run, the
// warp's loop has already gathered all lanes that the member mask names and that have not exited;
// x.mask holds these lanes.
#include <algorithm>
#include <cstring>
#include <string>

#include "simulator/core/isa/memory_lanes.h"
#include "simulator/core/isa/shuffle_lane.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

namespace {

using ptx::DataType;
using ptx::Modifier;

// The common case of 32 active lanes: loops are vectorised, and no lane is absent.
template <ShuffleMode mode>
void shuffle_whole_warp(const ExecContext& x, const Inst& in) {
  const auto row = [&](const RegisterSlot& slot) {
    return reinterpret_cast<const uint32_t*>(x.regs + slot.offset);
  };
  const uint32_t *a = row(in.src[0]), *b = row(in.src[1]), *c = row(in.src[2]);
  uint32_t from[kWarpSize], result[kWarpSize];
  uint32_t in_range = 0, amounts = 0;
  for (uint32_t l = 0; l < kWarpSize; ++l) {
    const ShuffleSource other = shuffle_source(mode, l, b[l], c[l]);
    from[l] = other.lane;
    in_range |= static_cast<uint32_t>(other.in_range) << l;
    amounts |= b[l];
  }
  for (uint32_t l = 0; l < kWarpSize; ++l) result[l] = a[from[l]];
  if (mode != ShuffleMode::idx && amounts >= kWarpSize)
    for (uint32_t l = 0; l < kWarpSize; ++l)
      if (b[l] >= kWarpSize) note_out_of_range_shift(x, in, true, b[l], kWarpSize);
  if (x.warp != nullptr && x.warp->block().reports().observes_shuffles()) {
    uint8_t asked[kWarpSize];
    std::copy_n(from, kWarpSize, asked);
    x.warp->block().reports().shuffle(x.warp->index(), {in.site, x.mask, asked, in_range, 0});
  }
  if (in.dst[0].bytes != 0) std::memcpy(x.regs + in.dst[0].offset, result, sizeof result);
  if (in.dst_count > 1) write_predicate(x, in.dst[1], in_range);
}

// shfl.sync d|p, a, b, c, mask (PTX ISA 9.7.9.6).
template <ShuffleMode mode>
void shuffle(const ExecContext& x, const Inst& in) {
  if (x.mask == kFullMask) return shuffle_whole_warp<mode>(x, in);
  // dst[0] = d, dst[1] = p (bytes 0: none)
  const std::byte* a = x.regs + in.src[0].offset;
  uint32_t result[kWarpSize];
  uint8_t asked[kWarpSize] = {};
  uint32_t in_range = 0, absent = 0, readers = 0;
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int lane = __builtin_ctz(r);
    ShuffleSource from = shuffle_source(mode, in, x, lane);
    const auto distance = load_lane<uint32_t>(x.regs + in.src[1].offset, lane);
    if (mode != ShuffleMode::idx && distance >= kWarpSize)  // __shfl_sync is documented to wrap
      note_out_of_range_shift(x, in, true, distance, kWarpSize);
    if (from.in_range) in_range |= 1u << lane;
    asked[lane] = static_cast<uint8_t>(from.lane);
    // The ISA leaves the result of reading an absent lane undefined; here the reading lane keeps
    // its own value.
    if (!(x.mask >> from.lane & 1)) {
      absent |= 1u << from.lane;
      readers |= 1u << lane;
      from.lane = static_cast<uint32_t>(lane);
    }
    result[lane] = load_lane<uint32_t>(a, static_cast<int>(from.lane));
  }
  if (x.warp != nullptr && x.warp->block().reports().observes_shuffles())
    x.warp->block().reports().shuffle(x.warp->index(), {in.site, x.mask, asked, in_range, absent});
  if (in.dst[0].bytes != 0)
    for (uint32_t r = x.mask; r; r &= r - 1)
      store_lane<uint32_t>(x.regs + in.dst[0].offset, __builtin_ctz(r), result[__builtin_ctz(r)]);
  if (in.dst_count > 1) write_predicate(x, in.dst[1], in_range);
  if (absent != 0 && x.warp->block().checks_reads())
    x.warp->mark_absent_reads_undefined(x, in, readers, absent);
}

enum class Vote : uint8_t { all, any, uni, ballot };

template <Vote mode>
void vote_across_warp(const ExecContext& x, const Inst& in) {
  const uint32_t yes = read_predicate(x, in.src[0]) & x.mask;
  if constexpr (mode == Vote::ballot) {
    for (uint32_t r = x.mask; r; r &= r - 1)
      store_lane<uint32_t>(x.regs + in.dst[0].offset, __builtin_ctz(r), yes);
  } else {
    const bool result = mode == Vote::all   ? yes == x.mask
                        : mode == Vote::any ? yes != 0
                                            : yes == 0 || yes == x.mask;
    write_predicate(x, in.dst[0], result ? kFullMask : 0);
  }
}

template <class T, bool all>
void match_across_warp(const ExecContext& x, const Inst& in) {
  const std::byte* a = x.regs + in.src[0].offset;
  uint32_t result[kWarpSize];
  uint32_t equal_all = 0;
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    uint32_t same = 0;
    for (uint32_t q = x.mask; q; q &= q - 1) {
      const int k = __builtin_ctz(q);
      if (load_lane<T>(a, k) == load_lane<T>(a, l)) same |= 1u << k;
    }
    if (same == x.mask) equal_all |= 1u << l;
    result[l] = all ? (same == x.mask ? x.mask : 0) : same;
  }
  if (in.dst[0].bytes != 0)
    for (uint32_t r = x.mask; r; r &= r - 1)
      store_lane<uint32_t>(x.regs + in.dst[0].offset, __builtin_ctz(r), result[__builtin_ctz(r)]);
  if (all && in.dst_count > 1) write_predicate(x, in.dst[1], equal_all);
}

// The PTX ISA leaves open which lane is elected, but equal masks must elect the same lane.
void elect_leader_lane(const ExecContext& x, const Inst& in) {
  const int leader = __builtin_ctz(x.mask);
  if (in.dst[0].bytes != 0)
    for (uint32_t r = x.mask; r; r &= r - 1)
      store_lane<uint32_t>(x.regs + in.dst[0].offset, __builtin_ctz(r),
                           static_cast<uint32_t>(leader));
  if (in.dst_count > 1) write_predicate(x, in.dst[1], 1u << leader);
}

template <class T, class F>
void reduce_across_warp(const ExecContext& x, const Inst& in, F f) {
  const std::byte* a = x.regs + in.src[0].offset;
  T value = load_lane<T>(a, __builtin_ctz(x.mask));
  for (uint32_t r = x.mask & (x.mask - 1); r; r &= r - 1)
    value = f(value, load_lane<T>(a, __builtin_ctz(r)));
  for (uint32_t r = x.mask; r; r &= r - 1)
    store_lane<T>(x.regs + in.dst[0].offset, __builtin_ctz(r), value);
}

using U = uint32_t;
using S = int32_t;
void redux_add(const ExecContext& x, const Inst& in) {
  reduce_across_warp<U>(x, in, [](U a, U b) { return a + b; });
}
void redux_and(const ExecContext& x, const Inst& in) {
  reduce_across_warp<U>(x, in, [](U a, U b) { return a & b; });
}
void redux_or(const ExecContext& x, const Inst& in) {
  reduce_across_warp<U>(x, in, [](U a, U b) { return a | b; });
}
void redux_xor(const ExecContext& x, const Inst& in) {
  reduce_across_warp<U>(x, in, [](U a, U b) { return a ^ b; });
}
void redux_umin(const ExecContext& x, const Inst& in) {
  reduce_across_warp<U>(x, in, [](U a, U b) { return std::min(a, b); });
}
void redux_umax(const ExecContext& x, const Inst& in) {
  reduce_across_warp<U>(x, in, [](U a, U b) { return std::max(a, b); });
}
void redux_smin(const ExecContext& x, const Inst& in) {
  reduce_across_warp<S>(x, in, [](S a, S b) { return std::min(a, b); });
}
void redux_smax(const ExecContext& x, const Inst& in) {
  reduce_across_warp<S>(x, in, [](S a, S b) { return std::max(a, b); });
}

void read_active_mask(const ExecContext& x, const Inst& in) {
  for (uint32_t r = x.mask; r; r &= r - 1)
    store_lane<uint32_t>(x.regs + in.dst[0].offset, __builtin_ctz(r), x.mask);
}

// --- block barriers -----------------------------------------------------------------------------

// bar a{, b}{, predicate}: the ISA requires equal operands in the whole warp.
void arrive_at_block_barrier(const ExecContext& x, const Inst& in, bool wait,
                             BlockContext::BarrierArrival::Reduce reduce) {
  const int first = __builtin_ctz(x.mask);
  BlockContext::BarrierArrival arrival;
  arrival.inst = &in;
  arrival.wait = wait;
  arrival.reduce = reduce;
  const bool votes = reduce != BlockContext::BarrierArrival::Reduce::none;
  const int counts = in.src_count - (votes ? 1 : 0);
  const uint32_t number = load_lane<uint32_t>(x.regs + in.src[0].offset, first);
  if (number > 15) {
    TrapFacts facts = x.warp->facts(TrapReason::no_such_barrier, first);
    facts.barrier = number;
    x.warp->trap(in, std::move(facts));
  }
  arrival.barrier = number;
  if (counts > 1 && in.src[1].bytes != 0) {
    arrival.threads = load_lane<uint32_t>(x.regs + in.src[1].offset, first);
    if (arrival.threads == 0 || arrival.threads % kWarpSize != 0) {
      TrapFacts facts = x.warp->facts(TrapReason::count_not_of_warps, first);
      facts.barrier = number;
      facts.value = arrival.threads;
      x.warp->trap(in, std::move(facts));
    }
  }
  if (votes) arrival.predicate = read_predicate(x, in.src[in.src_count - 1]);
  x.warp->block().arrive_at_cta_barrier(*x.warp, x.mask, x.regs, arrival);
}

void arrive_at_cluster_barrier(const ExecContext& x, const Inst& in) {
  ClusterContext& cluster = *x.warp->block().cluster();
  cluster.arrive(x.warp->block().info().rank, *x.warp, x.mask, in);
}
void wait_at_cluster_barrier(const ExecContext& x, const Inst& in) {
  ClusterContext& cluster = *x.warp->block().cluster();
  cluster.wait(x.warp->block().info().rank, *x.warp, x.mask, in);
}

using Reduce = BlockContext::BarrierArrival::Reduce;
void sync_block(const ExecContext& x, const Inst& in) {
  arrive_at_block_barrier(x, in, true, Reduce::none);
}
void arrive_block(const ExecContext& x, const Inst& in) {
  arrive_at_block_barrier(x, in, false, Reduce::none);
}
void sync_block_and_popc_predicates(const ExecContext& x, const Inst& in) {
  arrive_at_block_barrier(x, in, true, Reduce::popc);
}
void sync_block_and_vote_predicates(const ExecContext& x, const Inst& in) {
  arrive_at_block_barrier(x, in, true, Reduce::all);
}

// --- ends and clocks ----------------------------------------------------------------------------

void raise_trap(const ExecContext& x, const Inst& in) {
  TrapFacts facts = x.warp->facts(TrapReason::trap_instruction, __builtin_ctz(x.mask));
  facts.name = in.ptx->op->base;
  x.warp->trap(in, std::move(facts));
}

// A clock is the warp's instruction count plus the time that it has waited for the clock:
// monotonic, and equal in every run.
template <class T>
void read_clock(const ExecContext& x, const Inst& in) {
  const bool high = in.ptx->operands[1].special == ptx::SpecialReg::clock_hi ||
                    in.ptx->operands[1].special == ptx::SpecialReg::globaltimer_hi;
  const uint64_t clock = x.warp->polling().read_clock(x.warp->issued()),
                 now = high ? clock >> 32 : clock;
  x.warp->polling().note_clock();  // a program that reads clocks may be waiting
  for (uint32_t r = x.mask; r; r &= r - 1)
    store_lane<T>(x.regs + in.dst[0].offset, __builtin_ctz(r), static_cast<T>(now));
}

// bra, call, ret, exit and bar.warp.sync are executed by the warp's loop itself.
void executed_by_warp_loop(const ExecContext&, const Inst&) {}

}  // namespace

ExecFn pick_shfl(const ptx::Instruction& in) {
  if (in.has(Modifier::up)) return shuffle<ShuffleMode::up>;
  if (in.has(Modifier::down)) return shuffle<ShuffleMode::down>;
  if (in.has(Modifier::bfly)) return shuffle<ShuffleMode::bfly>;
  return shuffle<ShuffleMode::idx>;
}

ExecFn pick_vote_pred(const ptx::Instruction& in) {
  if (in.has(Modifier::all)) return vote_across_warp<Vote::all>;
  if (in.has(Modifier::any)) return vote_across_warp<Vote::any>;
  return vote_across_warp<Vote::uni>;
}
ExecFn pick_vote_ballot(const ptx::Instruction&) { return vote_across_warp<Vote::ballot>; }

ExecFn pick_match_any(const ptx::Instruction& in) {
  return in.type() == DataType::b32 ? match_across_warp<uint32_t, false>
                                    : match_across_warp<uint64_t, false>;
}
ExecFn pick_match_all(const ptx::Instruction& in) {
  return in.type() == DataType::b32 ? match_across_warp<uint32_t, true>
                                    : match_across_warp<uint64_t, true>;
}

ExecFn pick_elect(const ptx::Instruction&) { return elect_leader_lane; }

ExecFn pick_redux(const ptx::Instruction& in) {
  const bool is_signed = in.type() == DataType::s32;
  if (in.has(Modifier::add)) return redux_add;
  if (in.has(Modifier::op_and)) return redux_and;
  if (in.has(Modifier::op_or)) return redux_or;
  if (in.has(Modifier::op_xor)) return redux_xor;
  if (in.has(Modifier::min)) return is_signed ? redux_smin : redux_umin;
  return is_signed ? redux_smax : redux_umax;
}

ExecFn pick_activemask(const ptx::Instruction&) { return read_active_mask; }

ExecFn pick_bar_sync(const ptx::Instruction&) { return sync_block; }
ExecFn pick_bar_arrive(const ptx::Instruction&) { return arrive_block; }
ExecFn pick_bar_red_popc(const ptx::Instruction&) { return sync_block_and_popc_predicates; }
ExecFn pick_bar_red_pred(const ptx::Instruction&) { return sync_block_and_vote_predicates; }
ExecFn pick_barrier_sync(const ptx::Instruction&) { return sync_block; }
ExecFn pick_barrier_arrive(const ptx::Instruction&) { return arrive_block; }
ExecFn pick_barrier_red_popc(const ptx::Instruction&) { return sync_block_and_popc_predicates; }
ExecFn pick_barrier_red_pred(const ptx::Instruction&) { return sync_block_and_vote_predicates; }

ExecFn pick_cluster_arrive(const ptx::Instruction&) { return arrive_at_cluster_barrier; }
ExecFn pick_cluster_wait(const ptx::Instruction&) { return wait_at_cluster_barrier; }

ExecFn pick_read_clock(const ptx::Instruction& in) {
  return ptx::bits_of(in.type()) == 64 ? read_clock<uint64_t> : read_clock<uint32_t>;
}

ExecFn pick_bar_warp_sync(const ptx::Instruction&) { return executed_by_warp_loop; }
ExecFn pick_bra(const ptx::Instruction&) { return executed_by_warp_loop; }
ExecFn pick_brx(const ptx::Instruction&) { return executed_by_warp_loop; }
ExecFn pick_call(const ptx::Instruction&) { return executed_by_warp_loop; }
ExecFn pick_ret(const ptx::Instruction&) { return executed_by_warp_loop; }
ExecFn pick_exit(const ptx::Instruction&) { return executed_by_warp_loop; }
ExecFn pick_trap(const ptx::Instruction&) { return raise_trap; }
ExecFn pick_brkpt(const ptx::Instruction&) { return raise_trap; }

}  // namespace lab32::sim
