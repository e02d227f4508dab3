// The parts that the instructions of the copy engine (cp.async.bulk and its relatives) share. A
// thread issues a copy; the copy stays pending in the block until a thread tests the mbarrier that
// counts its bytes, and only then do the bytes appear in shared memory. Each lane copies by itself,
// so the functions take a BulkCopyLaneContext.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/core/isa/bulk_op.h"
#include "simulator/core/warp/events.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

// A lane of `asking` tests the mbarrier at that address of shared memory: this writes the pending
// copies that the mbarrier counts.
void deliver_copies_of_mbarrier(Warp& asking, uint64_t barrier);

// Subtracts `bytes` from the bytes that the mbarrier still expects. Returns whether this completes
// its phase.
bool complete_mbarrier_bytes(std::byte* object, uint32_t bytes);

// One lane that executes a copy instruction.
struct BulkCopyLaneContext {
  const ExecContext& x;
  const Inst& in;
  int lane;

  BlockContext& block() const;
  uint64_t address(const BulkOp::BulkAddressOperand& of) const;
  uint32_t slot_value(const RegisterSlot& slot) const;
};

// Reads `bytes` of device memory into copy.data from `at` on, in pieces of `piece` bytes. Each
// piece is checked and reported like an access of the lane. Marks bytes that were never written in
// copy.undefined.
void read_source_of_bulk_copy(const BulkCopyLaneContext& c, uint64_t from, uint32_t bytes,
                              unsigned piece, PendingBulkCopy& copy, uint32_t at);
// Writes `values` to device memory. If the operation is a reduction, updates the elements there
// with `values` instead.
void write_device_memory(const BulkCopyLaneContext& c, uint64_t to, uint32_t bytes, unsigned piece,
                         const std::byte* values, const ReductionOp& reduction = {});
// Reports one move to the observers. The caller passes an address in move.shared; the observers get
// the offset in the block's shared memory.
void report_bulk_move(const BulkCopyLaneContext& c, const BulkOp& op, ContiguousBulkMove move);
// Reports a copy of one contiguous range of bytes.
void report_whole_bulk_copy(const BulkCopyLaneContext& c, const BulkOp& op,
                            ContiguousBulkMove::Kind kind, uint64_t global, uint64_t shared,
                            uint32_t bytes);
// The byte count that the instruction names. Traps unless it is a multiple of 16.
uint32_t checked_bulk_bytes(const BulkCopyLaneContext& c, const BulkOp& op);
// Reads 16 bytes of the block's own shared memory, which the caller then writes to their
// destination or uses as operands of an update.
void read_16_shared_bytes(const BulkCopyLaneContext& c, uint64_t from, std::byte* to,
                          ValueUse use = ValueUse::output);
// Checks that the shared memory at `at` exists and is aligned. False: it is not, and a launch that
// keeps going skips the copy.
bool check_shared_range(const BulkCopyLaneContext& c, uint64_t at, unsigned bytes, AccessUse use);
// Reads all bytes that the copy moves from shared memory into copy.data. Does not wait for earlier
// groups.
void read_shared_into_copy(const BulkCopyLaneContext& c, uint64_t from, PendingBulkCopy& copy);
// Makes the copy pending in each destination block. The copy's data must be complete.
void make_bulk_copy_pending(const BulkCopyLaneContext& c, const BulkOp& op, PendingBulkCopy copy,
                            uint32_t span);

// Calls f(lane, operation) for each active lane, in lane order.
template <class F>
void for_each_copy_lane(const ExecContext& x, const Inst& in, F f) {
  const BulkOp& op = x.warp->program().bulk_ops[in.target];
  for (uint32_t r = x.mask; r; r &= r - 1) f(BulkCopyLaneContext{x, in, __builtin_ctz(r)}, op);
}

// ---------------------------------------------------------------------------------------------

// Completes all cp.async copies that the lanes in x.mask have issued. `reported_mbarrier`: as in
// PtxSharedAccessEvent.
void finish_all_async_copies(const ExecContext& x, const Inst& in, uint32_t reported_mbarrier = 0);

}  // namespace lab32::sim
