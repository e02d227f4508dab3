// Logic, shifts and byte permutation (PTX ISA 9.0, 9.7.7 and 9.7.9.7) on one lane's values.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simulator/core/semantics/lanes.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

struct AndBits {
  template <class T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct OrBits {
  template <class T>
  static T apply(T a, T b) {
    return a | b;
  }
};
struct XorBits {
  template <class T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};
struct NotBits {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
struct CNot {
  template <class T>
  static T apply(T a) {
    return a == 0 ? 1 : 0;
  }
};

// lop3: a logical function of a, b and c, given by its truth table. Bit i of the table is the
// result for operand bits a, b, c that form the binary number i, with a as its highest bit.
class Lop3 {
 public:
  explicit Lop3(uint32_t table) {
    for (uint32_t i = 0; i < 8; ++i) row_[i] = 0u - (table >> i & 1u);
  }
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return (a &
            select_bits(b, select_bits(c, row_[7], row_[6]), select_bits(c, row_[5], row_[4]))) |
           (~a &
            select_bits(b, select_bits(c, row_[3], row_[2]), select_bits(c, row_[1], row_[0])));
  }

 private:
  static uint32_t select_bits(uint32_t by, uint32_t ones, uint32_t zeros) {
    return (by & ones) | (~by & zeros);
  }
  uint32_t row_[8];
};

// shf shifts the 64-bit number {b, a}. .l gives its upper word, .r its lower word.
template <bool Wrap>
inline uint32_t funnel_shift_count(uint32_t c) {
  return Wrap ? c & 31 : c < 32 ? c : 32;
}
template <bool Wrap>
struct ShfLeft {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t both = uint64_t{b} << 32 | a;
    return static_cast<uint32_t>((both << funnel_shift_count<Wrap>(c)) >> 32);
  }
};
template <bool Wrap>
struct ShfRight {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t both = uint64_t{b} << 32 | a;
    return static_cast<uint32_t>(both >> funnel_shift_count<Wrap>(c));
  }
};

// A count beyond the width shifts all bits out. The count is also masked, so that the C++ shift is
// defined in lanes whose result is discarded.
struct Shl {
  template <class T>
  static T apply(T a, uint32_t n) {
    constexpr uint32_t width = sizeof(T) * 8;
    return n < width ? static_cast<T>(a << (n & (width - 1))) : T{0};
  }
};
struct Shr {
  template <class T>
  static T apply(T a, uint32_t n) {
    constexpr uint32_t width = sizeof(T) * 8;
    if (std::is_signed_v<T>) return static_cast<T>(a >> (n < width ? n : width - 1));
    return n < width ? static_cast<T>(a >> (n & (width - 1))) : T{0};
  }
};

// --- prmt ----------------------------------------------------------------------------------------

// Byte n of {b, a}, where n is the lower three bits of the selector. If bit 3 is set, the result is
// eight copies of that byte's sign bit.
inline uint32_t permuted_byte(uint64_t both, uint32_t selector) {
  const auto byte = static_cast<uint32_t>(both >> (8 * (selector & 7))) & 0xff;
  return (selector & 8) != 0 ? (byte & 0x80 ? 0xffu : 0u) : byte;
}
struct Prmt {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t both = uint64_t{b} << 32 | a;
    uint32_t d = 0;
    for (int i = 0; i < 4; ++i) d |= permuted_byte(both, c >> (4 * i)) << (8 * i);
    return d;
  }
};
// A named mode of prmt: a row of the ISA's table for each value 0 to 3 of c's two low bits. Each
// nibble selects one byte of the result.
struct PrmtSelectors {
  uint16_t selectors[4];
};
inline constexpr PrmtSelectors kPrmtF4e{{0x3210, 0x4321, 0x5432, 0x6543}};
inline constexpr PrmtSelectors kPrmtB4e{{0x5670, 0x6701, 0x7012, 0x0123}};
inline constexpr PrmtSelectors kPrmtRc8{{0x0000, 0x1111, 0x2222, 0x3333}};
inline constexpr PrmtSelectors kPrmtEcl{{0x3210, 0x3211, 0x3222, 0x3333}};
inline constexpr PrmtSelectors kPrmtEcr{{0x0000, 0x1110, 0x2210, 0x3210}};
inline constexpr PrmtSelectors kPrmtRc16{{0x1010, 0x3232, 0x1010, 0x3232}};
template <const PrmtSelectors& Mode>
struct PrmtByMode {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    return Prmt::apply(a, b, Mode.selectors[c & 3]);
  }
};

// ---------------------------------------------------------------------------------------------
// Binds the logic and shift rows, prmt, and the two instructions without effect.

namespace {

using ptx::Instruction;
using ptx::Modifier;

template <class Op>
ExecFn pick_logic(const Instruction& in) {
  return Unsigned::pick_or_refuse(in, in.type(),
                                  [](auto t) { return binary_exec_fn<Op, TypeOf<decltype(t)>>(); });
}

template <class Op>
void exec_predicate_logic(const ExecContext& x, const Inst& in) {
  const uint32_t a = read_predicate(x, in.src[0]);
  const uint32_t b = read_predicate(x, in.src[1]);
  write_predicate(x, in.dst[0], Op::apply(a, b));
}

void exec_not_pred(const ExecContext& x, const Inst& in) {
  write_predicate(x, in.dst[0], ~read_predicate(x, in.src[0]));
}

// The table is an immediate, so it is the same in every lane.
Lop3 lop3_table_of(const ExecContext& x, const Inst& in) {
  return Lop3(load_lane<uint32_t>(x.regs + in.src[3].offset, 0));
}

void exec_lop3(const ExecContext& x, const Inst& in) {
  map_lanes<uint32_t, uint32_t, uint32_t, uint32_t>(x, in, lop3_table_of(x, in));
}

template <class BoolOp>
void exec_lop3_pred(const ExecContext& x, const Inst& in) {
  const Lop3 lop3 = lop3_table_of(x, in);
  const auto not_zero = [lop3](uint32_t a, uint32_t b, uint32_t c) { return lop3(a, b, c) != 0; };
  const uint32_t p =
      BoolOp::apply(test_sources_of_all_lanes<uint32_t, uint32_t, uint32_t>(x, in, not_zero),
                    read_predicate(x, in.src[4]));
  map_lanes<uint32_t, uint32_t, uint32_t, uint32_t>(x, in, lop3);
  if (in.dst_count > 1) write_predicate(x, in.dst[1], p);
}

// Shifts by an amount that is known only at run time.
template <class Op, class T>
void exec_shift(const ExecContext& x, const Inst& in) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  const auto odd = [](uint32_t amount) { return amount >= kBits; };
  uint32_t lanes = 0;
  const std::byte* amounts = x.regs + in.src[1].offset;
  for (int lane = 0; lane < kWarpSize; ++lane)
    lanes |= uint32_t{odd(load_lane<uint32_t>(amounts, lane))} << lane;
  if (lanes &= x.mask; lanes != 0)
    note_out_of_range_shift(x, in, false, load_lane<uint32_t>(amounts, __builtin_ctz(lanes)),
                            kBits);
  exec_op_on_lanes<Op, T, T, uint32_t>(x, in);
}

template <class Op, class T>
ExecFn pick_shift(const Instruction& in) {
  const bool known = in.operands.back().kind == ptx::Operand::Kind::integer;
  return known ? exec_op_on_lanes<Op, T, T, uint32_t> : exec_shift<Op, T>;
}

void exec_nothing(const ExecContext&, const Inst&) {}

}  // namespace

ExecFn pick_and_pred(const Instruction&) { return exec_predicate_logic<AndBits>; }
ExecFn pick_or_pred(const Instruction&) { return exec_predicate_logic<OrBits>; }
ExecFn pick_xor_pred(const Instruction&) { return exec_predicate_logic<XorBits>; }
ExecFn pick_not_pred(const Instruction&) { return exec_not_pred; }

ExecFn pick_and_bits(const Instruction& in) { return pick_logic<AndBits>(in); }
ExecFn pick_or_bits(const Instruction& in) { return pick_logic<OrBits>(in); }
ExecFn pick_xor_bits(const Instruction& in) { return pick_logic<XorBits>(in); }
ExecFn pick_not_bits(const Instruction& in) {
  return Unsigned::pick_or_refuse(
      in, in.type(), [](auto t) { return unary_exec_fn<NotBits, TypeOf<decltype(t)>>(); });
}
ExecFn pick_cnot(const Instruction& in) {
  return Unsigned::pick_or_refuse(
      in, in.type(), [](auto t) { return unary_exec_fn<CNot, TypeOf<decltype(t)>>(); });
}

ExecFn pick_lop3(const Instruction&) { return exec_lop3; }
ExecFn pick_lop3_pred(const Instruction& in) {
  return in.has(Modifier::op_and) ? exec_lop3_pred<AndBits> : exec_lop3_pred<OrBits>;
}

ExecFn pick_shf(const Instruction& in) {
  return with_bool(in.has(Modifier::wrap), [&](auto wrap) {
    constexpr bool wraps = decltype(wrap)::value;
    return in.has(Modifier::l) ? ternary_exec_fn<ShfLeft<wraps>, uint32_t>()
                               : ternary_exec_fn<ShfRight<wraps>, uint32_t>();
  });
}
ExecFn pick_shl(const Instruction& in) {
  return Unsigned::pick_or_refuse(in, in.type(),
                                  [&](auto t) { return pick_shift<Shl, TypeOf<decltype(t)>>(in); });
}
ExecFn pick_shr(const Instruction& in) {
  return Integers::pick_or_refuse(in, in.type(),
                                  [&](auto t) { return pick_shift<Shr, TypeOf<decltype(t)>>(in); });
}

ExecFn pick_prmt(const Instruction& in) {
  if (in.has(Modifier::f4e)) return ternary_exec_fn<PrmtByMode<kPrmtF4e>, uint32_t>();
  if (in.has(Modifier::b4e)) return ternary_exec_fn<PrmtByMode<kPrmtB4e>, uint32_t>();
  if (in.has(Modifier::rc8)) return ternary_exec_fn<PrmtByMode<kPrmtRc8>, uint32_t>();
  if (in.has(Modifier::ecl)) return ternary_exec_fn<PrmtByMode<kPrmtEcl>, uint32_t>();
  if (in.has(Modifier::ecr)) return ternary_exec_fn<PrmtByMode<kPrmtEcr>, uint32_t>();
  if (in.has(Modifier::rc16)) return ternary_exec_fn<PrmtByMode<kPrmtRc16>, uint32_t>();
  return ternary_exec_fn<Prmt, uint32_t>();
}

// nanosleep has no effect: it would let other warps run, which they do anyway.
ExecFn pick_nanosleep(const Instruction&) { return exec_nothing; }
// griddepcontrol has no effect: grids run one after the other, so the grid for which this one would
// wait has ended.
ExecFn pick_griddepcontrol(const Instruction&) { return exec_nothing; }
// pmevent triggers a counter of a profiler, which no program can observe.
ExecFn pick_pmevent(const Instruction&) { return exec_nothing; }
ExecFn pick_nop(const Instruction&) { return exec_nothing; }

// ---------------------------------------------------------------------------------------------
// mov: between registers, and between a register and the elements of a vector.

namespace {

using ptx::DataType;
using ptx::Instruction;
using ptx::Operand;

// Moves a predicate, or an immediate that fills a word: `mov.pred %p, -1`.
void exec_mov_pred(const ExecContext& x, const Inst& in) {
  const RegisterSlot& s = in.src[0];
  const uint32_t bits = s.is_predicate ? read_predicate(x, s)
                                       : test_sources_of_all_lanes<uint32_t>(
                                             x, in, [](uint32_t a) { return a != 0; });
  write_predicate(x, in.dst[0], bits);
}

// In each lane, joins the sources one behind the other and cuts the result into the destinations.
// This packs and unpacks vectors and moves 128-bit registers. The first element of a vector is the
// lowest in the register.
void exec_mov_pack_unpack(const ExecContext& x, const Inst& in) {
  for (uint32_t rest = x.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    std::byte bytes[4 * 16] = {};
    size_t at = 0;
    for (int i = 0; i < in.src_count; ++i) {
      const size_t n = in.src[i].bytes;
      std::memcpy(bytes + at, x.regs + in.src[i].offset + static_cast<size_t>(lane) * n, n);
      at += n;
    }
    // The elements of a vector have equal widths, including an unused one ('_', no slot).
    const size_t width = at / in.dst_count;
    at = 0;
    for (int i = 0; i < in.dst_count; ++i) {
      const RegisterSlot& slot = in.dst[i];
      if (slot.bytes != 0) {
        std::memcpy(x.regs + slot.offset + static_cast<size_t>(lane) * slot.bytes, bytes + at,
                    slot.bytes);
      }
      at += width;
    }
  }
}

bool is_vector(const Operand& operand) { return operand.kind == Operand::Kind::vector; }

// Packs two halves into a register of twice their width, the lower half first, or unpacks such a
// register. A shuffle of 64-bit values spends half of its time here, so whole warps are processed
// by one loop.
template <class Half, class Whole>
void exec_pack_pair(const ExecContext& x, const Inst& in) {
  if (in.src[0].bytes != sizeof(Half) || in.src[1].bytes != sizeof(Half) ||
      in.dst[0].bytes != sizeof(Whole)) {
    return exec_mov_pack_unpack(x, in);
  }
  map_lanes<Whole, Half, Half>(x, in, [](Half low, Half high) {
    return static_cast<Whole>(low | static_cast<Whole>(high) << (8 * sizeof(Half)));
  });
}

template <class Half, class Whole>
void exec_unpack_pair(const ExecContext& x, const Inst& in) {
  const auto is_half = [](const RegisterSlot& to) {
    return to.bytes == 0 || to.bytes == sizeof(Half);
  };
  if (in.src[0].bytes != sizeof(Whole) || !is_half(in.dst[0]) || !is_half(in.dst[1]))
    return exec_mov_pack_unpack(x, in);
  const std::byte* const from = x.regs + in.src[0].offset;
  for (int i = 0; i < 2; ++i) {
    const RegisterSlot& to = in.dst[i];
    if (to.bytes == 0) continue;  // '_'
    alignas(32) std::byte result[kWarpSize * sizeof(Half)];
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const Whole both = load_lane<Whole>(from, lane);
      store_lane(result, lane, static_cast<Half>(both >> (8 * sizeof(Half) * i)));
    }
    copy_masked_lanes<Half>(x.regs + to.offset, result, x.mask);
  }
}

// nullptr: the instruction does not pack or unpack two halves.
ExecFn pick_mov_pair_pack_or_unpack(const Instruction& in) {
  const auto is_pair = [](const Operand& o) { return is_vector(o) && o.elements.size() == 2; };
  const bool to_pair = is_pair(in.operands[0]), from_pair = is_pair(in.operands[1]);
  if (to_pair == from_pair) return nullptr;
  switch (ptx::bits_of(in.type())) {
    case 32:
      return to_pair ? exec_unpack_pair<uint16_t, uint32_t> : exec_pack_pair<uint16_t, uint32_t>;
    case 64:
      return to_pair ? exec_unpack_pair<uint32_t, uint64_t> : exec_pack_pair<uint32_t, uint64_t>;
    default:
      return nullptr;
  }
}

template <class T>
void exec_mov(const ExecContext& x, const Inst& in) {
  if (in.dst[0].bytes == 0) return;
  // A special register may be wider than its destination: mov.u16 %rs1, %tid.x.
  if (in.dst[0].bytes != sizeof(T) || in.src[0].bytes != sizeof(T))
    return exec_mov_pack_unpack(x, in);
  std::byte* const d = x.regs + in.dst[0].offset;
  const std::byte* const s = x.regs + in.src[0].offset;
  if (x.mask == kFullMask) {
#pragma GCC ivdep
    for (int lane = 0; lane < kWarpSize; ++lane) store_lane<T>(d, lane, load_lane<T>(s, lane));
  } else if (d != s) {
    copy_masked_lanes<T>(d, s, x.mask);
  }
}

}  // namespace

ExecFn pick_mov_pred(const Instruction&) { return exec_mov_pred; }

ExecFn pick_mov(const Instruction& in) {
  const bool packs = std::any_of(in.operands.begin(), in.operands.end(), is_vector);
  if (const ExecFn halves = packs ? pick_mov_pair_pack_or_unpack(in) : nullptr) return halves;
  if (packs || in.type() == DataType::b128) return exec_mov_pack_unpack;
  return Unsigned::pick_or_refuse(in, unsigned_type_of_same_width(in.type()),
                                  [](auto t) -> ExecFn { return exec_mov<TypeOf<decltype(t)>>; });
}

}  // namespace lab32::sim
