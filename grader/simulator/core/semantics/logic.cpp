// Binds the logic and shift rows, prmt, and the two instructions without effect.
#include "simulator/core/semantics/logic.h"

#include "simulator/core/semantics/lanes.h"
#include "simulator/core/warp/odd_amount.h"

namespace lab32::sim {
namespace {

using ptx::Instruction;
using ptx::Mod;

template <class Op>
ExecFn pick_logic(const Instruction& in) {
  return Unsigned::pick(in, in.type(), [](auto t) { return binary<Op, TypeOf<decltype(t)>>(); });
}

template <class Op>
void exec_predicates(const Exec& x, const Inst& in) {
  const uint32_t a = read_predicate(x, in.src[0]);
  const uint32_t b = read_predicate(x, in.src[1]);
  write_predicate(x, in.dst[0], Op::apply(a, b));
}

void exec_not_pred(const Exec& x, const Inst& in) {
  write_predicate(x, in.dst[0], ~read_predicate(x, in.src[0]));
}

// The table is an immediate, so it is the same in every lane.
Lop3 lop3_of(const Exec& x, const Inst& in) {
  return Lop3(load_lane<uint32_t>(x.regs + in.src[3].offset, 0));
}

void exec_lop3(const Exec& x, const Inst& in) {
  map_lanes<uint32_t, uint32_t, uint32_t, uint32_t>(x, in, lop3_of(x, in));
}

template <class BoolOp>
void exec_lop3_pred(const Exec& x, const Inst& in) {
  const Lop3 lop3 = lop3_of(x, in);
  const auto not_zero = [lop3](uint32_t a, uint32_t b, uint32_t c) { return lop3(a, b, c) != 0; };
  const uint32_t p = BoolOp::apply(test_lanes<uint32_t, uint32_t, uint32_t>(x, in, not_zero),
                                   read_predicate(x, in.src[4]));
  map_lanes<uint32_t, uint32_t, uint32_t, uint32_t>(x, in, lop3);
  if (in.dst_count > 1) write_predicate(x, in.dst[1], p);
}

// A shift by an amount that is only known now.
template <class Op, class T>
void exec_shift(const Exec& x, const Inst& in) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  const auto odd = [](uint32_t amount) { return amount >= kBits; };
  uint32_t lanes = 0;
  const std::byte* amounts = x.regs + in.src[1].offset;
  for (int lane = 0; lane < kWarpSize; ++lane)
    lanes |= uint32_t{odd(load_lane<uint32_t>(amounts, lane))} << lane;
  if (lanes &= x.mask; lanes != 0)
    note_odd_amount(x, in, false, load_lane<uint32_t>(amounts, __builtin_ctz(lanes)), kBits);
  exec_lanes<Op, T, T, uint32_t>(x, in);
}

template <class Op, class T>
ExecFn pick_shift(const Instruction& in) {
  const bool known = in.operands.back().kind == ptx::Operand::Kind::integer;
  return known ? exec_lanes<Op, T, T, uint32_t> : exec_shift<Op, T>;
}

void exec_nothing(const Exec&, const Inst&) {}

}  // namespace

ExecFn pick_and_pred(const Instruction&) { return exec_predicates<AndBits>; }
ExecFn pick_or_pred(const Instruction&) { return exec_predicates<OrBits>; }
ExecFn pick_xor_pred(const Instruction&) { return exec_predicates<XorBits>; }
ExecFn pick_not_pred(const Instruction&) { return exec_not_pred; }

ExecFn pick_and_bits(const Instruction& in) { return pick_logic<AndBits>(in); }
ExecFn pick_or_bits(const Instruction& in) { return pick_logic<OrBits>(in); }
ExecFn pick_xor_bits(const Instruction& in) { return pick_logic<XorBits>(in); }
ExecFn pick_not_bits(const Instruction& in) {
  return Unsigned::pick(in, in.type(),
                        [](auto t) { return unary<NotBits, TypeOf<decltype(t)>>(); });
}
ExecFn pick_cnot(const Instruction& in) {
  return Unsigned::pick(in, in.type(), [](auto t) { return unary<CNot, TypeOf<decltype(t)>>(); });
}

ExecFn pick_lop3(const Instruction&) { return exec_lop3; }
ExecFn pick_lop3_pred(const Instruction& in) {
  return in.has(Mod::op_and) ? exec_lop3_pred<AndBits> : exec_lop3_pred<OrBits>;
}

ExecFn pick_shf(const Instruction& in) {
  return with_bool(in.has(Mod::wrap), [&](auto wrap) {
    constexpr bool wraps = decltype(wrap)::value;
    return in.has(Mod::l) ? ternary<ShfLeft<wraps>, uint32_t>()
                          : ternary<ShfRight<wraps>, uint32_t>();
  });
}
ExecFn pick_shl(const Instruction& in) {
  return Unsigned::pick(in, in.type(),
                        [&](auto t) { return pick_shift<Shl, TypeOf<decltype(t)>>(in); });
}
ExecFn pick_shr(const Instruction& in) {
  return Integers::pick(in, in.type(),
                        [&](auto t) { return pick_shift<Shr, TypeOf<decltype(t)>>(in); });
}

ExecFn pick_prmt(const Instruction& in) {
  if (in.has(Mod::f4e)) return ternary<PrmtNamed<kPrmtF4e>, uint32_t>();
  if (in.has(Mod::b4e)) return ternary<PrmtNamed<kPrmtB4e>, uint32_t>();
  if (in.has(Mod::rc8)) return ternary<PrmtNamed<kPrmtRc8>, uint32_t>();
  if (in.has(Mod::ecl)) return ternary<PrmtNamed<kPrmtEcl>, uint32_t>();
  if (in.has(Mod::ecr)) return ternary<PrmtNamed<kPrmtEcr>, uint32_t>();
  if (in.has(Mod::rc16)) return ternary<PrmtNamed<kPrmtRc16>, uint32_t>();
  return ternary<Prmt, uint32_t>();
}

// A warp that sleeps loses no time: it only lets other warps run, which they do anyway.
ExecFn pick_nanosleep(const Instruction&) { return exec_nothing; }
// Grids run one after the other, so what it waits for has been, and nobody waits for it.
ExecFn pick_griddepcontrol(const Instruction&) { return exec_nothing; }
// Counts something in a profiler, and nothing that a program sees.
ExecFn pick_pmevent(const Instruction&) { return exec_nothing; }
ExecFn pick_nop(const Instruction&) { return exec_nothing; }

}  // namespace lab32::sim
