// Activations of functions: register files, special registers, local memory.
#include <algorithm>
#include <cstring>

#include "base/memory.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {
namespace {

constexpr size_t kRegisterAlign = 64;

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
  using ptx::SpecialReg;
  const LaunchContext& launch = block_.launch();
  for (const SpecialSlot& slot : frame.function->specials) {
    auto* at = reinterpret_cast<uint32_t*>(frame.regs + slot.offset);
    if (slot.reg == SpecialReg::is_explicit_cluster) {
      *at = launch.explicit_cluster ? kFullMask : 0;
      continue;
    }
    for (uint32_t l = 0; l < kWarpSize; ++l) {
      const uint32_t thread = index_ * kWarpSize + l;
      const uint32_t below = (1u << l) - 1;
      uint32_t value = 0;
      switch (slot.reg) {
        case SpecialReg::tid_x:
          value = thread % launch.block.x;
          break;
        case SpecialReg::tid_y:
          value = thread / launch.block.x % launch.block.y;
          break;
        case SpecialReg::tid_z:
          value = thread / launch.block.x / launch.block.y;
          break;
        case SpecialReg::ntid_x:
          value = launch.block.x;
          break;
        case SpecialReg::ntid_y:
          value = launch.block.y;
          break;
        case SpecialReg::ntid_z:
          value = launch.block.z;
          break;
        case SpecialReg::nctaid_x:
          value = launch.grid.x;
          break;
        case SpecialReg::nctaid_y:
          value = launch.grid.y;
          break;
        case SpecialReg::nctaid_z:
          value = launch.grid.z;
          break;
        case SpecialReg::laneid:
          value = l;
          break;
        case SpecialReg::warpid:
          value = index_;
          break;
        case SpecialReg::nwarpid:
          value = 64;
          break;
        case SpecialReg::nsmid:
          value = launch.multiprocessors;
          break;
        case SpecialReg::gridid:
          value = 1;
          break;
        case SpecialReg::lanemask_eq:
          value = 1u << l;
          break;
        case SpecialReg::lanemask_lt:
          value = below;
          break;
        case SpecialReg::lanemask_le:
          value = below | 1u << l;
          break;
        case SpecialReg::lanemask_gt:
          value = ~(below | 1u << l);
          break;
        case SpecialReg::lanemask_ge:
          value = ~below;
          break;
        case SpecialReg::total_smem_size:
          value = launch.own_shared_bytes;
          break;
        case SpecialReg::dynamic_smem_size:
          value = launch.own_shared_bytes - program().dynamic_offset;
          break;
        case SpecialReg::reserved_smem_begin:
        case SpecialReg::reserved_smem_0:
        case SpecialReg::reserved_smem_1:
          value = launch.reserved_at();
          break;
        case SpecialReg::reserved_smem_end:
          value = launch.reserved_at() + LaunchContext::kReservedShared;
          break;
        case SpecialReg::reserved_smem_cap:
          value = launch.reserved_at() + 1024;
          break;
        case SpecialReg::envreg1:  // the ABI of cooperative_groups (details/driver_abi.h)
          value = static_cast<uint32_t>(launch.grid_workspace >> 32);
          break;
        case SpecialReg::envreg2:
          value = static_cast<uint32_t>(launch.grid_workspace);
          break;
        case SpecialReg::warpsize:
          value = kWarpSize;
          break;
        case SpecialReg::nclusterid_x:
          value = launch.grid.x / launch.cluster.x;
          break;
        case SpecialReg::nclusterid_y:
          value = launch.grid.y / launch.cluster.y;
          break;
        case SpecialReg::nclusterid_z:
          value = launch.grid.z / launch.cluster.z;
          break;
        case SpecialReg::cluster_nctaid_x:
          value = launch.cluster.x;
          break;
        case SpecialReg::cluster_nctaid_y:
          value = launch.cluster.y;
          break;
        case SpecialReg::cluster_nctaid_z:
          value = launch.cluster.z;
          break;
        case SpecialReg::cluster_nctarank:
          value = static_cast<uint32_t>(launch.cluster.count());
          break;
        default:
          break;  // set for each block, or read by an instruction of its own
      }
      at[l] = value;
    }
  }
}

void Warp::fill_block_specials(Frame& frame) {
  using ptx::SpecialReg;
  const LaunchContext& launch = block_.launch();
  for (const SpecialSlot& slot : frame.function->specials) {
    uint32_t value;
    switch (slot.reg) {
      case SpecialReg::ctaid_x:
        value = block_.info().x;
        break;
      case SpecialReg::ctaid_y:
        value = block_.info().y;
        break;
      case SpecialReg::ctaid_z:
        value = block_.info().z;
        break;
      case SpecialReg::clusterid_x:
        value = block_.info().x / launch.cluster.x;
        break;
      case SpecialReg::clusterid_y:
        value = block_.info().y / launch.cluster.y;
        break;
      case SpecialReg::clusterid_z:
        value = block_.info().z / launch.cluster.z;
        break;
      case SpecialReg::cluster_ctaid_x:
        value = block_.info().x % launch.cluster.x;
        break;
      case SpecialReg::cluster_ctaid_y:
        value = block_.info().y % launch.cluster.y;
        break;
      case SpecialReg::cluster_ctaid_z:
        value = block_.info().z % launch.cluster.z;
        break;
      case SpecialReg::cluster_ctarank:
        value = block_.info().rank;
        break;
      case SpecialReg::smid:
        value = static_cast<uint32_t>(block_.info().index % launch.multiprocessors);
        break;
      default:
        continue;
    }
    auto* at = reinterpret_cast<uint32_t*>(frame.regs + slot.offset);
    std::fill_n(at, kWarpSize, value);
  }
}

}  // namespace lab32::sim
