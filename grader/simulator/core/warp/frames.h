// Activations of functions: the registers, parameters and local memory of a warp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/core/undefined/undefined_bits.h"
#include "simulator/core/warp/block_context.h"
#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

// Each lane's local memory starts here, so that offset 0 is a null pointer's.
constexpr uint32_t kLocalStart = 64;
// The ISA's limit of local memory per thread.
constexpr uint32_t kLocalLimit = 512 << 10;
// What a call takes of it besides the callee's own arrays, for return address and saved registers:
// ptxas decides, but it is never nothing, so that a recursion without end always meets the limit.
constexpr uint32_t kCallBytes = 64;

// One activation of a function, shared by all splits that came in through the same call.
struct Frame {
  const CodeFunction* function = nullptr;
  Frame* parent = nullptr;
  std::byte* regs = nullptr;
  std::vector<std::byte> params;             // [lane][param_bytes]
  uint32_t local_base = 0;                   // offset of its .local variables in each lane's stack
  uint32_t local_bytes = 0;                  // of those, and of what alloca has given
  std::unique_ptr<UndefinedBits> undefined;  // null: every register that is read has a value
};

// The stacks of the lanes, side by side.
class LocalMemory {
 public:
  LocalMemory(BlockContext& block, uint32_t warp) : block_(block), warp_(warp) {}
  // What the next block finds: poison.
  void restart();

  std::byte* of(int lane) { return bytes_.data() + static_cast<size_t>(lane) * capacity_; }
  uint32_t capacity() const { return capacity_; }  // bytes of each lane
  // The end of what the running function has.
  uint32_t top() const { return top_; }
  void set_top(uint32_t top) { top_ = top; }
  // Of the running function's; `offset` of a bad lane is sent elsewhere in a launch that keeps
  // going.
  void check(const Inst& in, uint64_t* offset, uint32_t mask, unsigned bytes, bool store);

  // From now on so many bytes of a lane are there.
  void ensure_capacity(uint32_t top, bool in_call) {
    if (top > capacity_) grow(top, in_call);
  }
  // alloca: so many bytes of each lane's stack, until the function returns. Their offset. One piece
  // for all lanes of the split, as large as the largest of them asks for.
  uint32_t extend(Frame& frame, const Inst& in, uint32_t mask, uint64_t bytes, uint32_t align);
  // The lanes' bytes there have no value any more.
  void forget(uint32_t lanes, uint32_t from, uint32_t bytes);

  // A byte for each of its bytes, with the undefined bits set.
  UndefinedBytes& undefined() { return undefined_; }
  // The undefined bits of so many bytes of a lane; null: it has not so many.
  std::byte* undefined(int lane, uint64_t offset, unsigned bytes) {
    return offset + bytes <= capacity_
               ? undefined_.data() + static_cast<size_t>(lane) * capacity_ + offset
               : nullptr;
  }

 private:
  void grow(uint32_t least, bool in_call);

  BlockContext& block_;
  const uint32_t warp_;
  uint32_t capacity_ = 0, top_ = 0;
  std::vector<std::byte> bytes_;
  UndefinedBytes undefined_;  // laid out as bytes_
};

class Frames {
 public:
  Frames(BlockContext& block, uint32_t warp, LocalMemory& local);
  // All are free.
  void restart();
  // `call`: null for the kernel itself.
  Frame* make(const CodeFunction& function, Frame* parent, const Inst* call);
  void free(Frame* frame) { free_[frame->function->index].push_back(frame); }

 private:
  void make_registers(Frame& frame, const CodeFunction& function);
  void fill_specials(Frame& frame);
  void fill_block_specials(Frame& frame);

  BlockContext& block_;
  const uint32_t warp_;
  LocalMemory& local_;
  std::vector<std::unique_ptr<Frame>> frames_;  // all ever made
  std::vector<std::vector<Frame*>> free_;       // by function
  std::vector<std::unique_ptr<std::byte[]>> register_files_;
};

}  // namespace lab32::sim
