// Binds the half precision rows of opcodes.def, in table order.
#include "simulator/core/semantics/half.h"

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Type;

bool is_brain(Type type) { return type == Type::bf16 || type == Type::bf16x2; }

// bf16 keeps the exponents of float; the ISA gives it no .ftz and no .sat.
void refuse_brain(const Instruction& in) {
  if (is_brain(in.type()) && (in.has(Mod::ftz) || in.has(Mod::sat))) {
    refuse(in, "bf16 has no .ftz and no .sat");
  }
}

template <class Op, int Operands>
ExecFn pick_for_halves(const Instruction& in) {
  refuse_brain(in);
  return Halves::pick(in, in.type(), [&](auto t) {
    using T = TypeOf<decltype(t)>;
    using Lane = std::conditional_t<sizeof(T) == 4, Both<Op>, Op>;
    const bool none = in.mods.none() || (in.mods.count() == 1 && in.has(Mod::rn));
    return none ? plain<Lane, T, Operands>() : modified<Lane, T, Operands>();
  });
}

template <class Op, int Operands>
ExecFn pick_arithmetic(const Instruction& in) {
  if (in.has(Mod::rz)) refuse(in, "half precision arithmetic rounds to nearest (.rn) only");
  return pick_for_halves<HalfOp<Op>, Operands>(in);
}

template <bool Max>
ExecFn pick_half_minmax(const Instruction& in) {
  if (in.has(Mod::xorsign) != in.has(Mod::abs)) refuse(in, ".xorsign and .abs go together");
  return pick_for_halves<MinMaxHalf<Max>, 2>(in);
}

}  // namespace

ExecFn pick_add_half(const Instruction& in) { return pick_arithmetic<HalfAdd, 2>(in); }
ExecFn pick_sub_half(const Instruction& in) { return pick_arithmetic<HalfSub, 2>(in); }
ExecFn pick_mul_half(const Instruction& in) { return pick_arithmetic<HalfMul, 2>(in); }
ExecFn pick_fma_half(const Instruction& in) {
  if (in.has(Mod::sat) && in.has(Mod::relu)) refuse(in, ".sat and .relu exclude each other");
  return pick_arithmetic<HalfFma, 3>(in);
}
ExecFn pick_neg_half(const Instruction& in) { return pick_for_halves<NegHalf, 1>(in); }
ExecFn pick_abs_half(const Instruction& in) { return pick_for_halves<AbsHalf, 1>(in); }
ExecFn pick_min_half(const Instruction& in) { return pick_half_minmax<false>(in); }
ExecFn pick_max_half(const Instruction& in) { return pick_half_minmax<true>(in); }

}  // namespace lab32::sim
