// Binds the integer rows of opcodes.def to the functions of integer.h, in table order.
#include "simulator/core/semantics/integer.h"

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {
namespace {

using ptx::DataType;
using ptx::Instruction;
using ptx::Modifier;

// --- the carry flag -----------------------------------------------------------------------------

// A sum or difference of one lane and its carry. The carry flag CC.CF of a warp is a word with a
// bit per lane, at Inst::mem_base.offset in the register file. After a subtraction it holds the
// borrow.
struct SumAndCarry {
  uint64_t value;
  bool carry;
};

template <class T, class F>
void for_lanes_with_carry(const ExecContext& x, const Inst& in, bool carry_out, F f) {
  std::byte* const slot = x.regs + in.mem_base.offset;
  const auto flags = load_lane<uint32_t>(slot, 0);
  uint32_t out = flags;
  for (uint32_t rest = x.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    T s[3] = {};
    for (int i = 0; i < in.src_count; ++i) s[i] = load_lane<T>(x.regs + in.src[i].offset, lane);
    const SumAndCarry r = f(s, (flags >> lane & 1) != 0);
    if (in.dst[0].bytes != 0) store_lane(x.regs + in.dst[0].offset, lane, static_cast<T>(r.value));
    out = (out & ~(1u << lane)) | (r.carry ? 1u << lane : 0u);
  }
  if (carry_out) store_lane(slot, 0, out);
}

template <class U>
SumAndCarry add_with_carry(U a, U b, bool carry) {
  const uint128 sum = static_cast<uint128>(a) + b + (carry ? 1 : 0);
  return {static_cast<uint64_t>(sum), (sum >> kBits<U>) != 0};
}

template <class U>
SumAndCarry sub_with_borrow(U a, U b, bool borrow) {
  const uint128 difference = static_cast<uint128>(a) - b - (borrow ? 1 : 0);
  return {static_cast<uint64_t>(difference), (difference >> kBits<U> & 1) != 0};
}

template <class T, bool CarryIn, bool CarryOut>
void exec_addc(const ExecContext& x, const Inst& in) {
  for_lanes_with_carry<T>(x, in, CarryOut, [](const T* s, bool carry) {
    return add_with_carry<T>(s[0], s[1], CarryIn && carry);
  });
}

template <class T, bool CarryIn, bool CarryOut>
void exec_subc(const ExecContext& x, const Inst& in) {
  for_lanes_with_carry<T>(x, in, CarryOut, [](const T* s, bool borrow) {
    return sub_with_borrow<T>(s[0], s[1], CarryIn && borrow);
  });
}

template <class T, class Mul, bool CarryIn, bool CarryOut>
void exec_madc(const ExecContext& x, const Inst& in) {
  using U = std::make_unsigned_t<T>;
  for_lanes_with_carry<T>(x, in, CarryOut, [](const T* s, bool carry) {
    return add_with_carry<U>(static_cast<U>(Mul::apply(s[0], s[1])), static_cast<U>(s[2]),
                             CarryIn && carry);
  });
}

template <bool CarryIn>
ExecFn pick_madc_form(const Instruction& in) {
  return Words::pick_or_refuse(in, in.type(), [&](auto t) {
    using T = TypeOf<decltype(t)>;
    return with_bool(!CarryIn || in.has(Modifier::cc), [&](auto out) -> ExecFn {
      constexpr bool carry_out = decltype(out)::value;
      return in.has(Modifier::hi) ? exec_madc<T, MulHi, CarryIn, carry_out>
                                  : exec_madc<T, MulLo, CarryIn, carry_out>;
    });
  });
}

// --- shapes -------------------------------------------------------------------------------------

template <class Op>
ExecFn pick_binary(const Instruction& in) {
  return Integers::pick_or_refuse(in, in.type(),
                                  [](auto t) { return binary_exec_fn<Op, TypeOf<decltype(t)>>(); });
}

template <class Op>
ExecFn pick_ternary(const Instruction& in) {
  return Integers::pick_or_refuse(
      in, in.type(), [](auto t) { return ternary_exec_fn<Op, TypeOf<decltype(t)>>(); });
}

// Picks the function of the unsigned type for rows in which signedness does not matter. This halves
// the code, and unsigned loops vectorise.
template <class Op>
ExecFn pick_sign_independent_binary(const Instruction& in) {
  return Unsigned::pick_or_refuse(in, unsigned_type_of_same_width(in.type()),
                                  [](auto t) { return binary_exec_fn<Op, TypeOf<decltype(t)>>(); });
}

template <class Op>
ExecFn pick_signed_unary(const Instruction& in) {
  return OneOfTypes<int16_t, int32_t, int64_t>::pick_or_refuse(
      in, in.type(), [](auto t) { return unary_exec_fn<Op, TypeOf<decltype(t)>>(); });
}

// Result u32, source T.
template <class Op>
ExecFn pick_bit_count(const Instruction& in) {
  return Words::pick_or_refuse(in, in.type(), [](auto t) -> ExecFn {
    return exec_op_on_lanes<Op, uint32_t, TypeOf<decltype(t)>>;
  });
}

using Int32 = OneOfTypes<uint32_t, int32_t>;

// --- the upper half of a product -----------------------------------------------------------------

// Multiplies lanes 0, 2, 4, 6 by one instruction and lanes 1, 3, 5, 7 by another. The code that the
// compiler makes of MulHi would first rearrange the lanes.
template <class T>
void exec_mul_hi(const ExecContext& x, const Inst& in) {
#ifdef __AVX2__
  if (x.mask != kFullMask) return execute_and_restore_inactive(x, in, exec_mul_hi<T>, sizeof(T));
  if (in.dst[0].bytes == 0) return;
  typedef int Eight __attribute__((vector_size(32)));
  typedef unsigned long long Four __attribute__((vector_size(32)));
  const std::byte* const a = x.regs + in.src[0].offset;
  const std::byte* const b = x.regs + in.src[1].offset;
  std::byte* const d = x.regs + in.dst[0].offset;
  const auto product = [](Four l, Four r) {
    if constexpr (std::is_signed_v<T>)
      return (Four)__builtin_ia32_pmuldq256((Eight)l, (Eight)r);
    else
      return (Four)__builtin_ia32_pmuludq256((Eight)l, (Eight)r);
  };
  constexpr unsigned long long kUpper = 0xffffffff00000000u;
  for (int at = 0; at < kWarpSize * 4; at += 32) {
    Four l, r;
    std::memcpy(&l, a + at, sizeof l);
    std::memcpy(&r, b + at, sizeof r);
    const Four high = product(l, r) >> 32 | (product(l >> 32, r >> 32) & kUpper);
    std::memcpy(d + at, &high, sizeof high);
  }
#else
  exec_op_on_lanes<MulHi, T, T, T>(x, in);
#endif
}

}  // namespace

ExecFn pick_add_int(const Instruction& in) { return pick_sign_independent_binary<Add>(in); }
ExecFn pick_add_sat_int(const Instruction&) { return binary_exec_fn<AddSat, int32_t>(); }
ExecFn pick_sub_int(const Instruction& in) { return pick_sign_independent_binary<Sub>(in); }
ExecFn pick_sub_sat_int(const Instruction&) { return binary_exec_fn<SubSat, int32_t>(); }

ExecFn pick_add_cc(const Instruction& in) {
  return Unsigned::pick_or_refuse(in, unsigned_type_of_same_width(in.type()), [](auto t) -> ExecFn {
    return exec_addc<TypeOf<decltype(t)>, false, true>;
  });
}
ExecFn pick_addc(const Instruction& in) {
  return Unsigned::pick_or_refuse(
      in, unsigned_type_of_same_width(in.type()), [&](auto t) -> ExecFn {
        using T = TypeOf<decltype(t)>;
        return in.has(Modifier::cc) ? exec_addc<T, true, true> : exec_addc<T, true, false>;
      });
}
ExecFn pick_sub_cc(const Instruction& in) {
  return Unsigned::pick_or_refuse(in, unsigned_type_of_same_width(in.type()), [](auto t) -> ExecFn {
    return exec_subc<TypeOf<decltype(t)>, false, true>;
  });
}
ExecFn pick_subc(const Instruction& in) {
  return Unsigned::pick_or_refuse(
      in, unsigned_type_of_same_width(in.type()), [&](auto t) -> ExecFn {
        using T = TypeOf<decltype(t)>;
        return in.has(Modifier::cc) ? exec_subc<T, true, true> : exec_subc<T, true, false>;
      });
}
ExecFn pick_mad_cc(const Instruction& in) { return pick_madc_form<false>(in); }
ExecFn pick_madc(const Instruction& in) { return pick_madc_form<true>(in); }

ExecFn pick_mul_lo(const Instruction& in) { return pick_sign_independent_binary<MulLo>(in); }
ExecFn pick_mul_hi(const Instruction& in) {
  return Integers::pick_or_refuse(in, in.type(), [](auto t) -> ExecFn {
    using T = TypeOf<decltype(t)>;
    if constexpr (sizeof(T) == 4)
      return exec_mul_hi<T>;
    else
      return exec_op_on_lanes<MulHi, T, T, T>;
  });
}
ExecFn pick_mul_wide(const Instruction& in) {
  return OneOfTypes<uint16_t, int16_t, uint32_t, int32_t>::pick_or_refuse(
      in, in.type(), [](auto t) -> ExecFn {
        using T = TypeOf<decltype(t)>;
        return exec_op_on_lanes<MulWide, Wider<T>, T, T>;
      });
}
ExecFn pick_mad_lo(const Instruction& in) {
  return Unsigned::pick_or_refuse(in, unsigned_type_of_same_width(in.type()), [](auto t) {
    return ternary_exec_fn<MadLo, TypeOf<decltype(t)>>();
  });
}
ExecFn pick_mad_hi(const Instruction& in) { return pick_ternary<MadHi>(in); }
ExecFn pick_mad_hi_sat(const Instruction&) { return ternary_exec_fn<MadHiSat, int32_t>(); }
ExecFn pick_mad_wide(const Instruction& in) {
  return OneOfTypes<uint16_t, int16_t, uint32_t, int32_t>::pick_or_refuse(
      in, in.type(), [](auto t) -> ExecFn {
        using T = TypeOf<decltype(t)>;
        return exec_op_on_lanes<MadWide, Wider<T>, T, T, Wider<T>>;
      });
}
ExecFn pick_mul24(const Instruction& in) {
  return Int32::pick_or_refuse(in, in.type(), [&](auto t) {
    using T = TypeOf<decltype(t)>;
    return in.has(Modifier::hi) ? binary_exec_fn<Mul24Hi, T>() : binary_exec_fn<Mul24Lo, T>();
  });
}
ExecFn pick_mad24(const Instruction& in) {
  return Int32::pick_or_refuse(in, in.type(), [&](auto t) {
    using T = TypeOf<decltype(t)>;
    return in.has(Modifier::hi) ? ternary_exec_fn<MultiplyAddInt<Mul24Hi>, T>()
                                : ternary_exec_fn<MultiplyAddInt<Mul24Lo>, T>();
  });
}
ExecFn pick_sad(const Instruction& in) { return pick_ternary<Sad>(in); }

ExecFn pick_div_int(const Instruction& in) {
  return Integers::pick_or_refuse(in, in.type(), [](auto t) -> ExecFn {
    using T = TypeOf<decltype(t)>;
    return exec_op_on_active_lanes<DivInt, T, T, T>;
  });
}
ExecFn pick_rem_int(const Instruction& in) {
  return Integers::pick_or_refuse(in, in.type(), [](auto t) -> ExecFn {
    using T = TypeOf<decltype(t)>;
    return exec_op_on_active_lanes<RemInt, T, T, T>;
  });
}
ExecFn pick_abs_int(const Instruction& in) { return pick_signed_unary<AbsInt>(in); }
ExecFn pick_neg_int(const Instruction& in) { return pick_signed_unary<NegInt>(in); }
ExecFn pick_min_int(const Instruction& in) { return pick_binary<MinInt>(in); }
ExecFn pick_max_int(const Instruction& in) { return pick_binary<MaxInt>(in); }

ExecFn pick_popc(const Instruction& in) { return pick_bit_count<Popc>(in); }
ExecFn pick_clz(const Instruction& in) {
  return OneOfTypes<uint32_t, uint64_t>::pick_or_refuse(in, in.type(), [](auto t) -> ExecFn {
    return exec_op_on_lanes<Clz, uint32_t, TypeOf<decltype(t)>>;
  });
}
ExecFn pick_bfind(const Instruction& in) {
  return in.has(Modifier::shiftamt) ? pick_bit_count<Bfind<true>>(in)
                                    : pick_bit_count<Bfind<false>>(in);
}
ExecFn pick_brev(const Instruction& in) {
  return OneOfTypes<uint32_t, uint64_t>::pick_or_refuse(
      in, in.type(), [](auto t) { return unary_exec_fn<Brev, TypeOf<decltype(t)>>(); });
}
ExecFn pick_bfe(const Instruction& in) {
  return Words::pick_or_refuse(in, in.type(), [](auto t) -> ExecFn {
    using T = TypeOf<decltype(t)>;
    return exec_op_on_lanes<Bfe, T, T, uint32_t, uint32_t>;
  });
}
ExecFn pick_bfi(const Instruction& in) {
  return OneOfTypes<uint32_t, uint64_t>::pick_or_refuse(in, in.type(), [](auto t) -> ExecFn {
    using T = TypeOf<decltype(t)>;
    return exec_op_on_lanes<Bfi, T, T, T, uint32_t, uint32_t>;
  });
}
ExecFn pick_szext(const Instruction& in) {
  return Int32::pick_or_refuse(in, in.type(), [&](auto t) -> ExecFn {
    using T = TypeOf<decltype(t)>;
    return in.has(Modifier::wrap) ? exec_op_on_lanes<Szext<true>, T, T, uint32_t>
                                  : exec_op_on_lanes<Szext<false>, T, T, uint32_t>;
  });
}
ExecFn pick_bmsk(const Instruction& in) {
  return in.has(Modifier::wrap) ? binary_exec_fn<Bmsk<true>, uint32_t>()
                                : binary_exec_fn<Bmsk<false>, uint32_t>();
}
ExecFn pick_fns(const Instruction&) {
  return exec_op_on_lanes<FindNthSetBit, uint32_t, uint32_t, uint32_t, int32_t>;
}
ExecFn pick_dp4a(const Instruction& in) {
  return with_bool(in.type(0) == DataType::s32, [&](auto a) {
    return with_bool(in.type(1) == DataType::s32, [](auto b) {
      return ternary_exec_fn<Dp4a<decltype(a)::value, decltype(b)::value>, uint32_t>();
    });
  });
}
ExecFn pick_dp2a(const Instruction& in) {
  return with_bool(in.has(Modifier::hi), [&](auto hi) {
    return with_bool(in.type(0) == DataType::s32, [&](auto a) {
      return with_bool(in.type(1) == DataType::s32, [](auto b) {
        return ternary_exec_fn<Dp2a<decltype(hi)::value, decltype(a)::value, decltype(b)::value>,
                               uint32_t>();
      });
    });
  });
}

}  // namespace lab32::sim
