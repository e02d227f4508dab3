#include <cstring>

#include "simulator/core/isa/shuffle_lane.h"
#include "simulator/core/semantics/lanes.h"
#include "simulator/core/undefined/definedness.h"

namespace lab32::sim {
namespace {

using ptx::OpId;

RegisterBits128 operator|(RegisterBits128 a, RegisterBits128 b) {
  return {a.low | b.low, a.high | b.high};
}
RegisterBits128 operator&(RegisterBits128 a, RegisterBits128 b) {
  return {a.low & b.low, a.high & b.high};
}
RegisterBits128 operator^(RegisterBits128 a, RegisterBits128 b) {
  return {a.low ^ b.low, a.high ^ b.high};
}

unsigned width(const RegisterSlot& slot) { return slot.is_predicate ? 1 : slot.bytes * 8u; }

class UndefinedBitFlow {
 public:
  UndefinedBitFlow(const ExecContext& x, const Inst& in, const std::byte* undefined)
      : x_(x), in_(in), undefined_(undefined) {}

  UndefinedResultBits propagate() {
    switch (in_.ptx->op->id) {
      case OpId::mov:
      case OpId::mov_pred:
      case OpId::cvta:
      case OpId::cvta_to:
      case OpId::not_bits:
      case OpId::not_pred:
        for_each_lane([&](int l) { propagate_copy(l); });
        break;
      case OpId::and_bits:
      case OpId::or_bits:
      case OpId::xor_bits:
      case OpId::and_pred:
      case OpId::or_pred:
      case OpId::xor_pred:
        propagate_bitwise(2);
        break;
      case OpId::lop3:
        propagate_bitwise(3);
        break;
      case OpId::shl:
      case OpId::shr:
      case OpId::bfe:
      case OpId::szext:
        propagate_moved_bits(1);
        break;
      case OpId::shf:
      case OpId::bfi:
      case OpId::prmt:
        propagate_moved_bits(2);
        break;
      case OpId::cvt:
        if (is_integer_conversion())
          propagate_moved_bits(1);
        else
          propagate_all_bits();
        break;
      case OpId::selp:
        for_each_lane([&](int l) { propagate_selection(l); });
        break;
      case OpId::add_int:
      case OpId::sub_int:
      case OpId::neg_int:
      case OpId::mul_lo:
      case OpId::mad_lo:
      case OpId::mul_wide:
        for_each_lane([&](int l) { propagate_carry(l); });
        break;
      case OpId::setp:
      case OpId::setp_bool:
        propagate_comparison();
        break;
      case OpId::shfl:
        propagate_shuffle();
        break;
      case OpId::vote_ballot:
        for_each_lane([&](int l) { out_[0][at(l)] = {lanes_with_undefined_bits(0), 0}; });
        break;
      case OpId::vote_pred:
        propagate_vote();
        break;
      default:
        in_.ptx->op->traits.sync == ptx::InstructionSync::warp ? spread_undefined_to_all_lanes()
                                                               : propagate_all_bits();
    }
    return out_;
  }

 private:
  static size_t at(int lane) { return static_cast<size_t>(lane); }
  template <class F>
  void for_each_lane(F f) const {
    for (uint32_t r = x_.mask; r; r &= r - 1) f(__builtin_ctz(r));
  }
  RegisterBits128 value_bits_of_source(unsigned source, int l) const {
    RegisterBits128 bits = get_register_bits(x_.regs, in_.src[source], l);
    if (in_.src[source].negated) bits.low ^= 1;
    return bits;
  }
  RegisterBits128 undefined_bits_of(unsigned source, int l) const {
    return get_register_bits(undefined_, in_.src[source], l);
  }
  // The lanes in which some bit of the source is undefined.
  uint32_t lanes_with_undefined_bits(unsigned source) const {
    uint32_t lanes = 0;
    if (source < in_.src_count && in_.src[source].bytes != 0)
      for_each_lane(
          [&](int l) { lanes |= static_cast<uint32_t>(undefined_bits_of(source, l).any()) << l; });
    return lanes;
  }
  uint32_t lanes_with_undefined_carry() const {
    uint32_t lanes = 0;
    if (in_.ptx->op->traits.carry) std::memcpy(&lanes, undefined_ + in_.mem_base.offset, 4);
    return lanes & x_.mask;
  }
  void make_results_undefined(uint32_t lanes) {
    for (uint8_t d = 0; d < in_.dst_count; ++d)
      for (uint32_t r = lanes; r; r &= r - 1)
        out_[d][at(__builtin_ctz(r))] = all_bits_of_slot(in_.dst[d]);
  }

  void propagate_all_bits() {
    uint32_t lanes = lanes_with_undefined_carry();
    for (unsigned s = 0; s < in_.src_count; ++s) lanes |= lanes_with_undefined_bits(s);
    make_results_undefined(lanes);
  }
  void spread_undefined_to_all_lanes() {
    for (unsigned s = 0; s < in_.src_count; ++s)
      if (lanes_with_undefined_bits(s) != 0) make_results_undefined(x_.mask);
  }

  // mov packs and unpacks vectors: the undefined bits of the sources, one behind the other, are
  // those of the results.
  void propagate_copy(int l) {
    unsigned __int128 bits = 0;
    unsigned filled = 0;
    for (unsigned s = 0; s < in_.src_count; ++s) {
      const RegisterBits128 u = undefined_bits_of(s, l);
      bits |= (static_cast<unsigned __int128>(u.high) << 64 | u.low) << filled;
      filled += width(in_.src[s]);
      if (filled >= 128) break;
    }
    for (unsigned d = 0, taken = 0; d < in_.dst_count && taken < 128;
         taken += width(in_.dst[d]), ++d) {
      const auto rest = bits >> taken;
      const RegisterBits128 all = all_bits_of_slot(in_.dst[d]);
      out_[d][at(l)] =
          RegisterBits128{static_cast<uint64_t>(rest), static_cast<uint64_t>(rest >> 64)} & all;
    }
  }

  // A bit of the result is undefined if its value would change when an undefined bit of a source
  // changes.
  void propagate_bitwise(unsigned sources) {
    for_each_lane([&](int l) {
      RegisterBits128 v[3], u[3];
      for (unsigned s = 0; s < sources; ++s) {
        v[s] = value_bits_of_source(s, l);
        u[s] = undefined_bits_of(s, l);
      }
      const RegisterBits128 as_is = bitwise_result(v, l);
      for (unsigned flipped = 1; flipped < 1u << sources; ++flipped) {
        RegisterBits128 w[3];
        for (unsigned s = 0; s < sources; ++s) w[s] = (flipped >> s & 1) != 0 ? v[s] ^ u[s] : v[s];
        out_[0][at(l)] = out_[0][at(l)] | (bitwise_result(w, l) ^ as_is);
      }
      out_[0][at(l)] = out_[0][at(l)] & all_bits_of_slot(in_.dst[0]);
    });
  }
  RegisterBits128 bitwise_result(const RegisterBits128* v, int l) const {
    switch (in_.ptx->op->id) {
      case OpId::and_bits:
      case OpId::and_pred:
        return v[0] & v[1];
      case OpId::or_bits:
      case OpId::or_pred:
        return v[0] | v[1];
      case OpId::lop3: {
        const uint64_t table = value_bits_of_source(3, l).low;
        uint64_t result = 0;
        for (unsigned row = 0; row < 8; ++row)
          if ((table >> row & 1) != 0)
            result |= ((row & 4) != 0 ? v[0].low : ~v[0].low) &
                      ((row & 2) != 0 ? v[1].low : ~v[1].low) &
                      ((row & 1) != 0 ? v[2].low : ~v[2].low);
        return {result, 0};
      }
      default:
        return v[0] ^ v[1];
    }
  }

  // For instructions that only move bits: executes the instruction on the undefined bits of its
  // first `data_source_count` sources. The other sources select which bits move where.
  void propagate_moved_bits(unsigned data_source_count) {
    uint32_t unsure = 0;
    for (unsigned s = data_source_count; s < in_.src_count; ++s) {
      unsure |= lanes_with_undefined_bits(s);
      for (unsigned d = 0; d < data_source_count; ++d)
        if (in_.src[d].offset == in_.src[s].offset) return propagate_all_bits();
    }
    std::byte kept[2][kWarpSize * 8], result[kWarpSize * 8];
    const RegisterSlot& to = in_.dst[0];
    if (to.bytes == 0) return;
    std::memcpy(result, x_.regs + to.offset, to.bytes * 32u);
    for (unsigned d = 0; d < data_source_count; ++d)
      std::memcpy(kept[d], x_.regs + in_.src[d].offset, in_.src[d].bytes * 32u);
    for (unsigned d = 0; d < data_source_count; ++d)
      std::memcpy(x_.regs + in_.src[d].offset, undefined_ + in_.src[d].offset,
                  in_.src[d].bytes * 32u);
    in_.exec(x_, in_);
    for_each_lane([&](int l) { out_[0][at(l)] = get_register_bits(x_.regs, to, l); });
    // The result is stored at the end, because the result register may also be a source.
    std::memcpy(x_.regs + to.offset, result, to.bytes * 32u);
    for (unsigned d = data_source_count; d-- > 0;)
      std::memcpy(x_.regs + in_.src[d].offset, kept[d], in_.src[d].bytes * 32u);
    make_results_undefined(unsure);
  }

  bool is_integer_conversion() const {
    const ptx::Instruction& p = *in_.ptx;
    return !ptx::is_float(p.types[0]) && !ptx::is_float(p.types[1]) && !p.has(ptx::Modifier::sat);
  }

  void propagate_selection(int l) {
    const RegisterBits128 a = undefined_bits_of(0, l), b = undefined_bits_of(1, l);
    if (undefined_bits_of(2, l).any())
      out_[0][at(l)] = (a | b | (value_bits_of_source(0, l) ^ value_bits_of_source(1, l))) &
                       all_bits_of_slot(in_.dst[0]);
    else
      out_[0][at(l)] = value_bits_of_source(2, l).low != 0 ? a : b;
  }

  // In a sum or product an undefined bit makes itself and all higher bits of the result undefined.
  void propagate_carry(int l) {
    RegisterBits128 any;
    for (unsigned s = 0; s < in_.src_count; ++s) any = any | undefined_bits_of(s, l);
    if (any.low != 0)
      out_[0][at(l)] =
          RegisterBits128{~((any.low & (~any.low + 1)) - 1), 0} & all_bits_of_slot(in_.dst[0]);
  }

  void propagate_comparison() {
    const bool equality = (in_.ptx->has(ptx::Modifier::eq) || in_.ptx->has(ptx::Modifier::ne)) &&
                          !ptx::is_float(in_.ptx->type());
    uint32_t unsure = 0;
    for_each_lane([&](int l) {
      const RegisterBits128 u = undefined_bits_of(0, l) | undefined_bits_of(1, l);
      const bool differ =
          equality &&
          ((value_bits_of_source(0, l).low ^ value_bits_of_source(1, l).low) & ~u.low) != 0;
      unsure |= static_cast<uint32_t>(u.any() && !differ) << l;
    });
    if (in_.src_count > 2) {
      const uint32_t q = read_predicate(x_, in_.src[2]), unsure_q = lanes_with_undefined_bits(2);
      if (in_.ptx->has(ptx::Modifier::op_and))
        unsure &= q | unsure_q;
      else if (in_.ptx->has(ptx::Modifier::op_or))
        unsure &= ~q | unsure_q;
      unsure |= unsure_q & lanes_where_comparison_matters(unsure_q);
    }
    make_results_undefined(unsure);
  }
  // The lanes whose result depends on the comparison and not only on the predicate with which it is
  // combined.
  uint32_t lanes_where_comparison_matters(uint32_t lanes) const {
    if (in_.dst[0].bytes == 0) return lanes;
    std::byte* const p = x_.regs + in_.src[2].offset;
    std::byte* const to = x_.regs + in_.dst[0].offset;
    uint32_t kept[4] = {}, q, before, as_is, flipped;
    std::memcpy(&q, p, 4);
    std::memcpy(&before, to, 4);
    const bool pair = in_.dst_count > 1 && in_.dst[1].bytes != 0;
    if (pair) std::memcpy(kept, x_.regs + in_.dst[1].offset, 4);
    in_.exec(x_, in_);
    std::memcpy(&as_is, to, 4);
    std::memcpy(to, &before, 4);
    const uint32_t other = q ^ lanes;
    std::memcpy(p, &other, 4);
    in_.exec(x_, in_);
    std::memcpy(&flipped, to, 4);
    std::memcpy(to, &before, 4);
    if (pair) std::memcpy(x_.regs + in_.dst[1].offset, kept, 4);
    std::memcpy(p, &q, 4);
    return as_is ^ flipped;
  }

  void propagate_shuffle() {
    const uint32_t unsure =
        lanes_with_undefined_bits(1) | lanes_with_undefined_bits(2) | lanes_with_undefined_bits(3);
    for_each_lane([&](int l) {
      if ((unsure >> l & 1) != 0) return;
      const ShuffleSource from = shuffle_source(shuffle_mode_of(*in_.ptx), in_, x_, l);
      const int source = (x_.mask >> from.lane & 1) != 0 ? static_cast<int>(from.lane) : l;
      out_[0][at(l)] = undefined_bits_of(0, source);
    });
    make_results_undefined(unsure);
  }

  // A vote is defined if a lane with a defined predicate already determines it.
  void propagate_vote() {
    const uint32_t unsure = lanes_with_undefined_bits(0);
    if (unsure == 0) return;
    const uint32_t yes = read_predicate(x_, in_.src[0]) & x_.mask & ~unsure;
    const uint32_t no = x_.mask & ~unsure & ~yes;
    const ptx::Instruction& p = *in_.ptx;
    const bool settled = p.has(ptx::Modifier::any)   ? yes != 0
                         : p.has(ptx::Modifier::all) ? no != 0
                                                     : yes != 0 && no != 0;
    if (!settled) make_results_undefined(x_.mask);
  }

  const ExecContext& x_;
  const Inst& in_;
  const std::byte* undefined_;
  UndefinedResultBits out_{};
};

}  // namespace

RegisterBits128 get_register_bits(const std::byte* file, const RegisterSlot& slot, int lane) {
  if (slot.is_predicate) return {load_lane<uint32_t>(file + slot.offset, 0) >> lane & 1, 0};
  RegisterBits128 bits;
  std::memcpy(&bits, file + slot.offset + lane * slot.bytes, slot.bytes);
  return bits;
}

void set_register_bits(std::byte* file, const RegisterSlot& slot, int lane, RegisterBits128 bits) {
  if (slot.bytes == 0) return;
  if (!slot.is_predicate) {
    std::memcpy(file + slot.offset + lane * slot.bytes, &bits, slot.bytes);
    return;
  }
  const uint32_t others = load_lane<uint32_t>(file + slot.offset, 0) & ~(1u << lane);
  store_lane(file + slot.offset, 0, others | static_cast<uint32_t>(bits.low & 1) << lane);
}

RegisterBits128 all_bits_of_slot(const RegisterSlot& slot) {
  if (slot.is_predicate) return {1, 0};
  return {slot.bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << slot.bytes * 8) - 1,
          slot.bytes == 16 ? ~uint64_t{0} : 0};
}

UndefinedResultBits undefined_result_bits(const ExecContext& x, const Inst& in,
                                          const std::byte* undefined) {
  return UndefinedBitFlow(x, in, undefined).propagate();
}

}  // namespace lab32::sim
