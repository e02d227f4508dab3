// What the copy engine shares with the barrier objects that wait for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/core/execute/bulk_op.h"
#include "simulator/core/execute/events.h"

namespace lab32::sim {

class Warp;

// A lane of `asking` looks at the object at that address of shared memory: the copies that it waits
// for arrive.
void deliver_copies(Warp& asking, uint64_t barrier);

// Fewer bytes are to come; whether that ends the object's phase.
bool complete_bytes(std::byte* object, uint32_t bytes);

// A lane that copies.
struct Copier {
  const Exec& x;
  const Inst& in;
  int lane;

  BlockContext& block() const;
  uint64_t address(const BulkOp::Address& of) const;
  uint32_t word(const Slot& slot) const;
};

// `bytes` of device memory in pieces of `piece`, all checked and told like accesses of the lane.
// `undefined` grows where nothing has written them.
void read_device(const Copier& c, uint64_t from, uint32_t bytes, unsigned piece, BulkCopy& copy,
                 uint32_t at);
void write_device(const Copier& c, uint64_t to, uint32_t bytes, unsigned piece,
                  const std::byte* values);
// Tells the observers. move.shared: an address.
void report_move(const Copier& c, const BulkOp& op, BulkMove move);
// 16 bytes of the block's own shared memory.
void read_shared(const Copier& c, uint64_t from, std::byte* to);
// For each block that gets it: under way. The copy's data are complete.
void send(const Copier& c, const BulkOp& op, BulkCopy copy, uint32_t span);

}  // namespace lab32::sim
