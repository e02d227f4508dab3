// Binds the approximations. They cost more than the loop over lanes: active lanes only.
#include "simulator/core/semantics/approx.h"

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Type;

template <class Op>
ExecFn pick_unary_f32() {
  return exec_modified<FloatOp<Op>, float, float>;
}

template <class Op>
ExecFn pick_binary_f32() {
  return exec_modified<FloatOp<Op>, float, float, float>;
}

template <class Op, class Op64>
ExecFn pick_f32_or_f64(const Instruction& in) {
  if (in.type() == Type::f32) return pick_unary_f32<Op>();
  return exec_active_lanes<Op64, double, double>;
}

template <class Op>
ExecFn pick_half_op(const Instruction& in) {
  return Halves::pick(in, in.type(), [](auto t) -> ExecFn {
    using T = TypeOf<decltype(t)>;
    using Half = HalfOp<Op>;
    return exec_modified<std::conditional_t<sizeof(T) == 4, Both<Half>, Half>, T, T>;
  });
}

}  // namespace

ExecFn pick_div_approx(const Instruction& in) {
  return in.has(Mod::full) ? pick_binary_f32<DivFull>() : pick_binary_f32<DivApprox>();
}
ExecFn pick_rcp_approx(const Instruction& in) {
  if (in.type() == Type::f64 && !in.has(Mod::ftz)) refuse(in, "rcp.approx of .f64 needs .ftz");
  return pick_f32_or_f64<RcpApprox, UpperWordOp<Rcp64>>(in);
}
ExecFn pick_sqrt_approx(const Instruction&) { return pick_unary_f32<SqrtApprox>(); }
ExecFn pick_rsqrt_approx(const Instruction& in) {
  if (!in.has(Mod::ftz)) return pick_f32_or_f64<RsqrtApprox, RsqrtWide>(in);
  return pick_f32_or_f64<RsqrtApprox, UpperWordOp<Rsqrt64>>(in);
}
ExecFn pick_sin_approx(const Instruction&) { return pick_unary_f32<SinApprox>(); }
ExecFn pick_cos_approx(const Instruction&) { return pick_unary_f32<CosApprox>(); }
ExecFn pick_lg2_approx(const Instruction&) { return pick_unary_f32<Lg2Approx>(); }
ExecFn pick_ex2_approx(const Instruction& in) {
  if (in.type() == Type::f32) return pick_unary_f32<Ex2Approx>();
  const bool brain = in.type() == Type::bf16 || in.type() == Type::bf16x2;
  if (brain != in.has(Mod::ftz)) refuse(in, "ex2 has .ftz with bf16 and not with f16");
  return pick_half_op<HalfEx2>(in);
}
ExecFn pick_tanh_approx(const Instruction& in) {
  if (in.type() == Type::f32) return pick_unary_f32<TanhApprox>();
  return pick_half_op<HalfTanh>(in);
}

}  // namespace lab32::sim
