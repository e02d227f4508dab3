// SharedMemory: the shared memory of a block. ClusterSharedMemory and ClusterContext: the shared
// memory and barrier that the blocks of a cluster share. ClusterBarrier (schedule/block_group.h)
// derives from ClusterContext.
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

// The shared memory of all blocks of a cluster (memory/access.h defines its addresses).
class ClusterSharedMemory {
 public:
  // Reserves address space for `blocks` windows. `undefined`: reserves as much again for undefined
  // bits, one byte for each byte (UndefinedBitsOfMemory).
  ClusterSharedMemory(uint32_t blocks, bool undefined);
  ~ClusterSharedMemory();
  ClusterSharedMemory(const ClusterSharedMemory&) = delete;
  ClusterSharedMemory& operator=(const ClusterSharedMemory&) = delete;

  std::byte* bytes() { return bytes_; }
  std::byte* undefined() { return undefined_; }  // null: not tracked

 private:
  uint64_t size_;
  std::byte *bytes_ = nullptr, *undefined_ = nullptr;
};

class ClusterContext {
 public:
  // For barrier.cluster: the current split of a warp of block `rank` arrives at the barrier, or
  // waits for it.
  virtual void arrive(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) = 0;
  virtual void wait(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) = 0;
  // Called when threads of block `rank` have exited. `all`: all of its threads have.
  virtual void on_threads_exit(uint32_t rank, bool all) = 0;

  uint32_t blocks() const { return blocks_; }
  ClusterSharedMemory& memory() { return memory_; }
  PendingBulkCopies& bulk_copies() { return bulk_copies_; }
  // A mask of the blocks, by rank, that have exited. Their shared memory may belong to other blocks
  // now.
  uint32_t exited() const { return exited_; }

 protected:
  ClusterContext(uint32_t blocks, bool undefined) : blocks_(blocks), memory_(blocks, undefined) {}
  ~ClusterContext() = default;

  const uint32_t blocks_;
  ClusterSharedMemory memory_;
  uint32_t exited_ = 0;
  PendingBulkCopies bulk_copies_;
};

// In a launch that keeps going, the faulty access of a lane goes to a sink of this many bytes.
constexpr uint64_t kSinkBytes = 16;

// The shared memory of a block, alone or as part of its cluster's memory.
class SharedMemory {
 public:
  // `cluster` is null if the block is in no cluster. `follows`: whether undefined bytes are
  // tracked.
  SharedMemory(const LaunchContext& launch, ClusterContext* cluster, uint32_t rank, bool follows);
  // Fills the memory with poison for the next block.
  void reset_for_next_block();

  // Null: the block is alone.
  ClusterContext* cluster() const { return cluster_; }
  // The memory's bytes on the host. For a block of a cluster this includes all blocks of the
  // cluster.
  std::byte* bytes() { return data_; }
  // The offset of the block's own memory in bytes().
  uint64_t base() const { return base_; }
  uint32_t size() const { return launch_.shared_bytes; }
  UndefinedBitsOfMemory& undefined() { return undefined_; }
  // The undefined bits of the `bytes` bytes at `offset`; null if these are not all in the block's
  // shared memory.
  std::byte* undefined_bits_at(uint64_t offset, unsigned bytes) {
    return holds(offset, bytes) ? undefined_.data() + offset : nullptr;
  }
  // Whether lanes with these first and last addresses access valid, aligned bytes of this block's
  // own memory.
  bool is_valid_strided_access(const Inst& in, uint64_t first, uint64_t last,
                               unsigned bytes) const {
    const InstructionAccessBounds own = accessible_range_of(in);
    return cluster_ == nullptr && first <= last && own.begin <= first && last <= own.end &&
           last + bytes <= own.end && (first & (bytes - 1)) == 0;
  }
  // The offsets that the instruction may access: those of its variable if that is known, else the
  // block's whole shared memory. A GPU checks only the latter, and so does an unchecked launch.
  struct InstructionAccessBounds {
    uint64_t begin, end;
  };
  InstructionAccessBounds accessible_range_of(const Inst& in) const {
    if (!follows_ || in.shared_end == Inst::kAllShared) return {0, launch_.own_shared_bytes};
    return {in.shared_begin, in.shared_end};
  }
  // The offset of the sinks for faulty accesses in a launch that keeps going: after the block's
  // memory, one for each lane.
  uint64_t fault_sink_offset() const {
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
  std::vector<std::byte> own_;  // memory of a block without a cluster
  std::byte* data_;
  UndefinedBitsOfMemory undefined_;
};

}  // namespace lab32::sim
