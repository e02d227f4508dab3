// What the blocks of a cluster share, as their instructions see it: each other's shared memory, and
// the cluster's barrier. BlockGroup (schedule/block_group.h) derives from it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/core/isa/bulk_op.h"
#include "simulator/core/memory/access.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

// Shared memory of all blocks of a cluster (memory/access.h says what an address in it is).
class ClusterMemory {
 public:
  // Address space of `blocks` windows; pages come when touched. Twice with `undefined`, a byte for
  // each byte (UndefinedBytes).
  ClusterMemory(uint32_t blocks, bool undefined);
  ~ClusterMemory();
  ClusterMemory(const ClusterMemory&) = delete;
  ClusterMemory& operator=(const ClusterMemory&) = delete;

  std::byte* bytes() { return bytes_; }
  std::byte* undefined() { return undefined_; }  // null: they are not kept

 private:
  uint64_t size_;
  std::byte *bytes_ = nullptr, *undefined_ = nullptr;
};

class ClusterContext {
 public:
  // barrier.cluster: the current split of a warp of that block arrives, or waits.
  virtual void arrive(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) = 0;
  virtual void wait(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) = 0;
  // All threads of that block have exited, or some.
  virtual void threads_exited(uint32_t rank, bool all) = 0;

  uint32_t blocks() const { return blocks_; }
  ClusterMemory& memory() { return memory_; }
  BulkCopies& bulk_copies() { return bulk_copies_; }
  // Blocks that have exited, a bit each by rank: their shared memory is another block's by now.
  uint32_t exited() const { return exited_; }

 protected:
  ClusterContext(uint32_t blocks, bool undefined) : blocks_(blocks), memory_(blocks, undefined) {}
  ~ClusterContext() = default;

  const uint32_t blocks_;
  ClusterMemory memory_;
  uint32_t exited_ = 0;
  BulkCopies bulk_copies_;
};

}  // namespace lab32::sim
