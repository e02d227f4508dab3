// Binds the conversions from and to pairs of 8-bit floats, in table order.
#include "simulator/core/semantics/float8.h"

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Type;

template <class E>
uint16_t pair_of(double high, double low, bool relu) {
  return static_cast<uint16_t>(to_float8<E>(high, relu) << 8 | to_float8<E>(low, relu));
}

template <class E>
void exec_from_floats(const Exec& x, const Inst& in) {
  const bool relu = in.ptx->has(Mod::relu);
  map_active_lanes<uint16_t, float, float>(
      x, in, [relu](float a, float b) -> uint16_t { return pair_of<E>(a, b, relu); });
}

template <class E>
void exec_from_halves(const Exec& x, const Inst& in) {
  const bool relu = in.ptx->has(Mod::relu);
  map_active_lanes<uint16_t, F16x2>(x, in, [relu](F16x2 a) -> uint16_t {
    return pair_of<E>(to_float(a.hi), to_float(a.lo), relu);
  });
}

template <class E>
void exec_to_halves(const Exec& x, const Inst& in) {
  const bool relu = in.ptx->has(Mod::relu);
  const auto one = [relu](int bits) -> F16 {
    const F16 half = half_of<E>(static_cast<uint8_t>(bits));
    return relu && is_negative(half) ? F16{0} : half;
  };
  map_active_lanes<F16x2, uint16_t>(x, in, [one](uint16_t a) -> F16x2 {
    return {one(a & 0xff), one(a >> 8)};
  });
}

}  // namespace

ExecFn pick_cvt_float8(const Instruction& in) {
  return in.type(0) == Type::e4m3x2 ? exec_from_floats<E4M3> : exec_from_floats<E5M2>;
}
ExecFn pick_cvt_float8_halves(const Instruction& in) {
  return in.type(0) == Type::e4m3x2 ? exec_from_halves<E4M3> : exec_from_halves<E5M2>;
}
ExecFn pick_cvt_halves_float8(const Instruction& in) {
  return in.type(1) == Type::e4m3x2 ? exec_to_halves<E4M3> : exec_to_halves<E5M2>;
}

}  // namespace lab32::sim
