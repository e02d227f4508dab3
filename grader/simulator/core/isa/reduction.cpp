#include "simulator/core/isa/reduction.h"

#include <cmath>
#include <cstring>

#include "simulator/core/semantics/float.h"
#include "simulator/core/semantics/half.h"
#include "simulator/core/semantics/update.h"

namespace lab32::sim {
namespace {

using ptx::Mod;
using ptx::Type;

template <class T, class Op>
Reduction reduction() {
  const auto apply = [](std::byte* at, const std::byte* value) {
    T old, v;
    std::memcpy(&old, at, sizeof old);
    std::memcpy(&v, value, sizeof v);
    const T now = Op::apply(old, v);
    std::memcpy(at, &now, sizeof now);
  };
  return {apply, sizeof(T)};
}

// The PTX ISA has add.f32 flush subnormal numbers to zero; an H100 keeps them (2026-11-26). NaN is
// that of other additions.
struct AddFloats {
  static float apply(float old, float v) {
    const float sum = update::Add::apply(old, v);
    return std::isnan(sum) ? bit_copy<float>(0x7fffffffu) : sum;
  }
};

// Of a number and a NaN, the number.
template <class H, bool most>
struct ExtremeHalf {
  static uint16_t apply(uint16_t old, uint16_t v) {
    return MinMaxHalf<most>::apply(Modifiers{}, H{old}, H{v}).bits;
  }
};

template <class T>
Reduction sum_or_extreme(const ptx::Instruction& in) {
  if (in.has(Mod::add)) return reduction<T, update::Add>();
  if (in.has(Mod::min)) return reduction<T, update::Min>();
  if (in.has(Mod::max)) return reduction<T, update::Max>();
  return {};
}

template <class T>
Reduction of_bits(const ptx::Instruction& in) {
  if (in.has(Mod::op_and)) return reduction<T, update::And>();
  if (in.has(Mod::op_or)) return reduction<T, update::Or>();
  if (in.has(Mod::op_xor)) return reduction<T, update::Xor>();
  return {};
}

template <class H>
Reduction of_halves(const ptx::Instruction& in) {
  if (in.has(Mod::add)) return reduction<uint16_t, update::AddHalf<H>>();
  if (in.has(Mod::min)) return reduction<uint16_t, ExtremeHalf<H, false>>();
  if (in.has(Mod::max)) return reduction<uint16_t, ExtremeHalf<H, true>>();
  return {};
}

}  // namespace

Reduction reduction_of(const ptx::Instruction& in, Type type) {
  switch (type) {
    case Type::u32:
      if (in.has(Mod::inc)) return reduction<uint32_t, update::Inc>();
      if (in.has(Mod::dec)) return reduction<uint32_t, update::Dec>();
      return sum_or_extreme<uint32_t>(in);
    case Type::s32:
      return sum_or_extreme<int32_t>(in);
    case Type::u64:
      return sum_or_extreme<uint64_t>(in);
    case Type::s64:
      return sum_or_extreme<int64_t>(in);
    case Type::b32:
      return of_bits<uint32_t>(in);
    case Type::b64:
      return of_bits<uint64_t>(in);
    case Type::f16:
      return of_halves<F16>(in);
    case Type::bf16:
      return of_halves<BF16>(in);
    case Type::f32:
      return in.has(Mod::add) ? reduction<float, AddFloats>() : Reduction{};
    case Type::f64:
      return in.has(Mod::add) ? reduction<double, update::Add>() : Reduction{};
    default:
      return {};
  }
}

}  // namespace lab32::sim
