// What the copy engine shares with the barrier objects that wait for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/core/isa/bulk_op.h"
#include "simulator/core/warp/events.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

// A lane of `asking` looks at the object at that address of shared memory: the copies that it waits
// for arrive.
void deliver_copies(Warp& asking, uint64_t barrier);

// Fewer bytes are to come; whether that ends the object's phase.
bool complete_bytes(std::byte* object, uint32_t bytes);

// A lane that copies.
struct CopyLane {
  const Exec& x;
  const Inst& in;
  int lane;

  BlockContext& block() const;
  uint64_t address(const BulkOp::Address& of) const;
  uint32_t word(const Slot& slot) const;
};

// `bytes` of device memory in pieces of `piece`, all checked and told like accesses of the lane.
// `undefined` grows where nothing has written them.
void read_device(const CopyLane& c, uint64_t from, uint32_t bytes, unsigned piece, BulkCopy& copy,
                 uint32_t at);
// With a reduction: what lies there is updated.
void write_device(const CopyLane& c, uint64_t to, uint32_t bytes, unsigned piece,
                  const std::byte* values, const Reduction& reduction = {});
// Tells the observers. move.shared: an address.
void report_move(const CopyLane& c, const BulkOp& op, BulkMove move);
// The same of a copy that is one run of bytes.
void report_whole(const CopyLane& c, const BulkOp& op, BulkMove::Kind kind, uint64_t global,
                  uint64_t shared, uint32_t bytes);
// As many as the instruction says: a multiple of 16.
uint32_t bulk_bytes_of(const CopyLane& c, const BulkOp& op);
// 16 bytes of the block's own shared memory, to be written elsewhere, or to update what is there.
void read_shared(const CopyLane& c, uint64_t from, std::byte* to, ValueUse use = ValueUse::output);
// 16 bytes of shared memory are there, and a multiple of 16. False: the launch goes on without.
bool check_shared_range(const CopyLane& c, uint64_t at, unsigned bytes, AccessUse use);
// All bytes of it, into the copy. No group is waited for.
void read_for_block(const CopyLane& c, uint64_t from, BulkCopy& copy);
// For each block that gets it: under way. The copy's data are complete.
void send(const CopyLane& c, const BulkOp& op, BulkCopy copy, uint32_t span);

// One lane after the other.
template <class F>
void for_each_copy_lane(const Exec& x, const Inst& in, F f) {
  const BulkOp& op = x.warp->program().bulk_ops[in.target];
  for (uint32_t r = x.mask; r; r &= r - 1) f(CopyLane{x, in, __builtin_ctz(r)}, op);
}

// ---------------------------------------------------------------------------------------------
// What asynchronous copies share with the barriers that wait for them.

// All copies that the lanes in x.mask have issued arrive in shared memory.
void finish_all_copies(const Exec& x, const Inst& in);

}  // namespace lab32::sim
