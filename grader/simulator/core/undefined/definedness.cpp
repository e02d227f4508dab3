#include "simulator/core/undefined/definedness.h"

#include <algorithm>
#include <cstring>

#include "simulator/core/isa/fragments.h"
#include "simulator/core/isa/memory_lanes.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {
namespace {

using MemoryKind = ptx::AddressUse::Kind;

const ptx::InstructionTraits& traits_of(const Inst& in) { return in.ptx->op->traits; }

// Whether the instruction only computes: it does not access memory, wait or change control flow.
bool only_computes(const Inst& in) {
  const ptx::InstructionTraits& t = traits_of(in);
  return t.memory_count == 0 && !t.is_texture() && !t.bulk &&
         t.sync == ptx::InstructionSync::none && t.transfer == ptx::ControlTransfer::next;
}

bool accesses_parameters(const Inst& in) {
  return traits_of(in).memory_count > 0 && traits_of(in).memory[0].space == ptx::Space::param;
}

unsigned element_bytes(const Inst& in) { return ptx::bytes_of(in.ptx->type()); }

}  // namespace

FrameUndefinedBits::FrameUndefinedBits(size_t register_bytes, size_t param_bytes)
    : registers(register_bytes), params(param_bytes * kWarpSize) {}

FrameUndefinedBits& UndefinedBitTracker::undefined_bits_of_frame(CallFrame& frame) {
  if (!frame.undefined)
    frame.undefined = std::make_unique<FrameUndefinedBits>(frame.function->register_bytes,
                                                           frame.function->param_bytes);
  return *frame.undefined;
}

uint32_t UndefinedBitTracker::undefined_lanes(const FrameUndefinedBits& u, const RegisterSlot& slot,
                                              uint32_t mask) const {
  if (slot.bytes == 0) return 0;
  const std::byte* const bits = u.registers.data();
  uint32_t lanes = 0;
  if (slot.is_predicate) {
    lanes = load_lane<uint32_t>(bits + slot.offset, 0);
  } else {
    for (uint32_t r = mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      lanes |= static_cast<uint32_t>(get_register_bits(bits, slot, l).any()) << l;
    }
  }
  return lanes & mask;
}

uint32_t UndefinedBitTracker::lanes_with_undefined_guard(const FrameUndefinedBits& u,
                                                         const Inst& in, uint32_t mask) const {
  return in.has_guard ? load_lane<uint32_t>(u.registers.data() + in.guard, 0) & mask : 0;
}

// ---------------------------------------------------------------------------------------------
// Where a value matters

void UndefinedBitTracker::report_undefined_operand(FrameUndefinedBits& u, const RegisterSlot& slot,
                                                   uint32_t lanes, ValueUse use) {
  BlockContext& block = warp_.block();
  // Each undefined value is reported once. Afterwards it counts as defined, so that its
  // consequences are not reported again.
  for (uint32_t r = lanes; r; r &= r - 1)
    set_register_bits(u.registers.data(), slot, __builtin_ctz(r), {});
  const FrameUndefinedBits::OfLanes& origin = u.origin[slot.offset];
  for (uint32_t left = lanes; left != 0;) {
    const UndefinedOrigins::Id id = origin[static_cast<size_t>(__builtin_ctz(left))];
    uint32_t same = 0;
    for (uint32_t r = left; r; r &= r - 1)
      if (origin[static_cast<size_t>(__builtin_ctz(r))] == id) same |= r & (~r + 1);
    left &= ~same;
    block.undefined_origins().for_each_origin(
        id, [&](const UndefinedOrigin& o) { block.faults().report_undefined_use(o, use, same); });
  }
}

void UndefinedBitTracker::require_defined(FrameUndefinedBits& u, const RegisterSlot& slot,
                                          uint32_t mask, ValueUse use) {
  if (const uint32_t lanes = undefined_lanes(u, slot, mask))
    report_undefined_operand(u, slot, lanes, use);
}

uint32_t UndefinedBitTracker::lanes_accessing_device_memory(uint32_t mask, const Inst& in) const {
  uint64_t address[kWarpSize];
  lane_addresses({warp_.current().frame->regs, mask, &warp_}, in.mem_base, in.mem_offset, address);
  switch (space_of(*in.ptx)) {
    case ptx::Space::global:
      return mask;
    case ptx::Space::generic:
      return mask & ~lanes_in_window(address, mask, kSharedBase) &
             ~lanes_in_window(address, mask, kLocalBase);
    default:
      return 0;
  }
}

uint32_t UndefinedBitTracker::lanes_storing_undefined_value(const FrameUndefinedBits& u,
                                                            uint32_t lanes, const Inst& in) const {
  const unsigned bytes = element_bytes(in);
  const bool is_number = ptx::is_float(in.ptx->type());
  // Whether the undefined bytes of an element may be the padding of a structure: whole bytes behind
  // a defined member, or a word that was read together with a written neighbour.
  const auto may_be_padding = [&](uint8_t s, int lane, RegisterBits128 bits) {
    unsigned undefined = 0;
    bool whole = true;
    for (unsigned b = 0; b < bytes; ++b) {
      undefined += bits.byte(b) != 0;
      whole &= bits.byte(b) == 0 || bits.byte(b) == 0xff;
    }
    if (!whole || (undefined == bytes && is_number)) return false;
    if (s > 0 || bits.byte(0) == 0) return true;
    const auto origin = u.origin.find(in.src[s].offset);
    bool beside_written = undefined == bytes && origin != u.origin.end();
    if (beside_written)
      warp_.block().undefined_origins().for_each_origin(
          origin->second[static_cast<size_t>(lane)],
          [&](const UndefinedOrigin& o) { beside_written &= o.beside_written; });
    return beside_written;
  };
  uint32_t found = 0;
  for (uint32_t r = lanes; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    for (uint8_t s = 0; s < in.src_count; ++s) {
      const RegisterBits128 bits = get_register_bits(u.registers.data(), in.src[s], l);
      if (bits.any() && !may_be_padding(s, l, bits)) found |= 1u << l;
    }
  }
  return found;
}

// Requires defined operands for an instruction with effects beyond its registers.
void UndefinedBitTracker::check_operands_with_side_effects(FrameUndefinedBits& u, uint32_t mask,
                                                           const Inst& in) {
  const ptx::InstructionTraits& t = traits_of(in);
  if (t.memory_count > 0 && !accesses_parameters(in)) {
    require_defined(u, in.mem_base, mask, ValueUse::address);
    require_defined(u, in.mem_base2, mask, ValueUse::address);
  }
  const bool updates = t.has_address_used_as(MemoryKind::update);
  const bool waits = t.sync != ptx::InstructionSync::none && t.sync != ptx::InstructionSync::warp;
  if (updates || waits || t.memory_count > 1)
    for (uint8_t s = 0; s < in.src_count; ++s)
      require_defined(u, in.src[s], mask, updates ? ValueUse::atomic : ValueUse::branch);
  // The member mask must be defined, because it says for which lanes the instruction waits.
  if (t.sync == ptx::InstructionSync::warp && !t.of_whole_warp())
    require_defined(u, in.src[in.src_count - 1], mask, ValueUse::branch);
  if (t.has_address_used_as(MemoryKind::store) && t.memory_count == 1 && !accesses_parameters(in)) {
    if (t.matrix)  // lanes write parts of other lanes' rows, so undefined bits are not tracked
      for (uint8_t s = 0; s < in.src_count; ++s)
        require_defined(u, in.src[s], mask, ValueUse::output);
    const uint32_t device =
        lanes_storing_undefined_value(u, lanes_accessing_device_memory(mask, in), in);
    for (uint8_t s = 0; s < in.src_count; ++s)
      require_defined(u, in.src[s], device, ValueUse::output);
  }
}

void UndefinedBitTracker::check_control_flow_operands(CallFrame& frame, uint32_t mask,
                                                      const Inst& in) {
  if (!frame.undefined) return;
  FrameUndefinedBits& u = *frame.undefined;
  if (const uint32_t lanes = lanes_with_undefined_guard(u, in, mask))
    propagate_or_report_guard(frame, lanes, in);
  const ptx::InstructionTraits& t = traits_of(in);
  // Such an instruction is executed, and checked, when all lanes have arrived.
  if (t.sync == ptx::InstructionSync::warp) return;
  for (uint8_t s = 0; s < in.src_count; ++s) require_defined(u, in.src[s], mask, ValueUse::branch);
  if (in.flow == DispatchKind::call) {
    const CallSite& site = warp_.program().calls[in.target];
    require_defined(u, site.pointer, mask, ValueUse::branch);
  }
}

void UndefinedBitTracker::propagate_or_report_guard(CallFrame& frame, uint32_t mask,
                                                    const Inst& in) {
  if (!frame.undefined) return;
  FrameUndefinedBits& u = *frame.undefined;
  const uint32_t lanes = lanes_with_undefined_guard(u, in, mask);
  if (lanes == 0) return;
  RegisterSlot guard;
  guard.offset = in.guard;
  guard.bytes = 1;
  guard.is_predicate = true;
  if (!only_computes(in)) return report_undefined_operand(u, guard, lanes, ValueUse::branch);
  for (uint8_t d = 0; d < in.dst_count; ++d) {
    if (in.dst[d].bytes == 0) continue;
    for (uint32_t r = lanes; r; r &= r - 1)
      set_register_bits(u.registers.data(), in.dst[d], __builtin_ctz(r),
                        all_bits_of_slot(in.dst[d]));
    const FrameUndefinedBits::OfLanes from = u.origin[in.guard];
    FrameUndefinedBits::OfLanes& to = u.origin[in.dst[d].offset];
    for (uint32_t r = lanes; r; r &= r - 1)
      to[static_cast<size_t>(__builtin_ctz(r))] = from[static_cast<size_t>(__builtin_ctz(r))];
  }
}

// ---------------------------------------------------------------------------------------------
// Propagation

void UndefinedBitTracker::execute_and_propagate(CallFrame& frame, uint32_t mask, const Inst& in) {
  const ExecContext x{frame.regs, mask, &warp_};
  if (!frame.undefined) return in.exec(x, in);
  FrameUndefinedBits& u = *frame.undefined;
  if (!only_computes(in)) propagate_or_report_guard(frame, warp_.current().mask, in);
  check_operands_with_side_effects(u, mask, in);
  if (traits_of(in).fragments) return execute_on_fragments(u, x, in);
  if (traits_of(in).is_texture()) {
    const TextureOrSurfaceOp& op = warp_.program().texture_ops[in.target];
    for (const RegisterSlot& slot : sources_of(op))
      require_defined(u, slot, mask, ValueUse::address);
    if (traits_of(in).writes_texels)
      for (const RegisterSlot& slot : op.value)
        require_defined(u, slot, mask, op.reduction ? ValueUse::atomic : ValueUse::output);
    mark_results_defined(u, mask, in);  // the fetch itself marks undefined results
    return in.exec(x, in);
  }
  if (traits_of(in).bulk) {
    const BulkOp& op = warp_.program().bulk_ops[in.target];
    for (const RegisterSlot& slot : sources_of(op))
      require_defined(u, slot, mask, ValueUse::address);
    return execute_bulk_op(u, x, in, op);
  }
  if (accesses_parameters(in)) {
    mark_results_defined(u, mask, in);
    in.exec(x, in);
    if (traits_of(in).has_address_used_as(MemoryKind::load))
      load_undefined_bits_from_params(u, frame, mask, in);
    else
      store_undefined_bits_to_params(u, frame, mask, in);
    return;
  }
  if (traits_of(in).memory_count > 0) {
    mark_results_defined(u, mask, in);  // the load itself marks results that it found undefined
    in.exec(x, in);
    if (traits_of(in).has_address_used_as(MemoryKind::store) && traits_of(in).memory_count == 1)
      copy_undefined_bits_to_memory(frame, u, mask, in);
    return;
  }
  uint32_t any = 0;
  FrameUndefinedBits::OfLanes origin{};
  UndefinedOrigins& origins = warp_.block().undefined_origins();
  const auto take = [&](uint32_t offset, uint32_t lanes) {
    if (lanes == 0) return;
    const FrameUndefinedBits::OfLanes& from = u.origin[offset];
    for (uint32_t r = lanes; r; r &= r - 1) {
      const auto l = static_cast<size_t>(__builtin_ctz(r));
      origin[l] = (any >> l & 1) != 0 ? origins.join_origins(origin[l], from[l]) : from[l];
    }
    any |= lanes;
  };
  for (uint8_t s = 0; s < in.src_count; ++s)
    take(in.src[s].offset, undefined_lanes(u, in.src[s], mask));
  if (traits_of(in).carry)
    take(in.mem_base.offset,
         load_lane<uint32_t>(u.registers.data() + in.mem_base.offset, 0) & mask);
  // The instruction exchanges values between lanes. The simulator does not track from which lane an
  // undefined value comes, only the set of possible origins.
  if (any != 0 && traits_of(in).sync == ptx::InstructionSync::warp) {
    UndefinedOrigins::Id all = origin[static_cast<size_t>(__builtin_ctz(any))];
    for (uint32_t r = any; r; r &= r - 1)
      all = origins.join_origins(all, origin[static_cast<size_t>(__builtin_ctz(r))]);
    origin.fill(all);
  }
  if (any == 0) {
    mark_results_defined(u, mask, in);
    in.exec(x, in);
  } else {
    const UndefinedResultBits results = undefined_result_bits(x, in, u.registers.data());
    uint32_t carry = 0;
    for (uint8_t d = 0; d < in.dst_count; ++d) {
      if (in.dst[d].bytes == 0) continue;
      for (uint32_t r = mask; r; r &= r - 1) {
        const int l = __builtin_ctz(r);
        const RegisterBits128 bits = results[d][static_cast<size_t>(l)];
        set_register_bits(u.registers.data(), in.dst[d], l, bits);
        carry |= static_cast<uint32_t>(bits.any()) << l;
      }
      u.origin[in.dst[d].offset] = origin;
    }
    if (traits_of(in).carry) {
      const uint32_t others = load_lane<uint32_t>(u.registers.data() + in.mem_base.offset, 0);
      store_lane(u.registers.data() + in.mem_base.offset, 0, (others & ~mask) | carry);
      u.origin[in.mem_base.offset] = origin;
    }
    in.exec(x, in);  // the shuffle marks results that it reads from absent lanes
  }
  if (in.has_guard) propagate_or_report_guard(frame, warp_.current().mask, in);
}

// An element of the result is undefined if an element of its row of A, its column of B, or C is.
// The exact origin is not tracked, only the set of possible origins.
void UndefinedBitTracker::execute_on_fragments(FrameUndefinedBits& u, const ExecContext& x,
                                               const Inst& in) {
  const FragmentOp& op = fragment_op(x, in);
  const auto define = [&](const MatrixFragment& fragment) {
    for (const RegisterSlot& slot : fragment.slots)
      for (int l = 0; l < kWarpSize; ++l) set_register_bits(u.registers.data(), slot, l, {});
  };
  if (traits_of(in).memory_count > 0) {
    if (traits_of(in).has_address_used_as(MemoryKind::load))
      define(op.moved);  // the load itself marks results that it found undefined
    else
      for (const RegisterSlot& slot : op.moved.slots)
        require_defined(u, slot, lanes_accessing_device_memory(x.mask, in), ValueUse::output);
    return in.exec(x, in);
  }
  bool any = false;
  UndefinedOrigins::Id all{};
  const auto look = [&](const RegisterSlot& slot) {
    for (uint32_t r = undefined_lanes(u, slot, x.mask); r; r &= r - 1) {
      const UndefinedOrigins::Id own = u.origin[slot.offset][static_cast<size_t>(__builtin_ctz(r))];
      all = any ? warp_.block().undefined_origins().join_origins(all, own) : own;
      any = true;
    }
  };
  for (const MatrixFragment* fragment : {&op.a, &op.b, &op.c})
    for (const RegisterSlot& slot : fragment->slots) look(slot);
  if (op.form.sparse) look(op.metadata);
  // The undefined bits are computed before the instruction executes, because D may use the
  // registers of an operand.
  if (any) propagate_undefined_bits(op, x.regs, u.registers.data());
  in.exec(x, in);
  if (!any) return define(op.d);
  for (const RegisterSlot& slot : op.d.slots) u.origin[slot.offset].fill(all);
}

void UndefinedBitTracker::mark_results_defined(FrameUndefinedBits& u, uint32_t mask,
                                               const Inst& in) {
  for (uint8_t d = 0; d < in.dst_count; ++d) {
    if (in.dst[d].bytes == 0 || undefined_lanes(u, in.dst[d], mask) == 0) continue;
    for (uint32_t r = mask; r; r &= r - 1)
      set_register_bits(u.registers.data(), in.dst[d], __builtin_ctz(r), {});
  }
  if (traits_of(in).carry) {
    const uint32_t bits = load_lane<uint32_t>(u.registers.data() + in.mem_base.offset, 0);
    store_lane(u.registers.data() + in.mem_base.offset, 0, bits & ~mask);
  }
}

ExecContext UndefinedBitTracker::shadow_context_of_undefined_load(
    const ExecContext& x, const Inst& in, uint32_t lanes,
    const FrameUndefinedBits::OfLanes& origin) {
  CallFrame* frame = warp_.current().frame;
  for (const WarpSplit& split : warp_.splits().list())
    if (split.frame->regs == x.regs) frame = split.frame;
  FrameUndefinedBits& u = undefined_bits_of_frame(*frame);
  for (uint8_t d = 0; d < in.dst_count; ++d)
    for (uint32_t r = in.dst[d].bytes != 0 ? lanes : 0; r; r &= r - 1)
      u.origin[in.dst[d].offset][static_cast<size_t>(__builtin_ctz(r))] =
          origin[static_cast<size_t>(__builtin_ctz(r))];
  return {u.registers.data(), lanes, &warp_};
}

// Marks undefined bytes that were stored. Called after a store, which has marked all its bytes as
// defined.
void UndefinedBitTracker::copy_undefined_bits_to_memory(CallFrame& frame,
                                                        const FrameUndefinedBits& u, uint32_t mask,
                                                        const Inst& in) {
  uint32_t any = 0;
  for (uint8_t s = 0; s < in.src_count; ++s) any |= undefined_lanes(u, in.src[s], mask);
  if (any == 0) return;
  if (traits_of(in).matrix) return;
  uint64_t address[kWarpSize];
  lane_addresses({frame.regs, mask, &warp_}, in.mem_base, in.mem_offset, address);
  const ptx::Space space = space_of(*in.ptx);
  uint32_t shared = space == ptx::Space::shared ? mask : 0;
  uint32_t local = space == ptx::Space::local ? mask : 0;
  if (space == ptx::Space::generic) {
    shared = lanes_in_window(address, mask, kSharedBase);
    local = lanes_in_window(address, mask, kLocalBase);
  }
  const uint64_t shared_base = space == ptx::Space::generic ? kSharedBase : 0;
  const uint64_t local_base = space == ptx::Space::generic ? kLocalBase : 0;
  const unsigned bytes = element_bytes(in);
  for (uint32_t r = any & ~(shared | local); r; r &= r - 1) {  // copied padding
    const int l = __builtin_ctz(r);
    for (uint8_t s = 0; s < in.src_count; ++s) {
      const RegisterBits128 bits = get_register_bits(u.registers.data(), in.src[s], l);
      for (unsigned b = 0; b < bytes; ++b)
        if (bits.byte(b) != 0)
          warp_.block().launch().memory->mark_byte_unwritten(address[l] + s * bytes + b);
    }
  }
  for (uint32_t r = any & (shared | local); r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const bool is_shared = (shared >> l & 1) != 0;
    for (uint8_t s = 0; s < in.src_count; ++s) {
      const uint64_t at = address[l] - (is_shared ? shared_base : local_base) + s * bytes;
      const RegisterBits128 bits = get_register_bits(u.registers.data(), in.src[s], l);
      std::byte* const to = is_shared ? warp_.block().shared().undefined_bits_at(at, bytes)
                                      : warp_.local().undefined_bits_at(l, at, bytes);
      if (to == nullptr || !bits.any()) continue;
      std::memcpy(to, &bits, bytes);
      warp_.block().undefined_origins().note_store(
          is_shared ? UndefinedOrigins::shared_word(at)
                    : UndefinedOrigins::local_word_key(warp_.index(), l, at),
          u.origin.at(in.src[s].offset)[static_cast<size_t>(l)]);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Activations and parameters of functions

void UndefinedBitTracker::store_undefined_bits_to_params(FrameUndefinedBits& u,
                                                         const CallFrame& frame, uint32_t mask,
                                                         const Inst& in) {
  const size_t stride = frame.function->param_bytes;
  const unsigned bytes = element_bytes(in);
  for (uint8_t s = 0; s < in.src_count; ++s) {
    const size_t at = static_cast<size_t>(in.mem_offset) + s * bytes;
    for (uint32_t r = mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      const RegisterBits128 bits = get_register_bits(u.registers.data(), in.src[s], l);
      std::memcpy(u.params.data() + static_cast<size_t>(l) * stride + at, &bits, bytes);
    }
    const auto from = u.origin.find(in.src[s].offset);
    if (from != u.origin.end()) u.param_origin[static_cast<uint32_t>(at)] = from->second;
  }
}

void UndefinedBitTracker::load_undefined_bits_from_params(FrameUndefinedBits& u,
                                                          const CallFrame& frame, uint32_t mask,
                                                          const Inst& in) {
  const size_t stride = frame.function->param_bytes;
  const unsigned bytes = element_bytes(in);
  if (in.exec == pick_ld_kernel_param(*in.ptx) || in.mem_base.bytes != 0) return;  // constants
  for (uint8_t d = 0; d < in.dst_count; ++d) {
    const size_t at = static_cast<size_t>(in.mem_offset) + d * bytes;
    if (in.dst[d].bytes == 0 || at + bytes > stride) continue;
    for (uint32_t r = mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      RegisterBits128 bits;
      std::memcpy(&bits, u.params.data() + static_cast<size_t>(l) * stride + at, bytes);
      if (bits.any()) set_register_bits(u.registers.data(), in.dst[d], l, bits);
    }
    // A parameter that is part of a larger stored value has no entry of its own; the entry before
    // it belongs to that value.
    const auto from = u.param_origin.upper_bound(static_cast<uint32_t>(at));
    if (from != u.param_origin.begin()) u.origin[in.dst[d].offset] = std::prev(from)->second;
  }
}

void UndefinedBitTracker::copy_undefined_param_bits(const CallFrame& from, uint32_t from_offset,
                                                    CallFrame& to, uint32_t to_offset,
                                                    uint32_t bytes, uint32_t lanes) {
  if (!from.undefined) return;
  const size_t from_stride = from.function->param_bytes, to_stride = to.function->param_bytes;
  if (!to.undefined)
    to.undefined =
        std::make_unique<FrameUndefinedBits>(to.function->register_bytes, to.function->param_bytes);
  for (uint32_t r = lanes; r; r &= r - 1) {
    const auto l = static_cast<size_t>(__builtin_ctz(r));
    std::memcpy(to.undefined->params.data() + l * to_stride + to_offset,
                from.undefined->params.data() + l * from_stride + from_offset, bytes);
  }
  for (const auto& [at, origin] : from.undefined->param_origin)
    if (at >= from_offset && at < from_offset + bytes)
      to.undefined->param_origin[at - from_offset + to_offset] = origin;
}

}  // namespace lab32::sim
