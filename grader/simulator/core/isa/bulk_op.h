// Copies and reductions by the copy engine (cp.async.bulk, cp.reduce.async.bulk), and stores and
// reductions that arrive like these (st.async, red.async): what an instruction names, and what is
// under way.
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
  struct Address {
    Slot base;
    int64_t offset = 0;
  };
  Address to, from, barrier;  // as far as it has them; a tensor map is `from`, or `to`
  Slot bytes;
  Slot blocks;  // multicast: a bit for each block of the cluster, by rank
  std::array<Slot, 5> coordinate;
  uint8_t dimensions = 0;
  Reduction reduction;        // of a tensor's elements it is known with the map
  std::array<Slot, 4> value;  // st.async, red.async: what they send
  uint8_t values = 0;
  bool generic = false;  // these may name shared memory by generic addresses
};

class FunctionSlots;

BulkOp bulk_op_of(const ptx::Instruction& in, FunctionSlots& slots);

// The registers that it reads, but for what it sends.
std::vector<Slot> sources_of(const BulkOp& op);

// To shared memory: read when it was issued, it arrives when somebody asks the barrier object that
// waits for it. So a kernel that does not ask finds what was there before.
struct BulkCopy {
  BlockContext* by = nullptr;
  uint32_t site = 0, warp = 0;
  int lane = 0;
  uint64_t to = 0, barrier = 0;      // addresses in shared memory
  uint32_t bytes = 0;                // that the barrier counts
  std::vector<std::byte> data;       // none: it may not be written there
  std::vector<std::byte> undefined;  // empty: all is defined
  UndefinedOrigins::Id origin = 0;
  Reduction reduction;
  // What is written at once; sent by a thread, not by the engine, which has a way of its own.
  uint8_t piece = 16;
  bool by_thread = false;
  // Of a box: rows in data, and how far apart they come to lie (TensorMap).
  uint32_t swizzle = 0, row_bytes = 16, pitch = 16;
};

// Of a block, or of the blocks of a cluster.
using BulkCopies = std::vector<BulkCopy>;

}  // namespace lab32::sim
