// Binds the approximations to the rows of opcodes.def. They cost more than the loop over lanes, so
// they run for active lanes only.
#include "simulator/core/semantics/approx.h"

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {
namespace {

using ptx::DataType;
using ptx::Instruction;
using ptx::Modifier;

template <class Op>
ExecFn pick_unary_f32() {
  return exec_with_modifiers<WithFtzSatAndCanonicalNan<Op>, float, float>;
}

// The compiler vectorises division and square root, also in double.
template <class Op, int Operands = 1>
ExecFn pick_host_vectorised_f32(const Instruction& in) {
  return in.has(Modifier::ftz)
             ? exec_with_subnormals_flushed<WithFtzSatAndCanonicalNan<Op>, Operands>
             : pick_without_modifiers<WithFtzSatAndCanonicalNan<Op>, float, Operands>();
}

template <class Row, class Exact>
void exec_fast_approximation_on_warp(const ExecContext& x, const Inst& in) {
  if (in.dst[0].bytes == 0) return;
  using Op = WithFtzSatAndCanonicalNan<Exact>;
  const FloatModifiers m = modifiers_of(*in.ptx);
  const std::byte* const s = x.regs + in.src[0].offset;
  std::byte* const d = x.regs + in.dst[0].offset;
  alignas(64) float of[kWarpSize];
  alignas(64) float result[kWarpSize];
  alignas(64) uint32_t doubt[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const auto b = load_lane<uint32_t>(s, lane);
    of[lane] = bit_copy<float>(m.ftz && (b & 0x7f800000u) == 0 ? b & 0x80000000u : b);
  }
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const double r = Row::fast_approximation(of[lane]);
    result[lane] = static_cast<float>(r);
    doubt[lane] = !(is_certainly_rounded(r, result[lane]) & Row::usual(of[lane]));
  }
  uint32_t any = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) any |= doubt[lane];
  for (uint32_t rest = any != 0 ? x.mask : 0; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (doubt[lane] != 0) result[lane] = Op::apply(m, of[lane]);
  }
  if (m.ftz)
    for (float& f : result) f = flush_subnormal(f);
  if (x.mask == kFullMask)
    std::memcpy(d, result, sizeof result);
  else
    copy_masked_lanes<float>(d, reinterpret_cast<const std::byte*>(result), x.mask);
}

template <class Op>
ExecFn pick_half_approximation(const Instruction& in) {
  return Halves::pick_or_refuse(in, in.type(), [](auto t) -> ExecFn {
    using T = TypeOf<decltype(t)>;
    using Half = HalfOp<Op>;
    return exec_with_modifiers<std::conditional_t<sizeof(T) == 4, BothHalves<Half>, Half>, T, T>;
  });
}

}  // namespace

ExecFn pick_div_approx(const Instruction& in) {
  if (!in.has(Modifier::full)) return pick_host_vectorised_f32<DivApprox, 2>(in);
  return pick_host_vectorised_f32<DivFull, 2>(in);
}
ExecFn pick_rcp_approx(const Instruction& in) {
  if (in.type() == DataType::f64 && !in.has(Modifier::ftz))
    refuse(in, "rcp.approx of .f64 needs .ftz");
  if (in.type() == DataType::f32) return pick_host_vectorised_f32<RcpApprox>(in);
  return exec_op_on_active_lanes<DoubleUpperWordApprox<Rcp64>, double, double>;
}
ExecFn pick_sqrt_approx(const Instruction& in) { return pick_host_vectorised_f32<SqrtApprox>(in); }
ExecFn pick_rsqrt_approx(const Instruction& in) {
  if (in.type() == DataType::f32)
    return exec_fast_approximation_on_warp<VectorisableRsqrt, RsqrtApprox>;
  if (!in.has(Modifier::ftz)) return exec_op_on_active_lanes<RsqrtDouble, double, double>;
  return exec_op_on_active_lanes<DoubleUpperWordApprox<Rsqrt64>, double, double>;
}
ExecFn pick_sin_approx(const Instruction&) { return pick_unary_f32<SinApprox>(); }
ExecFn pick_cos_approx(const Instruction&) { return pick_unary_f32<CosApprox>(); }
ExecFn pick_lg2_approx(const Instruction&) {
  return exec_fast_approximation_on_warp<VectorisableLg2, Lg2Approx>;
}
ExecFn pick_ex2_approx(const Instruction& in) {
  if (in.type() == DataType::f32)
    return exec_fast_approximation_on_warp<VectorisableEx2, Ex2Approx>;
  const bool brain = in.type() == DataType::bf16 || in.type() == DataType::bf16x2;
  if (brain != in.has(Modifier::ftz)) refuse(in, "ex2 has .ftz with bf16 and not with f16");
  return pick_half_approximation<HalfEx2>(in);
}
ExecFn pick_tanh_approx(const Instruction& in) {
  if (in.type() == DataType::f32) return pick_unary_f32<TanhApprox>();
  return pick_half_approximation<HalfTanh>(in);
}

}  // namespace lab32::sim
