// Helpers for rows whose function executes all lanes, or has no modifiers: inactive lanes, .sat and
// .ftz.
#include "simulator/core/semantics/float.h"
#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {

void execute_and_restore_inactive(const ExecContext& x, const Inst& in, ExecFn whole_warp,
                                  size_t result_bytes) {
  if (in.dst[0].bytes == 0) return;
  std::byte* const d = x.regs + in.dst[0].offset;
  alignas(64) std::byte before[kWarpSize * 8];
  std::memcpy(before, d, result_bytes * kWarpSize);
  whole_warp(ExecContext{x.regs, kFullMask, x.warp}, in);
  const uint32_t others = ~x.mask;
  switch (result_bytes) {
    case 2:
      return copy_masked_lanes<uint16_t>(d, before, others);
    case 4:
      return copy_masked_lanes<uint32_t>(d, before, others);
    default:
      return copy_masked_lanes<uint64_t>(d, before, others);
  }
}

void execute_saturated(const ExecContext& x, const Inst& in, ExecFn plain) {
  if (in.dst[0].bytes == 0) return;
  std::byte* const d = x.regs + in.dst[0].offset;
  alignas(64) std::byte before[kWarpSize * sizeof(float)];
  std::memcpy(before, d, sizeof before);
  plain(ExecContext{x.regs, kFullMask, x.warp}, in);
  // The clamp works on the bits, so that it is vectorised. Negative numbers and NaN (0x7fffffff)
  // become zero.
  constexpr uint32_t kOne = 0x3f800000, kInfinity = 0x7f800000;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const auto b = load_lane<uint32_t>(d, lane);
    const uint32_t at_most_one = b < kOne ? b : kOne;
    store_lane<uint32_t>(d, lane, b > kInfinity ? 0u : at_most_one);
  }
  if (x.mask != kFullMask) copy_masked_lanes<float>(d, before, ~x.mask);
}

void execute_with_subnormals_flushed(const ExecContext& x, const Inst& in, ExecFn plain,
                                     ExecFn modified) {
  if (in.dst[0].bytes == 0) return;
  constexpr uint32_t kBytes = kWarpSize * sizeof(float), kSmallestNormal = 0x00800000;
  // A temporary register file for the flushed operands and the result.
  alignas(64) std::byte own[4 * kBytes];
  Inst on_own;
  on_own.dst[0] = in.dst[0];
  on_own.dst[0].offset = 3 * kBytes;
  for (uint32_t i = 0; i < in.src_count; ++i) {
    on_own.src[i] = in.src[i];
    on_own.src[i].offset = i * kBytes;
    const std::byte* const from = x.regs + in.src[i].offset;
    for (int lane = 0; lane < kWarpSize; ++lane)
      store_lane(own + i * kBytes, lane, flush_subnormal(load_lane<float>(from, lane)));
  }
  std::byte* const result = own + 3 * kBytes;
  plain(ExecContext{own, kFullMask, x.warp}, on_own);
  // A result up to the smallest normal number may have been rounded up to that number, or would
  // have to be flushed. `modified` therefore recomputes the lanes with such results.
  uint32_t any = 0;
  alignas(64) uint32_t small[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const uint32_t magnitude = load_lane<uint32_t>(result, lane) & 0x7fffffffu;
    small[lane] = magnitude - 1 < kSmallestNormal;
    any |= small[lane];
  }
  if (in.ptx->has(ptx::Modifier::sat)) {
    for (int lane = 0; lane < kWarpSize; ++lane)
      store_lane(result, lane, saturate_unit(load_lane<float>(result, lane)));
  }
  uint32_t again = 0;
  if (any != 0)
    for (int lane = 0; lane < kWarpSize; ++lane) again |= (small[lane] & 1u) << lane;
  again &= x.mask;
  // The destination may also be a source, so these lanes are recomputed before the others are
  // stored.
  if (again != 0) modified(ExecContext{x.regs, again, x.warp}, in);
  copy_masked_lanes<float>(x.regs + in.dst[0].offset, result, x.mask & ~again);
}

}  // namespace lab32::sim
