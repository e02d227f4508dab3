// Copies and reductions by the copy engine (cp.async.bulk, cp.reduce.async.bulk), and stores and
// reductions that complete on an mbarrier as these do (st.async, red.async). BulkOp holds the
// operands of such an instruction, PendingBulkCopy a copy that was issued and is still pending.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/core/undefined/undefined_bits.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

class BlockContext;

struct BulkOp {
  struct BulkAddressOperand {
    RegisterSlot base;
    int64_t offset = 0;
  };
  // An operand that the instruction lacks has no base. `from` or `to` may be a tensor map.
  BulkAddressOperand to, from, barrier;
  RegisterSlot bytes;
  RegisterSlot blocks;  // multicast: a bit for each block of the cluster, by rank
  std::array<RegisterSlot, 5> coordinate;
  uint8_t dimensions = 0;
  ReductionOp reduction;              // for a tensor copy, set when the map gives the element type
  std::array<RegisterSlot, 4> value;  // st.async, red.async: the values to store
  uint8_t values = 0;
  bool generic = false;  // the addresses may be generic ones
};

class RegisterFileLayout;

BulkOp bulk_op_of(const ptx::Instruction& in, RegisterFileLayout& slots);

// The registers that the operation reads, except those of its values.
std::vector<RegisterSlot> sources_of(const BulkOp& op);

// A copy to shared memory. Its source is read when it is issued; its data appear when a thread
// tests the mbarrier that counts its bytes. A kernel that does not wait therefore reads the old
// contents.
struct PendingBulkCopy {
  BlockContext* by = nullptr;
  uint32_t site = 0, warp = 0;
  int lane = 0;
  uint64_t to = 0, barrier = 0;      // addresses in shared memory
  uint32_t bytes = 0;                // that the barrier counts
  std::vector<std::byte> data;       // empty after a fault: then nothing is written
  std::vector<std::byte> undefined;  // empty: all is defined
  UndefinedOrigins::Id origin = 0;
  ReductionOp reduction;
  // Bytes of one write. by_thread: a thread sends the data (st.async, red.async), through the
  // generic proxy instead of the engine's async proxy.
  uint8_t piece = 16;
  bool by_thread = false;
  // For the box of a tensor: the bytes of one row in `data`, and the distance in bytes between two
  // rows in shared memory (TensorMap).
  uint32_t swizzle = 0, row_bytes = 16, pitch = 16;
};

// The pending copies of one block, or of all blocks of a cluster.
using PendingBulkCopies = std::vector<PendingBulkCopy>;

}  // namespace lab32::sim
