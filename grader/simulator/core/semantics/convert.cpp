// Binds cvt and the packing cvt. Frequent conversions have their own vectorised loops; all others
// use the general function.
#include "simulator/core/semantics/convert.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "simulator/core/semantics/half.h"
#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {

namespace {

using ptx::DataType;
using ptx::Instruction;
using ptx::Modifier;

CvtModifiers cvt_modifiers_of(const Instruction& in) {
  CvtModifiers form;
  const auto mode = [&](Modifier plain, Modifier integral, Rounding r) {
    if (in.has(plain) || in.has(integral)) form.rounding = r;
    if (in.has(integral)) form.to_integral = true;
  };
  mode(Modifier::rn, Modifier::rni, Rounding::rn);
  mode(Modifier::rz, Modifier::rzi, Rounding::rz);
  mode(Modifier::rm, Modifier::rmi, Rounding::rm);
  mode(Modifier::rp, Modifier::rpi, Rounding::rp);
  if (in.has(Modifier::rna)) form.rounding = Rounding::rna;
  form.ftz = in.has(Modifier::ftz);
  form.sat = in.has(Modifier::sat);
  form.relu = in.has(Modifier::relu);
  form.satfinite = in.has(Modifier::satfinite);
  return form;
}

// --- execution -----------------------------------------------------------------------------------

// Loads an integer of any type, extended to 128 bits.
int128 load_integer(const std::byte* from, DataType type) {
  uint64_t raw = 0;
  const uint32_t bits = ptx::bits_of(type);
  std::memcpy(&raw, from, bits / 8);
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return is_signed(type) ? static_cast<int64_t>((raw ^ sign) - sign) : static_cast<int128>(raw);
}

// Stores an integer. A register wider than the type receives the value extended according to the
// type.
void store_integer(std::byte* to, uint32_t bytes, int128 value, DataType type) {
  const uint32_t unused = 128 - ptx::bits_of(type);
  const uint128 top = static_cast<uint128>(value) << unused;
  const uint128 kept =
      is_signed(type) ? static_cast<uint128>(static_cast<int128>(top) >> unused) : top >> unused;
  std::memcpy(to, &kept, bytes);
}

template <class D>
void store_float_zero_extended(std::byte* to, uint32_t destination_bytes, D value) {
  std::byte extended[16] = {};
  std::memcpy(extended, &value, sizeof value);
  std::memcpy(to, extended, destination_bytes);
}

// Calls f(source, destination) for the active lanes. cvt alone lets registers be wider than the
// types: the low bits are read (an .s8 lives in a 16-bit register), and the result is extended.
template <class F>
void convert_lanes(const ExecContext& x, const Inst& in, F f) {
  const RegisterSlot &dst = in.dst[0], &src = in.src[0];
  for (uint32_t rest = x.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    f(x.regs + src.offset + lane * src.bytes, x.regs + dst.offset + lane * dst.bytes);
  }
}

template <class S>
S copy_float_from_bytes(const std::byte* from) {
  S s;
  std::memcpy(&s, from, sizeof s);
  return s;
}

// Converts between any two integer types. The types are tested at run time, because there are 64
// pairs.
void exec_int_to_int(const ExecContext& x, const Inst& in) {
  const DataType to = in.ptx->type(0), from = in.ptx->type(1);
  const bool sat = in.ptx->has(Modifier::sat);
  convert_lanes(x, in, [&](const std::byte* s, std::byte* d) {
    const int128 value = load_integer(s, from);
    store_integer(d, in.dst[0].bytes, sat ? clamp_to(value, to) : value, to);
  });
}

template <class D>
void exec_int_to_float(const ExecContext& x, const Inst& in) {
  const CvtModifiers form = cvt_modifiers_of(*in.ptx);
  const DataType from = in.ptx->type(1);
  convert_lanes(x, in, [&](const std::byte* s, std::byte* d) {
    store_float_zero_extended(d, in.dst[0].bytes, int_to_float<D>(load_integer(s, from), form));
  });
}

template <class S>
void exec_float_to_int(const ExecContext& x, const Inst& in) {
  const CvtModifiers form = cvt_modifiers_of(*in.ptx);
  const DataType to = in.ptx->type(0);
  convert_lanes(x, in, [&](const std::byte* s, std::byte* d) {
    store_integer(d, in.dst[0].bytes, float_to_int(copy_float_from_bytes<S>(s), to, form), to);
  });
}

template <class D, class S>
void exec_float_to_float(const ExecContext& x, const Inst& in) {
  const CvtModifiers form = cvt_modifiers_of(*in.ptx);
  convert_lanes(x, in, [&](const std::byte* s, std::byte* d) {
    store_float_zero_extended(d, in.dst[0].bytes,
                              float_to_float<D>(copy_float_from_bytes<S>(s), form));
  });
}

template <class D, class S>
constexpr ExecFn pick_general_conversion() {
  if constexpr (kIsInt<S> && kIsInt<D>)
    return exec_int_to_int;
  else if constexpr (kIsInt<S>)
    return exec_int_to_float<D>;
  else if constexpr (kIsInt<D>)
    return exec_float_to_int<S>;
  else
    return exec_float_to_float<D, S>;
}

// The common forms between registers of the types' own widths, without options: Fast::apply(S) ->
// D.
template <class D, class S, class Fast>
void exec_common_conversion(const ExecContext& x, const Inst& in) {
  if (in.dst[0].bytes != sizeof(D) || in.src[0].bytes != sizeof(S)) {
    pick_general_conversion<D, S>()(x, in);
  } else {
    map_lanes<D, S>(x, in, [](S s) -> D { return Fast::template apply<D>(s); });
  }
}

// Integer conversions to a register of D's width, from one of S's width or wider. nvcc uses them
// often: cvt.s64.s32 %rd1, %rd2.
template <class D, class S>
void exec_extend_integer(const ExecContext& x, const Inst& in) {
  const auto from = [&](auto reg) {
    using Reg = decltype(reg);
    map_lanes<D, Reg>(x, in, [](Reg r) -> D { return static_cast<D>(static_cast<S>(r)); });
  };
  if (in.dst[0].bytes != sizeof(D)) return exec_int_to_int(x, in);
  switch (in.src[0].bytes) {
    case 2:
      return from(uint16_t{});
    case 4:
      return from(uint32_t{});
    case 8:
      return from(uint64_t{});
    default:
      return exec_int_to_int(x, in);
  }
}

// Converts as the host does: exactly or to nearest, and with the payload of a NaN unchanged.
struct StaticCast {
  template <class D, class S>
  static D apply(S s) {
    return static_cast<D>(s);
  }
};
// Converts a float to an integer of at most 32 bits, rounding towards zero (.rzi). Only numbers in
// range reach the host's conversion, which is undefined for others.
struct TruncateFloatToInt {
  template <class D>
  static D apply(float s) {
    const float x = is_nan(s) ? 0.0f : s;
    if constexpr (std::is_same_v<D, uint32_t>) {
      const double wide = x;
      return static_cast<D>(static_cast<int64_t>(wide < 0            ? 0
                                                 : wide > 0x1p32 - 1 ? 0x1p32 - 1
                                                                     : wide));
    } else {
      constexpr float end = 0x1p31f, last = 0x1.fffffep30f;
      constexpr int32_t min = std::numeric_limits<D>::min(), max = std::numeric_limits<D>::max();
      const float in_range = x < -end ? -end : x > last ? last : x;
      const int32_t whole = x >= end ? 0x7fffffff : static_cast<int32_t>(in_range);
      return static_cast<D>(whole < min ? min : whole > max ? max : whole);
    }
  }
};
struct WidenToFloat {
  template <class D>
  static float apply(F16 s) {
    return canonical_nan(to_float(s));
  }
  template <class D>
  static float apply(BF16 s) {
    return to_float(s);  // a move, also for NaN
  }
  template <class D>
  static float apply(float s) {
    return s;
  }
};
// Clamps to [0, 1] (.sat). The function works on the bits, so that it is vectorised: negative
// numbers and NaN become zero.
struct Saturate {
  template <class D>
  static float apply(float s) {
    const uint32_t b = bits(s), at_most_one = b < 0x3f800000u ? b : 0x3f800000u;
    return bit_copy<float>(b > 0x7f800000u ? 0u : at_most_one);
  }
};
struct ToHalf {
  template <class D>
  static D apply(float s) {
    return to_half<D>(s, Rounding::rn);
  }
};

// The loop of a frequent conversion; nullptr: the conversion has no loop of its own.
template <class D, class S>
ExecFn pick_common_conversion(const Instruction& in) {
  const ptx::Mods& mods = in.mods;
  const bool plain = mods.none();
  const bool only_rn = mods.count() == 1 && in.has(Modifier::rn);
  const bool only_rzi = mods.count() == 1 && in.has(Modifier::rzi);
  constexpr bool to_float_type = std::is_same_v<D, float> || std::is_same_v<D, double>;
  constexpr bool is_half = std::is_same_v<S, F16> || std::is_same_v<S, BF16>;
  if constexpr (kIsInt<S> && kIsInt<D>) {
    // Signs matter only where a narrow source is extended.
    using Bits = BitsOf<D>;
    if (plain && sizeof(D) > 1)
      return exec_extend_integer<Bits, std::conditional_t<(sizeof(D) > sizeof(S)), S, Bits>>;
  } else if constexpr (kIsInt<S> && to_float_type) {
    if (only_rn) return exec_common_conversion<D, S, StaticCast>;
  } else if constexpr (std::is_same_v<S, float> && kIsInt<D> && sizeof(D) <= 4) {
    if (only_rzi) return exec_common_conversion<D, S, TruncateFloatToInt>;
  } else if constexpr (std::is_same_v<D, float> && (is_half || std::is_same_v<S, float>)) {
    if (plain) return exec_common_conversion<D, S, WidenToFloat>;
    if constexpr (std::is_same_v<S, float>)
      if (mods.count() == 1 && in.has(Modifier::sat)) return exec_common_conversion<D, S, Saturate>;
  } else if constexpr (std::is_same_v<D, float> && std::is_same_v<S, double>) {
    if (only_rn) return exec_common_conversion<D, S, StaticCast>;
  } else if constexpr (std::is_same_v<D, double> && std::is_same_v<S, float>) {
    if (plain) return exec_common_conversion<D, S, StaticCast>;
  } else if constexpr (std::is_same_v<S, float> &&
                       (std::is_same_v<D, F16> || std::is_same_v<D, BF16>)) {
    if (only_rn) return exec_common_conversion<D, S, ToHalf>;
  }
  return nullptr;
}

// --- what the ISA has ----------------------------------------------------------------------------

bool has_any(const Instruction& in, std::initializer_list<Modifier> mods) {
  return std::any_of(mods.begin(), mods.end(), [&](Modifier m) { return in.has(m); });
}

// Whether a conversion can lose precision. It can in both directions between the two 16-bit
// formats, because each lacks the other's range or precision.
bool is_lossy_float_conversion(DataType to, DataType from) {
  if (to == from) return false;
  return ptx::bits_of(to) < ptx::bits_of(from) || to == DataType::tf32 ||
         (ptx::bits_of(to) == 16 && ptx::bits_of(from) == 16);
}

bool can_represent_all(DataType to, DataType from) {
  if (is_signed(to) == is_signed(from)) return ptx::bits_of(to) >= ptx::bits_of(from);
  return is_signed(to) && ptx::bits_of(to) > ptx::bits_of(from);
}

// One rule of the ISA per line; all of it agrees with what ptxas accepts for sm_90.
void check_rounding(const Instruction& in) {
  const DataType to = in.type(0), from = in.type(1);
  const bool fp_rounding =
      has_any(in, {Modifier::rn, Modifier::rz, Modifier::rm, Modifier::rp, Modifier::rna});
  const bool integral = has_any(in, {Modifier::rni, Modifier::rzi, Modifier::rmi, Modifier::rpi});
  const bool needs_fp = is_float(to) && (!is_float(from) || is_lossy_float_conversion(to, from));
  const bool needs_integral = !is_float(to) && is_float(from);
  if (needs_fp && !fp_rounding) refuse(in, "this conversion needs .rn, .rz, .rm or .rp");
  if (fp_rounding && !needs_fp) refuse(in, "this conversion is exact and takes no rounding");
  if (needs_integral && !integral) refuse(in, "this conversion needs .rni, .rzi, .rmi or .rpi");
  if (integral && !needs_integral && (to != from || !is_float(to))) {
    refuse(in, "only .f16, .bf16, .f32 and .f64 round to a whole number of their own type");
  }
}

void check_conversion(const Instruction& in) {
  const DataType to = in.type(0), from = in.type(1);
  const bool bf16 = to == DataType::bf16 || from == DataType::bf16;
  const bool packs = from == DataType::f32 &&
                     (to == DataType::f16 || to == DataType::bf16 || to == DataType::tf32);
  check_rounding(in);
  if (to == DataType::tf32 &&
      (from != DataType::f32 ||
       has_any(in, {Modifier::rm, Modifier::rp, Modifier::ftz, Modifier::sat}) ||
       (in.has(Modifier::rna) && in.has(Modifier::relu)))) {
    refuse(in);
  }
  if (in.has(Modifier::rna) && to != DataType::tf32) refuse(in, ".rna is for .tf32 only");
  if (bf16 && (ptx::bits_of(to) == 8 || ptx::bits_of(from) == 8)) refuse(in);
  if (in.has(Modifier::sat)) {
    if (bf16) refuse(in, ".bf16 has no .sat");
    if (!is_float(to) && !is_float(from) && can_represent_all(to, from)) {
      refuse(in, ".sat, where every value of the source fits the destination");
    }
  }
  if (in.has(Modifier::ftz) && to != DataType::f32 && from != DataType::f32)
    refuse(in, ".ftz is for .f32 only");
  if (in.has(Modifier::relu) || in.has(Modifier::satfinite)) {
    if (!packs) refuse(in, ".relu and .satfinite are for .f32 to .f16, .bf16 or .tf32");
    if (has_any(in, {Modifier::ftz, Modifier::sat, Modifier::rm, Modifier::rp})) {
      refuse(in, ".relu and .satfinite go with .rn, .rz or .rna alone");
    }
  }
}

template <class H>
void exec_cvt_to_half_pair(const ExecContext& x, const Inst& in) {
  const CvtModifiers form = cvt_modifiers_of(*in.ptx);
  map_active_lanes<HalfPair<H>, float, float>(x, in, [form](float a, float b) -> HalfPair<H> {
    return {float_to_float<H>(b, form), float_to_float<H>(a, form)};  // a: the upper half
  });
}

}  // namespace

ExecFn pick_cvt_to_half_pair(const Instruction& in) {
  return in.type(0) == DataType::f16x2 ? exec_cvt_to_half_pair<F16> : exec_cvt_to_half_pair<BF16>;
}

ExecFn pick_cvt(const Instruction& in) {
  check_conversion(in);
  return with_host_type(in.type(0), [&](auto to) -> ExecFn {
    using D = TypeOf<decltype(to)>;
    return with_host_type(in.type(1), [&](auto from) -> ExecFn {
      using S = TypeOf<decltype(from)>;
      constexpr bool is_pair = std::is_same_v<D, F16x2> || std::is_same_v<D, BF16x2> ||
                               std::is_same_v<S, F16x2> || std::is_same_v<S, BF16x2>;
      constexpr bool to_tf32 = std::is_same_v<D, TF32> && !std::is_same_v<S, float>;
      if constexpr (is_pair || to_tf32 || std::is_same_v<S, TF32>) {
        return nullptr;
      } else {
        const ExecFn fast = pick_common_conversion<D, S>(in);
        return fast != nullptr ? fast : pick_general_conversion<D, S>();
      }
    });
  });
}

// ---------------------------------------------------------------------------------------------
// Binds the conversions from and to pairs of 8-bit floats, in table order.

namespace {

using ptx::DataType;
using ptx::Instruction;
using ptx::Modifier;

template <class E>
uint16_t pack_as_two_float8(double high, double low, bool relu) {
  return static_cast<uint16_t>(to_float8<E>(high, relu) << 8 | to_float8<E>(low, relu));
}

template <class E>
void exec_floats_to_float8(const ExecContext& x, const Inst& in) {
  const bool relu = in.ptx->has(Modifier::relu);
  map_active_lanes<uint16_t, float, float>(
      x, in, [relu](float a, float b) -> uint16_t { return pack_as_two_float8<E>(a, b, relu); });
}

template <class E>
void exec_halves_to_float8(const ExecContext& x, const Inst& in) {
  const bool relu = in.ptx->has(Modifier::relu);
  map_active_lanes<uint16_t, F16x2>(x, in, [relu](F16x2 a) -> uint16_t {
    return pack_as_two_float8<E>(to_float(a.hi), to_float(a.lo), relu);
  });
}

template <class E>
void exec_float8_to_halves(const ExecContext& x, const Inst& in) {
  const bool relu = in.ptx->has(Modifier::relu);
  const auto one = [relu](int bits) -> F16 {
    const F16 half = half_of<E>(static_cast<uint8_t>(bits));
    return relu && is_negative(half) ? F16{0} : half;
  };
  map_active_lanes<F16x2, uint16_t>(x, in, [one](uint16_t a) -> F16x2 {
    return {one(a & 0xff), one(a >> 8)};
  });
}

}  // namespace

ExecFn pick_cvt_floats_to_float8(const Instruction& in) {
  return in.type(0) == DataType::e4m3x2 ? exec_floats_to_float8<E4M3> : exec_floats_to_float8<E5M2>;
}
ExecFn pick_cvt_halves_to_float8(const Instruction& in) {
  return in.type(0) == DataType::e4m3x2 ? exec_halves_to_float8<E4M3> : exec_halves_to_float8<E5M2>;
}
ExecFn pick_cvt_float8_to_halves(const Instruction& in) {
  return in.type(1) == DataType::e4m3x2 ? exec_float8_to_halves<E4M3> : exec_float8_to_halves<E5M2>;
}

}  // namespace lab32::sim
