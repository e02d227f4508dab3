// mov: between registers, and between a register and the elements of a vector.
#include <algorithm>
#include <cstring>

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

// The source is a predicate, or an immediate in a word: `mov.pred %p, -1`.
void exec_mov_pred(const Exec& x, const Inst& in) {
  const Slot& s = in.src[0];
  const uint32_t bits = s.is_predicate
                            ? read_predicate(x, s)
                            : test_lanes<uint32_t>(x, in, [](uint32_t a) { return a != 0; });
  write_predicate(x, in.dst[0], bits);
}

// Lane by lane, the sources one after the other, cut into the destinations: packs, unpacks and
// moves 128-bit registers. The first element of a vector is the lowest in the register.
void exec_mov_bytes(const Exec& x, const Inst& in) {
  for (uint32_t rest = x.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    std::byte bytes[4 * 16] = {};
    size_t at = 0;
    for (int i = 0; i < in.src_count; ++i) {
      const size_t n = in.src[i].bytes;
      std::memcpy(bytes + at, x.regs + in.src[i].offset + static_cast<size_t>(lane) * n, n);
      at += n;
    }
    // The elements of a vector are equally wide, also one that is not wanted ('_', no slot).
    const size_t width = at / in.dst_count;
    at = 0;
    for (int i = 0; i < in.dst_count; ++i) {
      const Slot& slot = in.dst[i];
      if (slot.bytes != 0) {
        std::memcpy(x.regs + slot.offset + static_cast<size_t>(lane) * slot.bytes, bytes + at,
                    slot.bytes);
      }
      at += width;
    }
  }
}

bool is_vector(const Operand& operand) { return operand.kind == Operand::Kind::vector; }

// Two halves into a register of twice their width, the lower first, and back: of whole warps, half
// of what takes a shuffle of 64-bit values.
template <class Half, class Whole>
void exec_pack(const Exec& x, const Inst& in) {
  if (in.src[0].bytes != sizeof(Half) || in.src[1].bytes != sizeof(Half) ||
      in.dst[0].bytes != sizeof(Whole)) {
    return exec_mov_bytes(x, in);
  }
  map_lanes<Whole, Half, Half>(x, in, [](Half low, Half high) {
    return static_cast<Whole>(low | static_cast<Whole>(high) << (8 * sizeof(Half)));
  });
}

template <class Half, class Whole>
void exec_unpack(const Exec& x, const Inst& in) {
  const auto is_half = [](const Slot& to) { return to.bytes == 0 || to.bytes == sizeof(Half); };
  if (in.src[0].bytes != sizeof(Whole) || !is_half(in.dst[0]) || !is_half(in.dst[1]))
    return exec_mov_bytes(x, in);
  const std::byte* const from = x.regs + in.src[0].offset;
  for (int i = 0; i < 2; ++i) {
    const Slot& to = in.dst[i];
    if (to.bytes == 0) continue;  // '_'
    alignas(32) std::byte result[kWarpSize * sizeof(Half)];
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const Whole both = load_lane<Whole>(from, lane);
      store_lane(result, lane, static_cast<Half>(both >> (8 * sizeof(Half) * i)));
    }
    blend<Half>(x.regs + to.offset, result, x.mask);
  }
}

// nullptr: not of two halves.
ExecFn pick_halves(const Instruction& in) {
  const auto is_pair = [](const Operand& o) { return is_vector(o) && o.elements.size() == 2; };
  const bool to_pair = is_pair(in.operands[0]), from_pair = is_pair(in.operands[1]);
  if (to_pair == from_pair) return nullptr;
  switch (ptx::bits_of(in.type())) {
    case 32:
      return to_pair ? exec_unpack<uint16_t, uint32_t> : exec_pack<uint16_t, uint32_t>;
    case 64:
      return to_pair ? exec_unpack<uint32_t, uint64_t> : exec_pack<uint32_t, uint64_t>;
    default:
      return nullptr;
  }
}

template <class T>
void exec_mov(const Exec& x, const Inst& in) {
  if (in.dst[0].bytes == 0) return;
  // A special register may be wider than what it is read into: mov.u16 %rs1, %tid.x.
  if (in.dst[0].bytes != sizeof(T) || in.src[0].bytes != sizeof(T)) return exec_mov_bytes(x, in);
  std::byte* const d = x.regs + in.dst[0].offset;
  const std::byte* const s = x.regs + in.src[0].offset;
  if (x.mask == kFullMask) {
#pragma GCC ivdep
    for (int lane = 0; lane < kWarpSize; ++lane) store_lane<T>(d, lane, load_lane<T>(s, lane));
  } else if (d != s) {
    blend<T>(d, s, x.mask);
  }
}

}  // namespace

ExecFn pick_mov_pred(const Instruction&) { return exec_mov_pred; }

ExecFn pick_mov(const Instruction& in) {
  const bool packs = std::any_of(in.operands.begin(), in.operands.end(), is_vector);
  if (const ExecFn halves = packs ? pick_halves(in) : nullptr) return halves;
  if (packs || in.type() == Type::b128) return exec_mov_bytes;
  return Unsigned::pick(in, as_bits(in.type()),
                        [](auto t) -> ExecFn { return exec_mov<TypeOf<decltype(t)>>; });
}

}  // namespace lab32::sim
