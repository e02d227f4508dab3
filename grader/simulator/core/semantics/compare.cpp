// Comparison (PTX ISA 9.0, 9.7.6) on one lane's values.
#include <type_traits>

#include "simulator/core/semantics/float.h"
#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {

enum class Compare { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

// The forms with u are true if an operand is NaN. For integers they do not exist.
template <Compare C, class T>
inline bool compare(T a, T b) {
  switch (C) {
    case Compare::eq:
      return a == b;
    case Compare::ne:
      return a < b || a > b;  // false for NaN, unlike !=
    case Compare::lt:
      return a < b;
    case Compare::le:
      return a <= b;
    case Compare::gt:
      return a > b;
    case Compare::ge:
      return a >= b;
    case Compare::equ:
      return !(a < b || a > b);
    case Compare::neu:
      return !(a == b);
    case Compare::ltu:
      return !(a >= b);
    case Compare::leu:
      return !(a > b);
    case Compare::gtu:
      return !(a <= b);
    case Compare::geu:
      return !(a < b);
    // A value that differs from itself is a NaN.
    // NOLINTBEGIN(misc-redundant-expression)
    case Compare::num:
      return a == a && b == b;
    case Compare::nan:
      return a != a || b != b;
      // NOLINTEND(misc-redundant-expression)
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// set, setp, selp and slct for all types.

namespace {

using ptx::DataType;
using ptx::Instruction;
using ptx::Modifier;

// --- which comparison ----------------------------------------------------------------------------

template <Compare C>
using CompareTag = std::integral_constant<Compare, C>;

template <class F>
ExecFn pick_equality_comparison(const Instruction& in, F f) {
  if (in.has(Modifier::eq)) return f(CompareTag<Compare::eq>{});
  if (in.has(Modifier::ne)) return f(CompareTag<Compare::ne>{});
  return nullptr;
}

template <class F>
ExecFn pick_ordered_comparison(const Instruction& in, F f) {
  if (in.has(Modifier::lt)) return f(CompareTag<Compare::lt>{});
  if (in.has(Modifier::le)) return f(CompareTag<Compare::le>{});
  if (in.has(Modifier::gt)) return f(CompareTag<Compare::gt>{});
  if (in.has(Modifier::ge)) return f(CompareTag<Compare::ge>{});
  return pick_equality_comparison(in, f);
}

// lo, ls, hi, hs are other names of the unsigned orders.
template <class F>
ExecFn pick_unsigned_comparison(const Instruction& in, F f) {
  if (in.has(Modifier::lo)) return f(CompareTag<Compare::lt>{});
  if (in.has(Modifier::ls)) return f(CompareTag<Compare::le>{});
  if (in.has(Modifier::hi)) return f(CompareTag<Compare::gt>{});
  if (in.has(Modifier::hs)) return f(CompareTag<Compare::ge>{});
  return pick_ordered_comparison(in, f);
}

template <class F>
ExecFn pick_comparison_with_unordered(const Instruction& in, F f) {
  if (in.has(Modifier::equ)) return f(CompareTag<Compare::equ>{});
  if (in.has(Modifier::neu)) return f(CompareTag<Compare::neu>{});
  if (in.has(Modifier::ltu)) return f(CompareTag<Compare::ltu>{});
  if (in.has(Modifier::leu)) return f(CompareTag<Compare::leu>{});
  if (in.has(Modifier::gtu)) return f(CompareTag<Compare::gtu>{});
  if (in.has(Modifier::geu)) return f(CompareTag<Compare::geu>{});
  if (in.has(Modifier::num)) return f(CompareTag<Compare::num>{});
  if (in.has(Modifier::nan)) return f(CompareTag<Compare::nan>{});
  return pick_ordered_comparison(in, f);
}

// Calls f(tag of the operand type, comparison, ftz) if the ISA allows the comparison for the
// operand type.
template <class F>
ExecFn pick_comparison(const Instruction& in, DataType type, F f) {
  if (in.has(Modifier::ftz) && type != DataType::f32) refuse(in, ".ftz is for .f32 operands only");
  const bool untyped = type == DataType::b16 || type == DataType::b32 || type == DataType::b64;
  using Comparable =
      OneOfTypes<uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, float, double>;
  return Comparable::pick_or_refuse(in, type, [&](auto tag) -> ExecFn {
    using T = TypeOf<decltype(tag)>;
    const auto strict = [&](auto c) { return f(tag, c, std::false_type{}); };
    if constexpr (std::is_same_v<T, float>) {
      return pick_comparison_with_unordered(in, [&](auto c) {
        return with_bool(in.has(Modifier::ftz), [&](auto ftz) { return f(tag, c, ftz); });
      });
    } else if constexpr (std::is_same_v<T, double>) {
      return pick_comparison_with_unordered(in, strict);
    } else if constexpr (std::is_signed_v<T>) {
      return pick_ordered_comparison(in, strict);
    } else {
      return untyped ? pick_equality_comparison(in, strict) : pick_unsigned_comparison(in, strict);
    }
  });
}

// Four comparisons of floats and two of integers are compiled; all others swap the operands or
// negate the result. setp and set share them. (With NaN, a > b equals b < a but not !(a <= b).)
struct CanonicalComparison {
  Compare from;
  bool swapped = false, negated = false;
};

constexpr CanonicalComparison canonical_comparison_of(Compare c, bool integer) {
  switch (c) {
    case Compare::ne:
      return integer ? CanonicalComparison{Compare::eq, false, true}
                     : CanonicalComparison{Compare::ne};
    case Compare::gt:
      return {Compare::lt, true};
    case Compare::le:
      return integer ? CanonicalComparison{Compare::lt, true, true}
                     : CanonicalComparison{Compare::le};
    case Compare::ge:
      return integer ? CanonicalComparison{Compare::lt, false, true}
                     : CanonicalComparison{Compare::le, true};
    case Compare::equ:
      return {Compare::ne, false, true};
    case Compare::neu:
      return {Compare::eq, false, true};
    case Compare::ltu:
      return {Compare::le, true, true};
    case Compare::leu:
      return {Compare::lt, true, true};
    case Compare::gtu:
      return {Compare::le, false, true};
    case Compare::geu:
      return {Compare::lt, false, true};
    case Compare::nan:
      return {Compare::num, false, true};
    default:
      return {c};
  }
}

template <class T, Compare C, bool Ftz>
[[gnu::noinline]] uint32_t compare_slots(const std::byte* a, const std::byte* b) {
  return test_all_lanes<T, T>({a, b}, [](T x, T y) {
    if constexpr (Ftz) {
      return compare<C>(flush_subnormal(x), flush_subnormal(y));
    } else {
      return compare<C>(x, y);
    }
  });
}

template <class T, Compare C, bool Ftz>
uint32_t compare_lanes(const ExecContext& x, const Inst& in) {
  constexpr CanonicalComparison base = canonical_comparison_of(C, std::is_integral_v<T>);
  // Equality of integers does not depend on their signedness.
  using Compared = typename std::conditional_t<std::is_integral_v<T> && base.from == Compare::eq,
                                               detail::BitsOfSize<sizeof(T)>, TypeTag<T>>::type;
  const std::byte* const a = x.regs + in.src[base.swapped ? 1 : 0].offset;
  const std::byte* const b = x.regs + in.src[base.swapped ? 0 : 1].offset;
  const uint32_t result = compare_slots<Compared, base.from, Ftz>(a, b);
  return base.negated ? ~result : result;
}

// --- the results --------------------------------------------------------------------------------

bool has_bool_op(const Instruction& in) {
  return in.has(Modifier::op_and) || in.has(Modifier::op_or) || in.has(Modifier::op_xor);
}

// Combines a comparison result with predicate operand c, if there is one.
uint32_t combine_with_predicate(const ExecContext& x, const Inst& in, uint32_t result) {
  if (in.src_count < 3) return result;
  const uint32_t c = read_predicate(x, in.src[2]);
  if (in.ptx->has(Modifier::op_and)) return result & c;
  return in.ptx->has(Modifier::op_or) ? result | c : result ^ c;
}

// Computes p = (a ? b) op c and q = !(a ? b) op c. Both are computed before either is written,
// because c may be the register of p or q.
[[gnu::noinline]] void write_pair(const ExecContext& x, const Inst& in, uint32_t p, uint32_t q) {
  p = combine_with_predicate(x, in, p);
  q = combine_with_predicate(x, in, q);
  write_predicate(x, in.dst[0], p);
  if (in.dst_count > 1) write_predicate(x, in.dst[1], q);
}

template <class T, Compare C, bool Ftz>
void exec_setp(const ExecContext& x, const Inst& in) {
  const uint32_t result = compare_lanes<T, C, Ftz>(x, in);
  write_pair(x, in, result, ~result);
}

ExecFn pick_setp_form(const Instruction& in) {
  return pick_comparison(in, in.type(), [](auto type, auto c, auto ftz) -> ExecFn {
    return exec_setp<TypeOf<decltype(type)>, decltype(c)::value, decltype(ftz)::value>;
  });
}

// Writes `if_true` to the active lanes whose bit is set in `result`, and 0 to the other active
// lanes.
template <class Bits>
void write_value_or_zero(const ExecContext& x, const Inst& in, uint32_t result, Bits if_true) {
  std::byte* const d = x.regs + in.dst[0].offset;
  for (uint32_t rest = x.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    store_lane<Bits>(d, lane, (result >> lane & 1) != 0 ? if_true : Bits{0});
  }
}

[[gnu::noinline]] void write_set(const ExecContext& x, const Inst& in, uint32_t result) {
  const bool to_float = in.ptx->type() == DataType::f32;
  write_value_or_zero<uint32_t>(x, in, combine_with_predicate(x, in, result),
                                to_float ? 0x3f800000u : 0xffffffffu);
}

template <class T, Compare C, bool Ftz>
void exec_set(const ExecContext& x, const Inst& in) {
  write_set(x, in, compare_lanes<T, C, Ftz>(x, in));
}

ExecFn pick_set_form(const Instruction& in) {
  return pick_comparison(in, in.type(1), [](auto type, auto c, auto ftz) -> ExecFn {
    return exec_set<TypeOf<decltype(type)>, decltype(c)::value, decltype(ftz)::value>;
  });
}

// --- half precision ------------------------------------------------------------------------------

template <class T>
constexpr bool kIsPair = sizeof(T) == 4;

template <class H>
float half_to_float(H h, bool ftz) {
  if (ftz && is_subnormal(h)) return is_negative(h) ? -0.0f : 0.0f;
  return to_float(h);
}

// Converts operand `i` of all lanes to floats. If the operand is a pair, converts its upper or its
// lower half.
template <class T, bool High>
[[gnu::noinline]] void half_operands(const ExecContext& x, const Inst& in, int i, float* to) {
  const bool ftz = in.ptx->has(Modifier::ftz);
  const std::byte* const from = x.regs + in.src[i].offset;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const T value = load_lane<T>(from, lane);
    if constexpr (kIsPair<T>)
      to[lane] = half_to_float(High ? value.hi : value.lo, ftz);
    else
      to[lane] = half_to_float(value, ftz);
  }
}

template <Compare C>
[[gnu::noinline]] uint32_t compare_floats(const float* a, const float* b) {
  uint32_t result = 0;
  for (int lane = 0; lane < kWarpSize; ++lane)
    result |= static_cast<uint32_t>(compare<C>(a[lane], b[lane])) << lane;
  return result;
}

using CompareFloats = uint32_t (*)(const float* a, const float* b);

template <class T, bool High>
uint32_t compare_halves(const ExecContext& x, const Inst& in, CompareFloats compares) {
  float a[kWarpSize], b[kWarpSize];
  half_operands<T, High>(x, in, 0, a);
  half_operands<T, High>(x, in, 1, b);
  return compares(a, b);
}

// Compares halves in all lanes and returns a bit per lane. For pairs it returns one mask for each
// half.
template <class T>
[[gnu::noinline]] void compare_half_lanes(const ExecContext& x, const Inst& in,
                                          CompareFloats compares, uint32_t* lo, uint32_t* hi) {
  *lo = compare_halves<T, false>(x, in, compares);
  if constexpr (kIsPair<T>)
    *hi = compare_halves<T, true>(x, in, compares);
  else
    *hi = ~*lo;
}

template <class T, Compare C>
void exec_setp_half(const ExecContext& x, const Inst& in) {
  uint32_t p, q;
  compare_half_lanes<T>(x, in, compare_floats<C>, &p, &q);
  write_pair(x, in, p, q);
}

template <class F>
ExecFn pick_half_comparison(const Instruction& in, DataType type, F exec_fn_for) {
  const bool brain = type == DataType::bf16 || type == DataType::bf16x2;
  if (brain && in.has(Modifier::ftz)) refuse(in, ".ftz is for .f16 operands only");
  return Halves::pick_or_refuse(in, type, [&](auto tag) {
    return pick_comparison_with_unordered(in, [&](auto c) { return exec_fn_for(tag, c); });
  });
}

// Whether the ISA has the instruction `set` with these types of the result and the operands.
bool isa_has_set_half(DataType result, DataType operand) {
  const bool pair = operand == DataType::f16x2 || operand == DataType::bf16x2;
  if (result == operand || result == DataType::u32 || result == DataType::s32) return true;
  return !pair && (result == DataType::u16 || result == DataType::s16);
}

template <class H>
uint16_t half_compare_true_bits(DataType result) {
  return is_float(result) ? H::one : uint16_t{0xffff};
}

template <class T>
[[gnu::noinline]] void exec_set_half_by(const ExecContext& x, const Inst& in,
                                        CompareFloats compares) {
  const DataType result = in.ptx->type();
  uint32_t lo, hi;
  compare_half_lanes<T>(x, in, compares, &lo, &hi);
  if constexpr (kIsPair<T>) {
    const uint32_t one = half_compare_true_bits<decltype(T::lo)>(result);
    std::byte* const d = x.regs + in.dst[0].offset;
    for (uint32_t rest = x.mask; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      store_lane(d, lane, (lo >> lane & 1) * one | (hi >> lane & 1) * (one << 16));
    }
  } else if (ptx::bits_of(result) == 32) {
    write_value_or_zero<uint32_t>(x, in, lo, 0xffffffffu);
  } else {
    write_value_or_zero<uint16_t>(x, in, lo, half_compare_true_bits<T>(result));
  }
}

template <class T, Compare C>
void exec_set_half(const ExecContext& x, const Inst& in) {
  exec_set_half_by<T>(x, in, compare_floats<C>);
}

// --- selection -----------------------------------------------------------------------------------

template <class T>
void exec_selp(const ExecContext& x, const Inst& in) {
  if (x.mask != kFullMask) return execute_and_restore_inactive(x, in, exec_selp<T>, sizeof(T));
  const uint32_t p = read_predicate(x, in.src[2]);
  const std::byte* const a = x.regs + in.src[0].offset;
  const std::byte* const b = x.regs + in.src[1].offset;
  std::byte* const d = x.regs + in.dst[0].offset;
#pragma GCC ivdep
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const T keep = static_cast<T>(((p >> lane) & 1u) - T{1});
    const T of_a = load_lane<T>(a, lane), of_b = load_lane<T>(b, lane);
    store_lane(d, lane, static_cast<T>((of_b & keep) | (of_a & ~keep)));
  }
}

template <bool Ftz>
struct Slct {
  template <class T, class U>
  static T apply(T a, T b, U c) {
    if constexpr (Ftz) c = flush_subnormal(c);
    return c >= U{0} ? a : b;  // NaN: b
  }
};

}  // namespace

ExecFn pick_set_bool(const Instruction& in) { return pick_set_form(in); }
ExecFn pick_set(const Instruction& in) { return pick_set_form(in); }
ExecFn pick_set_half(const Instruction& in) {
  if (!isa_has_set_half(in.type(0), in.type(1))) refuse(in);
  return pick_half_comparison(in, in.type(1), [](auto type, auto c) -> ExecFn {
    return exec_set_half<TypeOf<decltype(type)>, decltype(c)::value>;
  });
}
ExecFn pick_setp_bool(const Instruction& in) { return pick_setp_form(in); }
ExecFn pick_setp(const Instruction& in) { return pick_setp_form(in); }
ExecFn pick_setp_half(const Instruction& in) {
  const bool pair = ptx::bits_of(in.type()) == 32;
  if (has_bool_op(in) != in.has_operand(3)) {
    refuse(in, "a predicate operand and .and, .or or .xor go together");
  }
  if (!pair && in.operands[0].kind == ptx::Operand::Kind::pair) {
    refuse(in, "two results are for .f16x2 and .bf16x2: one for each half");
  }
  return pick_half_comparison(in, in.type(), [](auto type, auto c) -> ExecFn {
    return exec_setp_half<TypeOf<decltype(type)>, decltype(c)::value>;
  });
}
ExecFn pick_selp(const Instruction& in) {
  return Unsigned::pick_or_refuse(in, unsigned_type_of_same_width(in.type()),
                                  [](auto t) -> ExecFn { return exec_selp<TypeOf<decltype(t)>>; });
}
ExecFn pick_slct(const Instruction& in) {
  if (in.has(Modifier::ftz) && in.type(1) != DataType::f32)
    refuse(in, ".ftz needs an .f32 selector");
  return Unsigned::pick_or_refuse(
      in, unsigned_type_of_same_width(in.type()), [&](auto t) -> ExecFn {
        using T = TypeOf<decltype(t)>;
        if (in.type(1) == DataType::s32) return exec_op_on_lanes<Slct<false>, T, T, T, int32_t>;
        return in.has(Modifier::ftz) ? exec_op_on_lanes<Slct<true>, T, T, T, float>
                                     : exec_op_on_lanes<Slct<false>, T, T, T, float>;
      });
}

}  // namespace lab32::sim
