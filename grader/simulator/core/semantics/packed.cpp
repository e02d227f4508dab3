// Instructions on parts of a register: packed integers and the video instructions.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {

// Packed integers: two or four elements in a 32-bit register.

// The i-th of the N elements of a word, sign- or zero-extended according to its type.
template <int N, bool is_signed>
inline int32_t extract_element(uint32_t word, int i) {
  constexpr int bits = 32 / N;
  const uint32_t raw = word >> (i * bits) & ((uint32_t{1} << bits) - 1);
  if (!is_signed) return static_cast<int32_t>(raw);
  return static_cast<int32_t>(raw << (32 - bits)) >> (32 - bits);
}

template <int N, class F>
inline uint32_t pack_elements(F f) {
  constexpr int bits = 32 / N;
  uint32_t word = 0;
  for (int i = 0; i < N; ++i)
    word |= (static_cast<uint32_t>(f(i)) & ((uint32_t{1} << bits) - 1)) << (i * bits);
  return word;
}

// add.u16x2 and add.s16x2: there is no carry from one half to the other.
struct AddInt16X2 {
  static uint32_t apply(uint32_t a, uint32_t b) {
    return pack_elements<2>(
        [&](int i) { return extract_element<2, false>(a, i) + extract_element<2, false>(b, i); });
  }
};

// With .relu a negative result becomes 0.
template <bool is_signed, bool relu>
struct MinInt16X2 {
  static uint32_t apply(uint32_t a, uint32_t b) {
    return pack_elements<2>([&](int i) {
      const int32_t least =
          std::min(extract_element<2, is_signed>(a, i), extract_element<2, is_signed>(b, i));
      return relu ? std::max(least, 0) : least;
    });
  }
};
template <bool is_signed, bool relu>
struct MaxInt16X2 {
  static uint32_t apply(uint32_t a, uint32_t b) {
    return pack_elements<2>([&](int i) {
      const int32_t most =
          std::max(extract_element<2, is_signed>(a, i), extract_element<2, is_signed>(b, i));
      return relu ? std::max(most, 0) : most;
    });
  }
};
struct MinReluInt {
  static int32_t apply(int32_t a, int32_t b) { return std::max(std::min(a, b), 0); }
};
struct MaxReluInt {
  static int32_t apply(int32_t a, int32_t b) { return std::max(std::max(a, b), 0); }
};

// cvt.pack.sat clamps a and b to the range of the narrow type and packs a above b. If there is an
// operand c, its low bits are packed above both.
template <class Narrow>
struct ClampToNarrow {
  static constexpr int kBits = 8 * sizeof(Narrow);
  static uint32_t clamped_bits(int32_t v) {
    using Range = std::numeric_limits<Narrow>;
    const auto kept = std::clamp<int32_t>(v, Range::min(), Range::max());
    return static_cast<uint32_t>(kept) & ((uint32_t{1} << kBits) - 1);
  }
  static uint32_t clamped_pair(uint32_t a, uint32_t b) {
    return clamped_bits(static_cast<int32_t>(a)) << kBits | clamped_bits(static_cast<int32_t>(b));
  }
};
template <class Narrow>
struct PackClampedPair {
  static uint32_t apply(uint32_t a, uint32_t b) {
    return ClampToNarrow<Narrow>::clamped_pair(a, b);
  }
};
template <class Narrow>
struct ShiftInClampedPair {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    return c << 2 * ClampToNarrow<Narrow>::kBits | ClampToNarrow<Narrow>::clamped_pair(a, b);
  }
};

// ---------------------------------------------------------------------------------------------
// The rows of packed integers, in table order.

namespace {

using ptx::DataType;
using ptx::Instruction;

}  // namespace

ExecFn pick_add_int16_x2(const Instruction&) { return binary_exec_fn<AddInt16X2, uint32_t>(); }
ExecFn pick_min_int16_x2(const Instruction& in) {
  return in.type() == DataType::s16x2 ? binary_exec_fn<MinInt16X2<true, false>, uint32_t>()
                                      : binary_exec_fn<MinInt16X2<false, false>, uint32_t>();
}
ExecFn pick_max_int16_x2(const Instruction& in) {
  return in.type() == DataType::s16x2 ? binary_exec_fn<MaxInt16X2<true, false>, uint32_t>()
                                      : binary_exec_fn<MaxInt16X2<false, false>, uint32_t>();
}
ExecFn pick_min_relu(const Instruction& in) {
  return in.type() == DataType::s32 ? binary_exec_fn<MinReluInt, int32_t>()
                                    : binary_exec_fn<MinInt16X2<true, true>, uint32_t>();
}
ExecFn pick_max_relu(const Instruction& in) {
  return in.type() == DataType::s32 ? binary_exec_fn<MaxReluInt, int32_t>()
                                    : binary_exec_fn<MaxInt16X2<true, true>, uint32_t>();
}

ExecFn pick_cvt_pack_to_16bit(const Instruction& in) {
  return in.type(0) == DataType::s16 ? binary_exec_fn<PackClampedPair<int16_t>, uint32_t>()
                                     : binary_exec_fn<PackClampedPair<uint16_t>, uint32_t>();
}
ExecFn pick_cvt_pack_to_8bit(const Instruction& in) {
  return in.type(0) == DataType::s8 ? ternary_exec_fn<ShiftInClampedPair<int8_t>, uint32_t>()
                                    : ternary_exec_fn<ShiftInClampedPair<uint8_t>, uint32_t>();
}

// ---------------------------------------------------------------------------------------------
// Video instructions (PTX ISA 9.0, 9.7.17 and 9.7.18) on one lane's values: an exact operation on
// two integers, followed by an operation on its result.

enum class VideoOp : uint8_t { add, sub, average, absdiff, min, max, eq, ne, lt, le, gt, ge };

// The exact result for two elements, extended according to their types.
inline int64_t video_result(VideoOp op, int64_t a, int64_t b) {
  switch (op) {
    case VideoOp::add:
      return a + b;
    case VideoOp::sub:
      return a - b;
    case VideoOp::average:  // rounded to the nearest, halves away from zero
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case VideoOp::absdiff:
      return a < b ? b - a : a - b;
    case VideoOp::min:
      return std::min(a, b);
    case VideoOp::max:
      return std::max(a, b);
    case VideoOp::eq:
      return a == b;
    case VideoOp::ne:
      return a != b;
    case VideoOp::lt:
      return a < b;
    case VideoOp::le:
      return a <= b;
    case VideoOp::gt:
      return a > b;
    case VideoOp::ge:
      return a >= b;
  }
  return 0;
}

// Sign- or zero-extends the lowest `bits` bits of a word.
inline int64_t extend_bits(uint32_t word, int bits, bool is_signed) {
  const uint64_t raw = word & ((uint64_t{1} << bits) - 1);
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return static_cast<int64_t>(is_signed ? (raw ^ sign) - sign : raw);
}

// .sat: clamps to the range of `bits` bits.
inline int64_t clamp_to_bits(int64_t value, int bits, bool is_signed) {
  const int64_t least = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  return std::clamp(value, least, least + (int64_t{1} << bits) - 1);
}

// ---------------------------------------------------------------------------------------------
// Binds the rows of the video instructions. Few programs use them, so one function handles all that
// share a form and tests the instruction's modifiers at run time.

namespace {

using ptx::DataType;
using ptx::Instruction;
using ptx::Modifier;

bool is_signed(const Inst& in, int type) { return in.ptx->type(type) == DataType::s32; }

uint32_t value_of_source(const ExecContext& x, const Inst& in, int i, int lane) {
  return load_lane<uint32_t>(x.regs + in.src[i].offset, lane);
}

// Stores result(lane) for each lane.
template <class F>
void store_result_of_lanes(const ExecContext& x, const Inst& in, F result) {
  if (in.dst[0].bytes == 0) return;
  uint32_t results[kWarpSize];
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int lane = __builtin_ctz(r);
    results[lane] = result(lane);
  }
  for (uint32_t r = x.mask; r; r &= r - 1)
    store_lane(x.regs + in.dst[0].offset, __builtin_ctz(r), results[__builtin_ctz(r)]);
}

// Computes d = a op b in each of N elements. With .add, d is the sum of c and all results, which
// are not clamped.
template <int N, VideoOp op>
void execute_simd_video(const ExecContext& x, const Inst& in) {
  constexpr int kBits = 32 / N;
  constexpr bool compares = op >= VideoOp::eq;  // the result of a comparison has no type
  const bool d = !compares && is_signed(in, 0), a = is_signed(in, compares ? 0 : 1),
             b = is_signed(in, compares ? 1 : 2);
  store_result_of_lanes(x, in, [&](int lane) {
    uint32_t word = 0, sum = value_of_source(x, in, 2, lane);
    for (int i = 0; i < N; ++i) {
      int64_t value =
          video_result(op, extend_bits(value_of_source(x, in, 0, lane) >> (i * kBits), kBits, a),
                       extend_bits(value_of_source(x, in, 1, lane) >> (i * kBits), kBits, b));
      sum += static_cast<uint32_t>(value);
      if (in.ptx->has(Modifier::sat)) value = clamp_to_bits(value, kBits, d);
      word |= (static_cast<uint32_t>(value) & ((1u << kBits) - 1)) << (i * kBits);
    }
    return in.ptx->has(Modifier::add) ? sum : word;
  });
}

// Clamps or truncates an exact result and combines it with c.
uint32_t clamp_and_combine(const ExecContext& x, const Inst& in, int lane, int64_t value, bool d) {
  if (in.ptx->has(Modifier::sat)) value = clamp_to_bits(value, 32, d);
  const auto first = static_cast<uint32_t>(value);
  if (in.src_count < 3) return first;
  const uint32_t c = value_of_source(x, in, 2, lane);
  if (in.ptx->has(Modifier::add)) return first + c;
  return static_cast<uint32_t>(
      video_result(in.ptx->has(Modifier::min) ? VideoOp::min : VideoOp::max,
                   extend_bits(first, 32, d), extend_bits(c, 32, d)));
}

template <VideoOp op>
void execute_scalar_video(const ExecContext& x, const Inst& in) {
  const bool d = is_signed(in, 0), a = is_signed(in, 1), b = is_signed(in, 2);
  store_result_of_lanes(x, in, [&](int lane) {
    int64_t value = video_result(op, extend_bits(value_of_source(x, in, 0, lane), 32, a),
                                 extend_bits(value_of_source(x, in, 1, lane), 32, b));
    // An sm_90 GPU lacks these instructions. The code that ptxas emits for them clamps an unsigned
    // result only at 0, contrary to the PTX ISA.
    if (!d && value >= 0) value = static_cast<uint32_t>(value);
    return clamp_and_combine(x, in, lane, value, d);
  });
}

template <bool left>
void execute_video_shift(const ExecContext& x, const Inst& in) {
  const bool d = is_signed(in, 0), a = is_signed(in, 1);
  store_result_of_lanes(x, in, [&](int lane) {
    const int64_t value = extend_bits(value_of_source(x, in, 0, lane), 32, a);
    constexpr int kUnused = 64 - 34;  // the intermediate result has 34 bits
    const uint32_t by = value_of_source(x, in, 1, lane);
    const uint32_t places = in.ptx->has(Modifier::wrap) ? by & 31 : std::min(by, 32u);
    return clamp_and_combine(
        x, in, lane,
        left ? static_cast<int64_t>(static_cast<uint64_t>(value) << places << kUnused) >> kUnused
             : value >> places,
        d);
  });
}

// Refuses some forms with a third operand c: on a GPU that lacks these instructions, the code of
// ptxas deviates from the ISA for results that do not fit. It compares the sign of an unsigned
// result, or compares before it truncates.
template <VideoOp op>
ExecFn pick_video_with_operand_c(const Instruction& in) {
  const bool fits = in.type() == DataType::s32 && (in.has(Modifier::sat) || op != VideoOp::absdiff);
  if (!in.has(Modifier::add) && !fits)
    refuse(in, "ptxas compiles this comparison in another way than the PTX ISA says");
  return execute_scalar_video<op>;
}
template <bool left>
ExecFn pick_video_shift_with_operand_c(const Instruction& in) {
  if (!in.has(Modifier::add))
    refuse(in, "ptxas compiles this comparison in another way than the PTX ISA says");
  return execute_video_shift<left>;
}

template <int N>
ExecFn pick_video_compare(const Instruction& in) {
  if (in.has(Modifier::eq)) return execute_simd_video<N, VideoOp::eq>;
  if (in.has(Modifier::ne)) return execute_simd_video<N, VideoOp::ne>;
  if (in.has(Modifier::lt)) return execute_simd_video<N, VideoOp::lt>;
  if (in.has(Modifier::le)) return execute_simd_video<N, VideoOp::le>;
  if (in.has(Modifier::gt)) return execute_simd_video<N, VideoOp::gt>;
  return execute_simd_video<N, VideoOp::ge>;
}

}  // namespace

ExecFn pick_vadd(const Instruction&) { return execute_scalar_video<VideoOp::add>; }
ExecFn pick_vadd_op(const Instruction& in) { return pick_video_with_operand_c<VideoOp::add>(in); }
ExecFn pick_vsub(const Instruction&) { return execute_scalar_video<VideoOp::sub>; }
ExecFn pick_vsub_op(const Instruction& in) { return pick_video_with_operand_c<VideoOp::sub>(in); }
ExecFn pick_vabsdiff(const Instruction&) { return execute_scalar_video<VideoOp::absdiff>; }
ExecFn pick_vabsdiff_op(const Instruction& in) {
  return pick_video_with_operand_c<VideoOp::absdiff>(in);
}
ExecFn pick_vmin(const Instruction&) { return execute_scalar_video<VideoOp::min>; }
ExecFn pick_vmin_op(const Instruction&) { return execute_scalar_video<VideoOp::min>; }
ExecFn pick_vmax(const Instruction&) { return execute_scalar_video<VideoOp::max>; }
ExecFn pick_vmax_op(const Instruction&) { return execute_scalar_video<VideoOp::max>; }
ExecFn pick_vshl(const Instruction&) { return execute_video_shift<true>; }
ExecFn pick_vshl_op(const Instruction& in) { return pick_video_shift_with_operand_c<true>(in); }
ExecFn pick_vshr(const Instruction&) { return execute_video_shift<false>; }
ExecFn pick_vshr_op(const Instruction& in) { return pick_video_shift_with_operand_c<false>(in); }

ExecFn pick_vadd2(const Instruction&) { return execute_simd_video<2, VideoOp::add>; }
ExecFn pick_vsub2(const Instruction&) { return execute_simd_video<2, VideoOp::sub>; }
ExecFn pick_vavrg2(const Instruction&) { return execute_simd_video<2, VideoOp::average>; }
ExecFn pick_vabsdiff2(const Instruction&) { return execute_simd_video<2, VideoOp::absdiff>; }
ExecFn pick_vmin2(const Instruction&) { return execute_simd_video<2, VideoOp::min>; }
ExecFn pick_vmax2(const Instruction&) { return execute_simd_video<2, VideoOp::max>; }
ExecFn pick_vset2(const Instruction& in) { return pick_video_compare<2>(in); }
ExecFn pick_vadd4(const Instruction&) { return execute_simd_video<4, VideoOp::add>; }
ExecFn pick_vsub4(const Instruction&) { return execute_simd_video<4, VideoOp::sub>; }
ExecFn pick_vavrg4(const Instruction&) { return execute_simd_video<4, VideoOp::average>; }
ExecFn pick_vabsdiff4(const Instruction&) { return execute_simd_video<4, VideoOp::absdiff>; }
ExecFn pick_vmin4(const Instruction&) { return execute_simd_video<4, VideoOp::min>; }
ExecFn pick_vmax4(const Instruction&) { return execute_simd_video<4, VideoOp::max>; }
ExecFn pick_vset4(const Instruction& in) { return pick_video_compare<4>(in); }

}  // namespace lab32::sim
