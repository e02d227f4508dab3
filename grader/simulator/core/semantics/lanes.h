// The only loop over lanes and the only dispatch on type. The semantics of a row of opcodes.def is
// a function of one lane's values; this header turns it into a function that executes a warp.
//
// There are two invariants. Lanes outside ExecContext::mask keep their results. The function of a
// row may run on any lane's values, active or not, and inactive registers hold arbitrary values; so
// it must not trap. Integer division, for example, checks its operands itself.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "simulator/core/semantics/half.h"
#include "simulator/core/semantics/rounding.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

// --- access to slots ----------------------------------------------------------------------------

// Uses memcpy because a slot may hold a float now and an integer later; it compiles to a plain
// move.
template <class T>
inline T load_lane(const std::byte* slot, int lane) {
  T value;
  std::memcpy(&value, slot + lane * static_cast<int>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
inline void store_lane(std::byte* slot, int lane, T value) {
  std::memcpy(slot + lane * static_cast<int>(sizeof(T)), &value, sizeof(T));
}

inline uint32_t read_predicate(const ExecContext& x, const RegisterSlot& slot) {
  const uint32_t bits = load_lane<uint32_t>(x.regs + slot.offset, 0);
  return slot.negated ? ~bits : bits;
}

inline void write_predicate(const ExecContext& x, const RegisterSlot& slot, uint32_t bits) {
  if (slot.bytes == 0) return;  // '_'
  const uint32_t old = load_lane<uint32_t>(x.regs + slot.offset, 0);
  store_lane(x.regs + slot.offset, 0, (bits & x.mask) | (old & ~x.mask));
}

// --- the loop over lanes ------------------------------------------------------------------------

namespace detail {

template <size_t Bytes>
struct BitsOfSize;
template <>
struct BitsOfSize<1> {
  using type = uint8_t;
};
template <>
struct BitsOfSize<2> {
  using type = uint16_t;
};
template <>
struct BitsOfSize<4> {
  using type = uint32_t;
};
template <>
struct BitsOfSize<8> {
  using type = uint64_t;
};

}  // namespace detail

template <class T>
using BitsOf = typename detail::BitsOfSize<sizeof(T)>::type;

// Copies the lanes of `mask` from `result` to `slot`; the other lanes of `slot` stay. The two may
// not overlap.
template <class T>
inline void copy_masked_lanes(std::byte* __restrict slot, const std::byte* __restrict result,
                              uint32_t mask) {
  using Bits = BitsOf<T>;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    // The shift of a 32-bit value by the lane number is one instruction for eight lanes.
    const Bits keep = static_cast<Bits>(((mask >> lane) & 1u) - Bits{1});
    const Bits fresh = load_lane<Bits>(result, lane);
    const Bits old = load_lane<Bits>(slot, lane);
    store_lane(slot, lane, static_cast<Bits>((old & keep) | (fresh & ~keep)));
  }
}

namespace detail {

// Two slots are equal or disjoint, so no lane reads the result of another lane.
template <class D, class... S, class F, size_t... I>
inline void for_lanes(std::byte* d, const std::byte* const* s, F f, std::index_sequence<I...>) {
#pragma GCC ivdep
  for (int lane = 0; lane < kWarpSize; ++lane) {
    store_lane<D>(d, lane, f(load_lane<S>(s[I], lane)...));
  }
}

// For functions that cost more than the loop itself: calls f for the active lanes only.
template <class D, class... S, class F, size_t... I>
inline void for_active_lanes(const ExecContext& x, std::byte* d, const std::byte* const* s, F f,
                             std::index_sequence<I...>) {
  for (uint32_t rest = x.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    store_lane<D>(d, lane, f(load_lane<S>(s[I], lane)...));
  }
}

}  // namespace detail

// Computes d[lane] = f(src0[lane], …) for all lanes.
template <class D, class... S, class F>
inline void map_whole_warp(const ExecContext& x, const Inst& in, F f) {
  if (in.dst[0].bytes == 0) return;  // '_'
  const std::byte* s[sizeof...(S)];
  for (size_t i = 0; i < sizeof...(S); ++i) s[i] = x.regs + in.src[i].offset;
  detail::for_lanes<D, S...>(x.regs + in.dst[0].offset, s, f, std::index_sequence_for<S...>{});
}

// Executes the instruction for all 32 lanes and then restores the inactive ones. This costs less
// than a second loop in the code of each row.
void execute_and_restore_inactive(const ExecContext& x, const Inst& in, ExecFn whole_warp,
                                  size_t result_bytes);

// Computes d[lane] = f(src0[lane], …) for the active lanes.
template <class D, class... S, class F>
inline void map_lanes(const ExecContext& x, const Inst& in, F f) {
  if (x.mask == kFullMask) return map_whole_warp<D, S...>(x, in, f);
  if (in.dst[0].bytes == 0) return;
  alignas(32) std::byte result[kWarpSize * sizeof(D)];
  const std::byte* s[sizeof...(S)];
  for (size_t i = 0; i < sizeof...(S); ++i) s[i] = x.regs + in.src[i].offset;
  detail::for_lanes<D, S...>(result, s, f, std::index_sequence_for<S...>{});
  copy_masked_lanes<D>(x.regs + in.dst[0].offset, result, x.mask);
}

template <class D, class... S, class F>
inline void map_active_lanes(const ExecContext& x, const Inst& in, F f) {
  if (in.dst[0].bytes == 0) return;
  const std::byte* s[sizeof...(S)];
  for (size_t i = 0; i < sizeof...(S); ++i) s[i] = x.regs + in.src[i].offset;
  detail::for_active_lanes<D, S...>(x, x.regs + in.dst[0].offset, s, f,
                                    std::index_sequence_for<S...>{});
}

// Returns a mask with the bit f(s0[lane], …) of each of the 32 lanes.
template <class... S, class F, size_t... I>
inline uint32_t test_all_lanes(const std::byte* const* s, F f, std::index_sequence<I...>) {
  alignas(32) uint8_t flags[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) {
    flags[lane] = f(load_lane<S>(s[I], lane)...) ? 0xff : 0;
  }
  const auto half_mask = [&](int first) {
#ifdef __SSE2__
    const __m128i v = _mm_load_si128(reinterpret_cast<const __m128i*>(flags + first));
    return static_cast<uint32_t>(_mm_movemask_epi8(v));
#else
    uint32_t mask = 0;
    for (int lane = 0; lane < 16; ++lane) mask |= (flags[first + lane] & 1u) << lane;
    return mask;
#endif
  };
  return half_mask(0) | half_mask(16) << 16;
}

template <class... S, class F>
inline uint32_t test_all_lanes(const std::array<const std::byte*, sizeof...(S)>& s, F f) {
  return test_all_lanes<S...>(s.data(), f, std::index_sequence_for<S...>{});
}

template <class... S, class F>
inline uint32_t test_sources_of_all_lanes(const ExecContext& x, const Inst& in, F f) {
  std::array<const std::byte*, sizeof...(S)> s;
  for (size_t i = 0; i < sizeof...(S); ++i) s[i] = x.regs + in.src[i].offset;
  return test_all_lanes<S...>(s, f);
}

// --- the semantics of a row as an ExecFn --------------------------------------------------------

// Op::apply(S...) -> D is the row's function.
template <class Op, class D, class... S>
void exec_op_on_lanes(const ExecContext& x, const Inst& in) {
  if (x.mask != kFullMask)
    return execute_and_restore_inactive(x, in, exec_op_on_lanes<Op, D, S...>, sizeof(D));
  map_whole_warp<D, S...>(x, in, [](S... s) -> D { return Op::apply(s...); });
}

template <class Op, class D, class... S>
void exec_op_on_active_lanes(const ExecContext& x, const Inst& in) {
  map_active_lanes<D, S...>(x, in, [](S... s) -> D { return Op::apply(s...); });
}

inline FloatModifiers modifiers_of(const ptx::Instruction& in) {
  using ptx::Modifier;
  return {in.has(Modifier::ftz), in.has(Modifier::sat), in.has(Modifier::relu),
          in.has(Modifier::NaN), in.has(Modifier::xorsign)};
}

// Op::apply(FloatModifiers, S...) -> D. Nearly all instructions have no modifiers and get a loop of
// their own. All others share one loop that reads the modifiers at run time; a loop for each
// combination would double the compile time.
template <class Op, class D, class... S>
void exec_without_modifiers(const ExecContext& x, const Inst& in) {
  if (x.mask != kFullMask)
    return execute_and_restore_inactive(x, in, exec_without_modifiers<Op, D, S...>, sizeof(D));
  map_whole_warp<D, S...>(x, in, [](S... s) -> D { return Op::apply(FloatModifiers{}, s...); });
}

template <class Op, class D, class... S>
void exec_with_modifiers(const ExecContext& x, const Inst& in) {
  const FloatModifiers m = modifiers_of(*in.ptx);
  map_active_lanes<D, S...>(x, in, [m](S... s) -> D { return Op::apply(m, s...); });
}

// Executes `plain`, which has no modifiers, and clamps the result to [0, 1].
void execute_saturated(const ExecContext& x, const Inst& in, ExecFn plain);
// Gives the same result as `modified` with .ftz (and perhaps .sat), but faster: runs `plain` on
// flushed operands, and `modified` only for lanes whose result may be below the normal numbers.
void execute_with_subnormals_flushed(const ExecContext& x, const Inst& in, ExecFn plain,
                                     ExecFn modified);

template <class Op, class T, int Operands>
constexpr ExecFn pick_without_modifiers() {
  if constexpr (Operands == 1)
    return exec_without_modifiers<Op, T, T>;
  else if constexpr (Operands == 2)
    return exec_without_modifiers<Op, T, T, T>;
  else
    return exec_without_modifiers<Op, T, T, T, T>;
}

template <class Op, class T, int Operands>
constexpr ExecFn pick_with_modifiers() {
  if constexpr (Operands == 1)
    return exec_with_modifiers<Op, T, T>;
  else if constexpr (Operands == 2)
    return exec_with_modifiers<Op, T, T, T>;
  else
    return exec_with_modifiers<Op, T, T, T, T>;
}

template <class Op, int Operands>
void exec_saturated(const ExecContext& x, const Inst& in) {
  execute_saturated(x, in, pick_without_modifiers<Op, float, Operands>());
}
template <class Op, int Operands>
void exec_with_subnormals_flushed(const ExecContext& x, const Inst& in) {
  execute_with_subnormals_flushed(x, in, pick_without_modifiers<Op, float, Operands>(),
                                  pick_with_modifiers<Op, float, Operands>());
}

template <class Op, class T>
constexpr ExecFn unary_exec_fn() {
  return exec_op_on_lanes<Op, T, T>;
}
template <class Op, class T>
constexpr ExecFn binary_exec_fn() {
  return exec_op_on_lanes<Op, T, T, T>;
}
template <class Op, class T>
constexpr ExecFn ternary_exec_fn() {
  return exec_op_on_lanes<Op, T, T, T, T>;
}

// --- the dispatch on type -----------------------------------------------------------------------

// Two halves in one 32-bit register; element 0 is the lower one.
template <class T>
struct HalfPair {
  T lo, hi;
};
using F16x2 = HalfPair<F16>;
using BF16x2 = HalfPair<BF16>;

// Applies a function of halves to both elements of a pair.
template <class Op>
struct BothHalves {
  template <class P, class... Rest>
  static P apply(FloatModifiers m, P a, Rest... rest) {
    return {Op::apply(m, a.lo, rest.lo...), Op::apply(m, a.hi, rest.hi...)};
  }
};

// The 32 bits of a tf32 value. PTX keeps it in a .b32 register.
struct TF32 {
  uint32_t bits;
};

template <class T>
struct TypeTag {
  using type = T;
};
template <class T>
using TypeOf = typename T::type;

// Calls f with the host type of a PTX type. A .b type counts as unsigned.
template <class F>
ExecFn with_host_type(ptx::DataType type, F f) {
  using ptx::DataType;
  switch (type) {
    case DataType::u8:
    case DataType::b8:
      return f(TypeTag<uint8_t>{});
    case DataType::u16:
    case DataType::b16:
      return f(TypeTag<uint16_t>{});
    case DataType::u32:
    case DataType::b32:
      return f(TypeTag<uint32_t>{});
    case DataType::u64:
    case DataType::b64:
      return f(TypeTag<uint64_t>{});
    case DataType::s8:
      return f(TypeTag<int8_t>{});
    case DataType::s16:
      return f(TypeTag<int16_t>{});
    case DataType::s32:
      return f(TypeTag<int32_t>{});
    case DataType::s64:
      return f(TypeTag<int64_t>{});
    case DataType::f16:
      return f(TypeTag<F16>{});
    case DataType::bf16:
      return f(TypeTag<BF16>{});
    case DataType::f16x2:
      return f(TypeTag<F16x2>{});
    case DataType::bf16x2:
      return f(TypeTag<BF16x2>{});
    case DataType::f32:
      return f(TypeTag<float>{});
    case DataType::f64:
      return f(TypeTag<double>{});
    case DataType::tf32:
      return f(TypeTag<TF32>{});
    default:
      return nullptr;
  }
}

// Accepts only the listed host types and refuses the instruction for any other type.
template <class... Allowed>
struct OneOfTypes {
  template <class F>
  static ExecFn pick_or_refuse(const ptx::Instruction& in, ptx::DataType type, F f) {
    const ExecFn fn = with_host_type(type, [&](auto tag) -> ExecFn {
      if constexpr ((std::is_same_v<TypeOf<decltype(tag)>, Allowed> || ...)) {
        return f(tag);
      } else {
        return nullptr;
      }
    });
    if (fn == nullptr) refuse(in);
    return fn;
  }
};

using Integers = OneOfTypes<uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>;
using Words = OneOfTypes<uint32_t, int32_t, uint64_t, int64_t>;
using Unsigned = OneOfTypes<uint16_t, uint32_t, uint64_t>;
using Floats = OneOfTypes<float, double>;
using Halves = OneOfTypes<F16, BF16, F16x2, BF16x2>;

// The unsigned type of the same width, for rows in which signedness and meaning do not matter.
inline ptx::DataType unsigned_type_of_same_width(ptx::DataType type) {
  switch (ptx::bits_of(type)) {
    case 8:
      return ptx::DataType::u8;
    case 16:
      return ptx::DataType::u16;
    case 32:
      return ptx::DataType::u32;
    case 64:
      return ptx::DataType::u64;
    default:
      return ptx::DataType::none;
  }
}

// Calls f with std::true_type or std::false_type.
template <class F>
ExecFn with_bool(bool value, F f) {
  return value ? f(std::true_type{}) : f(std::false_type{});
}

}  // namespace lab32::sim
