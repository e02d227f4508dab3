// Activations of functions: register files, special registers, local memory.
#include <algorithm>
#include <cstring>

#include "base/memory.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {
namespace {

constexpr size_t kRegisterAlign = 64;

// What special registers are made of.
struct SpecialsOf {
  const LaunchContext& launch;
  const BlockInfo& block;
  uint32_t dynamic_offset;  // of dynamic shared memory
  uint32_t warp = 0, lane = 0;

  uint32_t thread() const { return warp * kWarpSize + lane; }
  uint32_t below() const { return (1u << lane) - 1; }
};

using ptx::SpecialReg;
struct SpecialRow {
  SpecialReg reg;
  uint32_t (*value)(const SpecialsOf& of);
};

#define SPECIAL(reg, expression)                                                                \
  {                                                                                             \
    SpecialReg::reg,                                                                            \
        []([[maybe_unused]] const SpecialsOf& of) { return static_cast<uint32_t>(expression); } \
  }

// clang-format off
// A lane has these values for as long as its warp lives. The registers that are in neither table are
// read by instructions of their own.
constexpr SpecialRow kOfLaunch[] = {
    SPECIAL(tid_x, of.thread() % of.launch.block.x),
    SPECIAL(tid_y, of.thread() / of.launch.block.x % of.launch.block.y),
    SPECIAL(tid_z, of.thread() / of.launch.block.x / of.launch.block.y),
    SPECIAL(ntid_x, of.launch.block.x),
    SPECIAL(ntid_y, of.launch.block.y),
    SPECIAL(ntid_z, of.launch.block.z),
    SPECIAL(nctaid_x, of.launch.grid.x),
    SPECIAL(nctaid_y, of.launch.grid.y),
    SPECIAL(nctaid_z, of.launch.grid.z),
    SPECIAL(laneid, of.lane),
    SPECIAL(warpid, of.warp),
    SPECIAL(nwarpid, 64),
    SPECIAL(nsmid, of.launch.multiprocessors),
    SPECIAL(gridid, 1),
    SPECIAL(lanemask_eq, 1u << of.lane),
    SPECIAL(lanemask_lt, of.below()),
    SPECIAL(lanemask_le, of.below() | 1u << of.lane),
    SPECIAL(lanemask_gt, ~(of.below() | 1u << of.lane)),
    SPECIAL(lanemask_ge, ~of.below()),
    SPECIAL(total_smem_size, of.launch.own_shared_bytes),
    SPECIAL(dynamic_smem_size, of.launch.own_shared_bytes - of.dynamic_offset),
    SPECIAL(reserved_smem_begin, of.launch.reserved_at()),
    SPECIAL(reserved_smem_0, of.launch.reserved_at()),
    SPECIAL(reserved_smem_1, of.launch.reserved_at()),
    SPECIAL(reserved_smem_end, of.launch.reserved_at() + LaunchContext::kReservedShared),
    SPECIAL(reserved_smem_cap, of.launch.reserved_at() + 1024),
    // The ABI of cooperative_groups (details/driver_abi.h).
    SPECIAL(envreg1, of.launch.grid_workspace >> 32),
    SPECIAL(envreg2, of.launch.grid_workspace),
    SPECIAL(warpsize, kWarpSize),
    SPECIAL(nclusterid_x, of.launch.grid.x / of.launch.cluster.x),
    SPECIAL(nclusterid_y, of.launch.grid.y / of.launch.cluster.y),
    SPECIAL(nclusterid_z, of.launch.grid.z / of.launch.cluster.z),
    SPECIAL(cluster_nctaid_x, of.launch.cluster.x),
    SPECIAL(cluster_nctaid_y, of.launch.cluster.y),
    SPECIAL(cluster_nctaid_z, of.launch.cluster.z),
    SPECIAL(cluster_nctarank, of.launch.cluster.count()),
};

// All lanes of a block have one value, and those of the next block another.
constexpr SpecialRow kOfBlock[] = {
    SPECIAL(ctaid_x, of.block.x),
    SPECIAL(ctaid_y, of.block.y),
    SPECIAL(ctaid_z, of.block.z),
    SPECIAL(clusterid_x, of.block.x / of.launch.cluster.x),
    SPECIAL(clusterid_y, of.block.y / of.launch.cluster.y),
    SPECIAL(clusterid_z, of.block.z / of.launch.cluster.z),
    SPECIAL(cluster_ctaid_x, of.block.x % of.launch.cluster.x),
    SPECIAL(cluster_ctaid_y, of.block.y % of.launch.cluster.y),
    SPECIAL(cluster_ctaid_z, of.block.z % of.launch.cluster.z),
    SPECIAL(cluster_ctarank, of.block.rank),
    SPECIAL(smid, of.block.index % of.launch.multiprocessors),
};

// clang-format on
#undef SPECIAL

template <size_t n>
const SpecialRow* row_of(const SpecialRow (&rows)[n], SpecialReg reg) {
  const auto* at = std::find_if(rows, rows + n, [&](const SpecialRow& r) { return r.reg == reg; });
  return at == rows + n ? nullptr : at;
}

}  // namespace

Frame* Warp::make_frame(const CodeFunction& function, Frame* parent, const Inst* call) {
  Frame* frame;
  auto& pool = free_frames_[function.index];
  if (!pool.empty()) {
    frame = pool.back();
    pool.pop_back();
  } else {
    frames_.push_back(std::make_unique<Frame>());
    frame = frames_.back().get();
    frame->function = &function;
    register_files_.push_back(
        std::make_unique<std::byte[]>(function.register_bytes + kRegisterAlign));
    auto raw = reinterpret_cast<uintptr_t>(register_files_.back().get());
    frame->regs = reinterpret_cast<std::byte*>(align_up(raw, kRegisterAlign));
    std::memset(frame->regs, 0, function.register_bytes);
    frame->params.resize(static_cast<size_t>(function.param_bytes) * kWarpSize);
    for (const FixedSlot& slot : function.fixed) {
      std::byte* at = frame->regs + slot.offset;
      if (slot.bytes == 0) std::memcpy(at, &slot.value, sizeof(uint32_t));
      for (int l = 0; slot.bytes != 0 && l < kWarpSize; ++l, at += slot.bytes)
        std::memcpy(at, &slot.value, std::min<size_t>(slot.bytes, 8));
    }
    fill_specials(*frame);
    for (const SharedSlot& slot : function.shared_addresses) {
      const uint64_t value = block_.shared_base() + slot.value;
      for (int l = 0; l < kWarpSize; ++l)
        std::memcpy(frame->regs + slot.offset + static_cast<size_t>(l) * slot.bytes, &value,
                    slot.bytes);
    }
  }
  // What a GPU finds there is what another kernel has left; here it is poison, as in memory.
  for (auto [offset, bytes] : function.undefined) std::memset(frame->regs + offset, 0xff, bytes);
  std::memset(frame->regs + function.carry_offset, 0, sizeof(uint32_t));
  frame->undefined.reset();
  // Padding of a structure may be loaded though nobody stored it.
  std::fill(frame->params.begin(), frame->params.end(), std::byte{0});
  fill_block_specials(*frame);
  frame->parent = parent;
  frame->local_base = parent ? parent->local_base + parent->local_bytes + kCallBytes : kLocalStart;
  frame->local_bytes = function.local_bytes;
  const uint32_t top = frame->local_base + function.local_bytes;
  if (top > kLocalLimit) {
    TrapFacts full = facts(call ? TrapReason::call_depth : TrapReason::local_memory);
    full.value = function.local_bytes >> 10;
    full.limit = kLocalLimit >> 10;
    throw Trap{std::move(full), call ? call->site : 0};
  }
  if (top > local_capacity_) grow_local(top, parent != nullptr);
  for (const LocalSlot& slot : function.local_addresses) {
    const uint64_t value = (slot.generic ? kLocalBase : 0) + frame->local_base + slot.local_offset;
    for (int l = 0; l < kWarpSize; ++l)
      std::memcpy(frame->regs + slot.offset + static_cast<size_t>(l) * slot.bytes, &value,
                  slot.bytes);
  }
  return frame;
}

void Warp::free_frame(Frame* frame) { free_frames_[frame->function->index].push_back(frame); }

void Warp::fill_specials(Frame& frame) {
  SpecialsOf of{block_.launch(), block_.info(), program().dynamic_offset, index_};
  for (const SpecialSlot& slot : frame.function->specials) {
    auto* at = reinterpret_cast<uint32_t*>(frame.regs + slot.offset);
    if (slot.reg == SpecialReg::is_explicit_cluster) {
      *at = of.launch.explicit_cluster ? kFullMask : 0;
      continue;
    }
    const SpecialRow* row = row_of(kOfLaunch, slot.reg);
    for (of.lane = 0; of.lane < kWarpSize; ++of.lane) at[of.lane] = row ? row->value(of) : 0;
  }
}

void Warp::fill_block_specials(Frame& frame) {
  const SpecialsOf of{block_.launch(), block_.info(), program().dynamic_offset, index_};
  for (const SpecialSlot& slot : frame.function->specials)
    if (const SpecialRow* row = row_of(kOfBlock, slot.reg))
      std::fill_n(reinterpret_cast<uint32_t*>(frame.regs + slot.offset), kWarpSize, row->value(of));
}

}  // namespace lab32::sim
