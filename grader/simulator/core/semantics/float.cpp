// Binds the single and double precision rows of opcodes.def, in table order.
#include "simulator/core/semantics/float.h"

#include "simulator/core/semantics/half.h"
#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {

namespace {

using ptx::DataType;
using ptx::Instruction;
using ptx::Modifier;

void refuse_f64_ftz_and_sat(const Instruction& in) {
  if (in.has(Modifier::ftz) || in.has(Modifier::sat)) {
    refuse(in, "double precision has no .ftz and no .sat");
  }
}

template <class Raw, int Operands>
ExecFn pick_float_op_by_ftz_and_sat(const Instruction& in) {
  if (in.type() == DataType::f64) {
    refuse_f64_ftz_and_sat(in);
    return pick_without_modifiers<WithFtzSatAndCanonicalNan<Raw>, double, Operands>();
  }
  if (in.has(Modifier::ftz))
    return exec_with_subnormals_flushed<WithFtzSatAndCanonicalNan<Raw>, Operands>;
  return in.has(Modifier::sat)
             ? exec_saturated<WithFtzSatAndCanonicalNan<Raw>, Operands>
             : pick_without_modifiers<WithFtzSatAndCanonicalNan<Raw>, float, Operands>();
}

// Picks a loop that reads the modifiers at run time. A directed rounding costs more than the
// branches of that loop, so a loop without modifiers would gain nothing.
template <class Raw, int Operands>
ExecFn pick_runtime_modifier_loop(const Instruction& in) {
  if (in.type() != DataType::f64)
    return pick_with_modifiers<WithFtzSatAndCanonicalNan<Raw>, float, Operands>();
  refuse_f64_ftz_and_sat(in);
  return pick_with_modifiers<WithFtzSatAndCanonicalNan<Raw>, double, Operands>();
}

template <template <Rounding> class Op, int Operands>
ExecFn pick_float_op_by_rounding(const Instruction& in) {
  if (in.has(Modifier::rz)) return pick_runtime_modifier_loop<Op<Rounding::rz>, Operands>(in);
  if (in.has(Modifier::rm)) return pick_runtime_modifier_loop<Op<Rounding::rm>, Operands>(in);
  if (in.has(Modifier::rp)) return pick_runtime_modifier_loop<Op<Rounding::rp>, Operands>(in);
  return pick_float_op_by_ftz_and_sat<Op<Rounding::rn>, Operands>(in);
}

template <FloatClass Class, class T>
void exec_testp(const ExecContext& x, const Inst& in) {
  write_predicate(x, in.dst[0],
                  test_sources_of_all_lanes<T>(x, in, [](T a) { return Testp<Class>::apply(a); }));
}

template <FloatClass Class>
ExecFn pick_testp_by_type(const Instruction& in) {
  return Floats::pick_or_refuse(
      in, in.type(), [](auto t) -> ExecFn { return exec_testp<Class, TypeOf<decltype(t)>>; });
}

template <class Raw>
ExecFn pick_minmax_by_arity(const Instruction& in) {
  const bool three = in.has_operand(3);
  if (in.has(Modifier::xorsign)) {
    if (three) refuse(in, ".xorsign takes two operands, not three");
    if (!in.has(Modifier::abs)) refuse(in, ".xorsign needs .abs");
    return pick_with_modifiers<WithFtzSatAndCanonicalNan<WithXorSign<Raw>>, float, 2>();
  }
  if (in.has(Modifier::abs)) {
    if (!three) refuse(in, "with two operands .abs needs .xorsign");
    return pick_with_modifiers<WithFtzSatAndCanonicalNan<OnMagnitudes<Raw>>, float, 3>();
  }
  return three ? pick_with_modifiers<WithFtzSatAndCanonicalNan<Raw>, float, 3>()
               : pick_float_op_by_ftz_and_sat<Raw, 2>(in);
}

template <bool Max>
ExecFn pick_minmax(const Instruction& in) {
  if (in.type() == DataType::f64) {
    if (in.mods.any() || in.has_operand(3)) {
      refuse(in, "double precision has two operands and no modifiers");
    }
    return pick_without_modifiers<WithFtzSatAndCanonicalNan<MinMaxFloat<Max, false>>, double, 2>();
  }
  return in.has(Modifier::NaN) ? pick_minmax_by_arity<MinMaxFloat<Max, true>>(in)
                               : pick_minmax_by_arity<MinMaxFloat<Max, false>>(in);
}

}  // namespace

ExecFn pick_testp(const Instruction& in) {
  if (in.has(Modifier::finite)) return pick_testp_by_type<FloatClass::finite>(in);
  if (in.has(Modifier::infinite)) return pick_testp_by_type<FloatClass::infinite>(in);
  if (in.has(Modifier::number)) return pick_testp_by_type<FloatClass::number>(in);
  if (in.has(Modifier::notanumber)) return pick_testp_by_type<FloatClass::notanumber>(in);
  if (in.has(Modifier::normal)) return pick_testp_by_type<FloatClass::normal>(in);
  return pick_testp_by_type<FloatClass::subnormal>(in);
}
ExecFn pick_copysign(const Instruction& in) {
  return Floats::pick_or_refuse(
      in, in.type(), [](auto t) { return binary_exec_fn<Copysign, TypeOf<decltype(t)>>(); });
}
ExecFn pick_add_float(const Instruction& in) { return pick_float_op_by_rounding<AddFloat, 2>(in); }
ExecFn pick_sub_float(const Instruction& in) { return pick_float_op_by_rounding<SubFloat, 2>(in); }
ExecFn pick_mul_float(const Instruction& in) { return pick_float_op_by_rounding<MulFloat, 2>(in); }
ExecFn pick_fma_float(const Instruction& in) { return pick_float_op_by_rounding<FmaFloat, 3>(in); }
// Since sm_20 mad is fma, and its rounding must be named.
ExecFn pick_mad_float(const Instruction& in) {
  if (!in.has(Modifier::rn) && !in.has(Modifier::rz) && !in.has(Modifier::rm) &&
      !in.has(Modifier::rp)) {
    refuse(in, "mad needs a rounding: .rn, .rz, .rm or .rp");
  }
  return pick_float_op_by_rounding<FmaFloat, 3>(in);
}
ExecFn pick_div_float(const Instruction& in) { return pick_float_op_by_rounding<DivFloat, 2>(in); }
ExecFn pick_abs_float(const Instruction& in) {
  return pick_float_op_by_ftz_and_sat<AbsFloat, 1>(in);
}
ExecFn pick_neg_float(const Instruction& in) {
  return pick_float_op_by_ftz_and_sat<NegFloat, 1>(in);
}
ExecFn pick_min_float(const Instruction& in) { return pick_minmax<false>(in); }
ExecFn pick_max_float(const Instruction& in) { return pick_minmax<true>(in); }
ExecFn pick_rcp_rounded(const Instruction& in) {
  return pick_float_op_by_rounding<RcpRounded, 1>(in);
}
ExecFn pick_sqrt_rounded(const Instruction& in) {
  return pick_float_op_by_rounding<SqrtRounded, 1>(in);
}

// ---------------------------------------------------------------------------------------------
// Binds the half precision rows of opcodes.def, in table order.

namespace {

using ptx::DataType;
using ptx::Instruction;
using ptx::Modifier;

bool is_brain(DataType type) { return type == DataType::bf16 || type == DataType::bf16x2; }

// bf16 keeps the exponents of float; the ISA gives it no .ftz and no .sat.
void refuse_bf16_modifiers(const Instruction& in) {
  if (is_brain(in.type()) && (in.has(Modifier::ftz) || in.has(Modifier::sat))) {
    refuse(in, "bf16 has no .ftz and no .sat");
  }
}

template <class Op, int Operands>
ExecFn pick_half_form(const Instruction& in) {
  refuse_bf16_modifiers(in);
  return Halves::pick_or_refuse(in, in.type(), [&](auto t) {
    using T = TypeOf<decltype(t)>;
    using Lane = std::conditional_t<sizeof(T) == 4, BothHalves<Op>, Op>;
    const bool none = in.mods.none() || (in.mods.count() == 1 && in.has(Modifier::rn));
    return none ? pick_without_modifiers<Lane, T, Operands>()
                : pick_with_modifiers<Lane, T, Operands>();
  });
}

template <class Op, int Operands>
ExecFn pick_half_arithmetic(const Instruction& in) {
  if (in.has(Modifier::rz)) refuse(in, "half precision arithmetic rounds to nearest (.rn) only");
  return pick_half_form<HalfOp<Op>, Operands>(in);
}

template <bool Max>
ExecFn pick_half_minmax(const Instruction& in) {
  if (in.has(Modifier::xorsign) != in.has(Modifier::abs))
    refuse(in, ".xorsign and .abs go together");
  return pick_half_form<MinMaxHalf<Max>, 2>(in);
}

}  // namespace

ExecFn pick_add_half(const Instruction& in) { return pick_half_arithmetic<HalfAdd, 2>(in); }
ExecFn pick_sub_half(const Instruction& in) { return pick_half_arithmetic<HalfSub, 2>(in); }
ExecFn pick_mul_half(const Instruction& in) { return pick_half_arithmetic<HalfMul, 2>(in); }
ExecFn pick_fma_half(const Instruction& in) {
  if (in.has(Modifier::sat) && in.has(Modifier::relu))
    refuse(in, ".sat and .relu exclude each other");
  return pick_half_arithmetic<HalfFma, 3>(in);
}
ExecFn pick_neg_half(const Instruction& in) { return pick_half_form<NegHalf, 1>(in); }
ExecFn pick_abs_half(const Instruction& in) { return pick_half_form<AbsHalf, 1>(in); }
ExecFn pick_min_half(const Instruction& in) { return pick_half_minmax<false>(in); }
ExecFn pick_max_half(const Instruction& in) { return pick_half_minmax<true>(in); }

}  // namespace lab32::sim
