// CallFrame: one activation of a function (registers, parameters, local memory). CallFramePool
// allocates and reuses the frames of a warp; LocalMemory holds the stacks of its lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/core/undefined/undefined_bits.h"
#include "simulator/core/warp/block_context.h"
#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

// Each lane's local memory starts at this offset, so that offset 0 is a null pointer.
constexpr uint32_t kLocalStart = 64;
// The ISA's limit of local memory per thread.
constexpr uint32_t kLocalLimit = 512 << 10;
// Stack bytes of a call besides the callee's own arrays, for the return address and saved
// registers. The real number depends on ptxas, but it is never 0; so endless recursion always
// reaches the limit.
constexpr uint32_t kCallBytes = 64;

// One activation of a function. All splits that entered the function by one call share it.
struct CallFrame {
  const DecodedFunction* function = nullptr;
  CallFrame* parent = nullptr;
  std::byte* regs = nullptr;
  std::vector<std::byte> params;  // [lane][param_bytes]
  uint32_t local_base = 0;        // offset of the function's .local variables in each lane's stack
  // Bytes of the function's .local variables and of its allocations by alloca.
  uint32_t local_bytes = 0;
  std::unique_ptr<FrameUndefinedBits> undefined;  // null: all registers are defined
};

// The local memory of a warp: the stacks of its lanes, one after the other.
class LocalMemory {
 public:
  LocalMemory(BlockContext& block, uint32_t warp) : block_(block), warp_(warp) {}
  // Fills the memory with poison for the next block.
  void reset_for_next_block();

  std::byte* of(int lane) { return bytes_.data() + static_cast<size_t>(lane) * capacity_; }
  uint32_t capacity() const { return capacity_; }  // bytes of each lane
  // The offset at which the running function's local memory ends.
  uint32_t top() const { return top_; }
  void set_top(uint32_t top) { top_ = top; }
  // Checks an access to the running function's local memory. In a launch that keeps going, it
  // redirects `offset` of a faulty lane to a scratch area.
  void check_accesses_of_lanes(const Inst& in, uint64_t* offset, uint32_t mask, unsigned bytes,
                               bool store);

  // Grows the stacks to at least `top` bytes for each lane.
  void ensure_capacity(uint32_t top, bool in_call) {
    if (top > capacity_) grow_stacks(top, in_call);
  }
  // alloca: reserves `bytes` of each lane's stack until the function returns and returns their
  // offset. All lanes of the split get one piece of the largest requested size.
  uint32_t allocate_dynamically(CallFrame& frame, const Inst& in, uint32_t mask, uint64_t bytes,
                                uint32_t align);
  // Marks `bytes` bytes from offset `from` on in the stacks of these lanes as undefined.
  void make_undefined(uint32_t lanes, uint32_t from, uint32_t bytes);

  // The undefined bits of local memory, one byte for each byte.
  UndefinedBitsOfMemory& undefined() { return undefined_; }
  // The undefined bits of `bytes` bytes of a lane's stack; null if the stack ends before them.
  std::byte* undefined_bits_at(int lane, uint64_t offset, unsigned bytes) {
    return offset + bytes <= capacity_
               ? undefined_.data() + static_cast<size_t>(lane) * capacity_ + offset
               : nullptr;
  }

 private:
  void grow_stacks(uint32_t least, bool in_call);

  BlockContext& block_;
  const uint32_t warp_;
  uint32_t capacity_ = 0, top_ = 0;
  std::vector<std::byte> bytes_;
  UndefinedBitsOfMemory undefined_;  // in the layout of bytes_
};

class CallFramePool {
 public:
  CallFramePool(BlockContext& block, uint32_t warp, LocalMemory& local);
  // Frees all frames.
  void reset_for_next_block();
  // Makes the activation of a function. `call` is null for the kernel itself.
  CallFrame* make_frame(const DecodedFunction& function, CallFrame* parent, const Inst* call);
  void free(CallFrame* frame) { free_[frame->function->index].push_back(frame); }

 private:
  void make_registers(CallFrame& frame, const DecodedFunction& function);
  void fill_special_registers(CallFrame& frame);
  void fill_block_special_registers(CallFrame& frame);

  BlockContext& block_;
  const uint32_t warp_;
  LocalMemory& local_;
  std::vector<std::unique_ptr<CallFrame>> frames_;  // all that were created
  std::vector<std::vector<CallFrame*>> free_;       // by function
  std::vector<std::unique_ptr<std::byte[]>> register_files_;
};

}  // namespace lab32::sim
