// Tracks undefined bits through a warp's registers. A kernel may copy and compute with values from
// memory that was never written. Such a value is a fault only where it has an effect: as an
// address, in a branch, in an atomic, or in a store to device memory. Valgrind's memcheck is the
// model (Seward, Nethercote: Using Valgrind to detect undefined value errors with bit-precision,
// 2005).
//
// A warp gets an UndefinedBitTracker at its first undefined value and runs slower from then on.
// Other warps have none.
#pragma once

#include <array>
#include <cstdint>

#include "simulator/core/undefined/undefined_bits.h"
#include "simulator/core/warp/events.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

struct BulkOp;

class UndefinedBitTracker final : public UndefinedValueTracker {
 public:
  explicit UndefinedBitTracker(Warp& warp) : warp_(warp) {}

  void execute_and_propagate(CallFrame& frame, uint32_t mask, const Inst& in) override;
  void check_control_flow_operands(CallFrame& frame, uint32_t mask, const Inst& in) override;
  void execute_guarded_off(CallFrame& frame, uint32_t mask, const Inst& in) override {
    propagate_or_report_guard(frame, mask, in);
  }
  ExecContext shadow_context_of_undefined_load(const ExecContext& x, const Inst& in, uint32_t lanes,
                                               const FrameUndefinedBits::OfLanes& origin) override;
  // Passes arguments or results: copies `bytes` of undefined bits from the parameters of one
  // activation to those of another.
  static void copy_undefined_param_bits(const CallFrame& from, uint32_t from_offset, CallFrame& to,
                                        uint32_t to_offset, uint32_t bytes, uint32_t lanes);

 private:
  FrameUndefinedBits& undefined_bits_of_frame(CallFrame& frame);
  uint32_t undefined_lanes(const FrameUndefinedBits& u, const RegisterSlot& slot,
                           uint32_t mask) const;
  // The lanes in `mask` whose guard predicate is undefined.
  uint32_t lanes_with_undefined_guard(const FrameUndefinedBits& u, const Inst& in,
                                      uint32_t mask) const;
  // Executes an instruction for lanes whose guard predicate is undefined: marks all its results as
  // undefined. If the instruction has other effects, the undefined guard is a fault.
  void propagate_or_report_guard(CallFrame& frame, uint32_t mask, const Inst& in);
  void require_defined(FrameUndefinedBits& u, const RegisterSlot& slot, uint32_t mask,
                       ValueUse use);
  void report_undefined_operand(FrameUndefinedBits& u, const RegisterSlot& slot, uint32_t lanes,
                                ValueUse use);
  void check_operands_with_side_effects(FrameUndefinedBits& u, uint32_t mask, const Inst& in);
  // The lanes of a store whose addresses are in device memory.
  uint32_t lanes_accessing_device_memory(uint32_t mask, const Inst& in) const;
  // The lanes among `lanes` that store an undefined value. A lane does not count if it stores
  // undefined bytes behind defined ones: it copies the padding of a structure.
  uint32_t lanes_storing_undefined_value(const FrameUndefinedBits& u, uint32_t lanes,
                                         const Inst& in) const;
  void execute_on_fragments(FrameUndefinedBits& u, const ExecContext& x, const Inst& in);
  void execute_bulk_op(FrameUndefinedBits& u, const ExecContext& x, const Inst& in,
                       const BulkOp& op);
  void mark_results_defined(FrameUndefinedBits& u, uint32_t mask, const Inst& in);
  void copy_undefined_bits_to_memory(CallFrame& frame, const FrameUndefinedBits& u, uint32_t mask,
                                     const Inst& in);
  void store_undefined_bits_to_params(FrameUndefinedBits& u, const CallFrame& frame, uint32_t mask,
                                      const Inst& in);
  void load_undefined_bits_from_params(FrameUndefinedBits& u, const CallFrame& frame, uint32_t mask,
                                       const Inst& in);

  Warp& warp_;
};

// ---------------------------------------------------------------------------------------------
// Computes which bits of an instruction's results are undefined from the undefined bits of its
// sources (bit_flow.cpp).

// The bits of one lane's register, at most 128; a predicate uses the lowest bit.
struct RegisterBits128 {
  uint64_t low = 0, high = 0;
  bool any() const { return (low | high) != 0; }
  uint8_t byte(unsigned i) const {
    return static_cast<uint8_t>(i < 8 ? low >> 8 * i : high >> 8 * (i - 8));
  }
};

RegisterBits128 get_register_bits(const std::byte* file, const RegisterSlot& slot, int lane);
void set_register_bits(std::byte* file, const RegisterSlot& slot, int lane, RegisterBits128 bits);
RegisterBits128 all_bits_of_slot(const RegisterSlot& slot);

using UndefinedResultBits = std::array<std::array<RegisterBits128, kWarpSize>, 4>;

// Computes the undefined bits of the results; the caller calls this before it executes the
// instruction. `undefined` has the layout of the register file, which stays unchanged. The result
// is exact for moves, selections, logic, shifts and comparisons for equality. In sums and products
// an undefined bit affects itself and all higher bits. For any other instruction each bit of the
// result may depend on each bit of the sources.
UndefinedResultBits undefined_result_bits(const ExecContext& x, const Inst& in,
                                          const std::byte* undefined);

}  // namespace lab32::sim
