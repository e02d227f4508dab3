// Helpers that texture fetches and surface accesses share: they look up the object that each lane
// names and read texels with the checks of any access to device memory.
#pragma once

#include <fmt/format.h>

#include <string>

#include "simulator/core/semantics/lanes.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

inline const TextureOrSurfaceOp& texture_op(const ExecContext& x, const Inst& in) {
  return x.warp->program().texture_ops[in.target];
}

// Ends the launch: "thread … uses texture object 5, which <why>".
[[noreturn]] void throw_texture_object_trap(const ExecContext& x, const Inst& in,
                                            const TextureOrSurfaceOp& op, const std::string& why);
const TextureObject& find_texture_object(const ExecContext& x, const Inst& in,
                                         const TextureOrSurfaceOp& op, uint64_t number);

// Calls f once for each distinct object, with the lanes that name it.
template <class F>
void for_each_texture_object(const ExecContext& x, const Inst& in, const TextureOrSurfaceOp& op,
                             F f) {
  const auto number = [&](int l) { return load_lane<uint64_t>(x.regs + op.object.offset, l); };
  for (uint32_t left = x.mask; left != 0;) {
    const uint64_t first = number(__builtin_ctz(left));
    uint32_t lanes = 0;
    for (uint32_t r = left; r; r &= r - 1)
      if (number(__builtin_ctz(r)) == first) lanes |= r & (~r + 1);
    left &= ~lanes;
    const ExecContext part{x.regs, lanes, x.warp};
    f(part, find_texture_object(part, in, op, first));
  }
}

// The texels that one instruction reads. Each read is checked like any access to device memory,
// reported to race detection, and tracked if the memory was never written.
class CheckedTexelReader {
 public:
  CheckedTexelReader(const ExecContext& x, const Inst& in, unsigned bytes)
      : x_(x), in_(in), bytes_(bytes) {}
  // Lane l's texels go to `to + l * stride`.
  void read(uint64_t* address, uint32_t lanes, std::byte* to, size_t stride);
  // Marks the results of lanes that read undefined texels as undefined.
  void mark_undefined_results(const TextureOrSurfaceOp& op);

 private:
  const ExecContext& x_;
  const Inst& in_;
  unsigned bytes_;
  uint32_t undefined_ = 0;
  FrameUndefinedBits::OfLanes origins_{};
};

}  // namespace lab32::sim
