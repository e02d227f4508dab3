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

bool is_vector(const Operand& operand) { return operand.kind == Operand::Kind::vector; }

}  // namespace

ExecFn pick_mov_pred(const Instruction&) { return exec_mov_pred; }

ExecFn pick_mov(const Instruction& in) {
  const bool packs = std::any_of(in.operands.begin(), in.operands.end(), is_vector);
  if (packs || in.type() == Type::b128) return exec_mov_bytes;
  return Unsigned::pick(in, as_bits(in.type()),
                        [](auto t) -> ExecFn { return exec_mov<TypeOf<decltype(t)>>; });
}

}  // namespace lab32::sim
