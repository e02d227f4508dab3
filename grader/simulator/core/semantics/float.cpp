// Binds the single and double precision rows of opcodes.def, in table order.
#include "simulator/core/semantics/float.h"

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Type;

template <Rounding R>
using RoundingTag = std::integral_constant<Rounding, R>;

template <class F>
ExecFn with_rounding(const Instruction& in, F f) {
  if (in.has(Mod::rz)) return f(RoundingTag<Rounding::rz>{});
  if (in.has(Mod::rm)) return f(RoundingTag<Rounding::rm>{});
  if (in.has(Mod::rp)) return f(RoundingTag<Rounding::rp>{});
  return f(RoundingTag<Rounding::rn>{});
}

template <class Frame, class T, int Operands>
constexpr ExecFn of_arity() {
  if constexpr (Operands == 1)
    return unary<Frame, T>();
  else if constexpr (Operands == 2)
    return binary<Frame, T>();
  else
    return ternary<Frame, T>();
}

template <class Raw, int Operands>
ExecFn pick_frame(const Instruction& in) {
  const bool ftz = in.has(Mod::ftz), sat = in.has(Mod::sat);
  if (in.type() == Type::f64) {
    if (ftz || sat) refuse(in, "double precision has no .ftz and no .sat");
    return of_arity<FloatOp<Raw, false, false>, double, Operands>();
  }
  if (ftz && sat) return of_arity<FloatOp<Raw, true, true>, float, Operands>();
  if (ftz) return of_arity<FloatOp<Raw, true, false>, float, Operands>();
  if (sat) return of_arity<FloatOp<Raw, false, true>, float, Operands>();
  return of_arity<FloatOp<Raw, false, false>, float, Operands>();
}

template <template <Rounding> class Op, int Operands>
ExecFn pick_arithmetic(const Instruction& in) {
  return with_rounding(in,
                       [&](auto r) { return pick_frame<Op<decltype(r)::value>, Operands>(in); });
}

template <FloatClass Class, class T>
void exec_testp(const Exec& x, const Inst& in) {
  write_predicate(x, in.dst[0], test_lanes<T>(x, in, [](T a) { return Testp<Class>::apply(a); }));
}

template <FloatClass Class>
ExecFn pick_testp_class(const Instruction& in) {
  return Floats::pick(in, in.type(),
                      [](auto t) -> ExecFn { return exec_testp<Class, TypeOf<decltype(t)>>; });
}

template <class Raw, class T, bool Ftz>
ExecFn minmax_of_arity(const Instruction& in) {
  const bool three = in.has_operand(3);
  if (in.has(Mod::xorsign)) {
    if (three) refuse(in, ".xorsign takes two operands, not three");
    if (!in.has(Mod::abs)) refuse(in, ".xorsign needs .abs");
    return binary<FloatOp<WithXorSign<Raw>, Ftz, false>, T>();
  }
  if (in.has(Mod::abs)) {
    if (!three) refuse(in, "with two operands .abs needs .xorsign");
    return ternary<FloatOp<OfMagnitudes<Raw>, Ftz, false>, T>();
  }
  return three ? ternary<FloatOp<Raw, Ftz, false>, T>() : binary<FloatOp<Raw, Ftz, false>, T>();
}

template <bool Max>
ExecFn pick_minmax(const Instruction& in) {
  if (in.type() == Type::f64) {
    if (in.mods.any() || in.has_operand(3)) {
      refuse(in, "double precision has two operands and no modifiers");
    }
    return binary<FloatOp<MinMaxFloat<Max, false>, false, false>, double>();
  }
  return with_bool(in.has(Mod::NaN), [&](auto nan) {
    return with_bool(in.has(Mod::ftz), [&](auto ftz) {
      return minmax_of_arity<MinMaxFloat<Max, decltype(nan)::value>, float, decltype(ftz)::value>(
          in);
    });
  });
}

}  // namespace

ExecFn pick_testp(const Instruction& in) {
  if (in.has(Mod::finite)) return pick_testp_class<FloatClass::finite>(in);
  if (in.has(Mod::infinite)) return pick_testp_class<FloatClass::infinite>(in);
  if (in.has(Mod::number)) return pick_testp_class<FloatClass::number>(in);
  if (in.has(Mod::notanumber)) return pick_testp_class<FloatClass::notanumber>(in);
  if (in.has(Mod::normal)) return pick_testp_class<FloatClass::normal>(in);
  return pick_testp_class<FloatClass::subnormal>(in);
}
ExecFn pick_copysign(const Instruction& in) {
  return Floats::pick(in, in.type(),
                      [](auto t) { return binary<Copysign, TypeOf<decltype(t)>>(); });
}
ExecFn pick_add_float(const Instruction& in) { return pick_arithmetic<AddFloat, 2>(in); }
ExecFn pick_sub_float(const Instruction& in) { return pick_arithmetic<SubFloat, 2>(in); }
ExecFn pick_mul_float(const Instruction& in) { return pick_arithmetic<MulFloat, 2>(in); }
ExecFn pick_fma_float(const Instruction& in) { return pick_arithmetic<FmaFloat, 3>(in); }
// Since sm_20 mad is fma, and its rounding must be named.
ExecFn pick_mad_float(const Instruction& in) {
  if (!in.has(Mod::rn) && !in.has(Mod::rz) && !in.has(Mod::rm) && !in.has(Mod::rp)) {
    refuse(in, "mad needs a rounding: .rn, .rz, .rm or .rp");
  }
  return pick_arithmetic<FmaFloat, 3>(in);
}
ExecFn pick_div_float(const Instruction& in) { return pick_arithmetic<DivFloat, 2>(in); }
ExecFn pick_abs_float(const Instruction& in) { return pick_frame<AbsFloat, 1>(in); }
ExecFn pick_neg_float(const Instruction& in) { return pick_frame<NegFloat, 1>(in); }
ExecFn pick_min_float(const Instruction& in) { return pick_minmax<false>(in); }
ExecFn pick_max_float(const Instruction& in) { return pick_minmax<true>(in); }
ExecFn pick_rcp_rounded(const Instruction& in) { return pick_arithmetic<RcpRounded, 1>(in); }
ExecFn pick_sqrt_rounded(const Instruction& in) { return pick_arithmetic<SqrtRounded, 1>(in); }

}  // namespace lab32::sim
