// The shared memory of a block, and what the blocks of a cluster share, as their instructions see
// it: each other's shared memory, and the cluster's barrier. ClusterBarrier
// (schedule/block_group.h) derives from ClusterContext.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/core/isa/bulk_op.h"
#include "simulator/core/memory/access.h"
#include "simulator/core/undefined/undefined_bits.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/launch_context.h"

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

// In a launch that keeps going, bad accesses go to so many bytes of each lane's own.
constexpr uint64_t kSinkBytes = 16;

// The shared memory of a block: its own, or its part of the memory of its cluster.
class SharedMemory {
 public:
  // `cluster`: null: the block is alone. `follows`: undefined bytes are known.
  SharedMemory(const LaunchContext& launch, ClusterContext* cluster, uint32_t rank, bool follows);
  // What the next block finds: poison.
  void restart();

  // Null: the block is alone.
  ClusterContext* cluster() const { return cluster_; }
  // Of all blocks of the cluster, if it is in one.
  std::byte* bytes() { return data_; }
  // Where the block's own memory lies among its cluster's.
  uint64_t base() const { return base_; }
  uint32_t size() const { return launch_.shared_bytes; }
  UndefinedBytes& undefined() { return undefined_; }
  // The undefined bits of so many bytes; null: the block's shared memory has them not.
  std::byte* undefined(uint64_t offset, unsigned bytes) {
    return holds(offset, bytes) ? undefined_.data() + offset : nullptr;
  }
  // Of lanes whose first and last address these are; right, and in this block's own memory.
  bool is_row(uint64_t first, uint64_t last, unsigned bytes) const {
    return cluster_ == nullptr && first <= last && last <= size() && last + bytes <= size() &&
           (first & (bytes - 1)) == 0;
  }
  // Where bad accesses go in a launch that keeps going: behind it, a piece per lane.
  uint64_t sink() const {
    return base_ + (launch_.shared_bytes + kSinkBytes) / kSinkBytes * kSinkBytes;
  }

 private:
  bool holds(uint64_t address, unsigned bytes) const {
    if (cluster_ == nullptr) return address + bytes <= launch_.shared_bytes;
    return rank_of(address) < cluster_->blocks() &&
           offset_in_block(address) + bytes <= launch_.shared_bytes;
  }

  const LaunchContext& launch_;
  ClusterContext* const cluster_;
  const uint64_t base_;
  const bool follows_;
  std::vector<std::byte> own_;  // of a block that is alone
  std::byte* data_;
  UndefinedBytes undefined_;
};

}  // namespace lab32::sim
