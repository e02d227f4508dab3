#include "simulator/core/warp/frames.h"

#include <algorithm>
#include <cstring>

#include "base/memory.h"

namespace lab32::sim {
namespace {

constexpr size_t kRegisterAlign = 64;

// The inputs of special registers.
struct SpecialRegisterInputs {
  const LaunchContext& launch;
  const BlockInfo& block;
  uint32_t dynamic_offset;  // offset of dynamic shared memory
  uint32_t warp = 0, lane = 0;

  uint32_t thread() const { return warp * kWarpSize + lane; }
  uint32_t below() const { return (1u << lane) - 1; }
};

using ptx::SpecialReg;
struct SpecialRegisterEvaluator {
  SpecialReg reg;
  uint32_t (*value)(const SpecialRegisterInputs& of);
};

#define SPECIAL(reg, expression)                                            \
  {                                                                         \
    SpecialReg::reg, []([[maybe_unused]] const SpecialRegisterInputs& of) { \
      return static_cast<uint32_t>(expression);                             \
    }                                                                       \
  }

// clang-format off Values that a lane keeps as long as its warp object exists. Registers that are
// in neither table are read by special instructions.
constexpr SpecialRegisterEvaluator kOfLaunch[] = {
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
    // The cooperative_groups headers of the toolkit define the meaning of these registers.
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

// Values that all lanes of a block share and that change with the block.
constexpr SpecialRegisterEvaluator kOfBlock[] = {
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
const SpecialRegisterEvaluator* find_special_register_evaluator(
    const SpecialRegisterEvaluator (&rows)[n], SpecialReg reg) {
  const auto* at =
      std::find_if(rows, rows + n, [&](const SpecialRegisterEvaluator& r) { return r.reg == reg; });
  return at == rows + n ? nullptr : at;
}

}  // namespace

CallFramePool::CallFramePool(BlockContext& block, uint32_t warp, LocalMemory& local)
    : block_(block), warp_(warp), local_(local) {
  free_.resize(block.launch().program->functions.size());
}

void CallFramePool::reset_for_next_block() {
  for (auto& pool : free_) pool.clear();
  for (auto& frame : frames_) free(frame.get());
}

void CallFramePool::make_registers(CallFrame& frame, const DecodedFunction& function) {
  frame.function = &function;
  register_files_.push_back(
      std::make_unique<std::byte[]>(function.register_bytes + kRegisterAlign));
  auto raw = reinterpret_cast<uintptr_t>(register_files_.back().get());
  frame.regs = reinterpret_cast<std::byte*>(align_up(raw, kRegisterAlign));
  std::memset(frame.regs, 0, function.register_bytes);
  frame.params.resize(static_cast<size_t>(function.param_bytes) * kWarpSize);
  for (const PresetRegisterSlot& slot : function.fixed) {
    std::byte* at = frame.regs + slot.offset;
    if (slot.bytes == 0) std::memcpy(at, &slot.value, sizeof(uint32_t));
    for (int l = 0; slot.bytes != 0 && l < kWarpSize; ++l, at += slot.bytes)
      std::memcpy(at, &slot.value, std::min<size_t>(slot.bytes, 8));
  }
  fill_special_registers(frame);
  for (const SharedVariableAddressSlot& slot : function.shared_addresses) {
    const uint64_t value = block_.shared().base() + slot.value;
    for (int l = 0; l < kWarpSize; ++l)
      std::memcpy(frame.regs + slot.offset + static_cast<size_t>(l) * slot.bytes, &value,
                  slot.bytes);
  }
}

CallFrame* CallFramePool::make_frame(const DecodedFunction& function, CallFrame* parent,
                                     const Inst* call) {
  CallFrame* frame;
  auto& pool = free_[function.index];
  if (!pool.empty()) {
    frame = pool.back();
    pool.pop_back();
  } else {
    frames_.push_back(std::make_unique<CallFrame>());
    frame = frames_.back().get();
    make_registers(*frame, function);
  }
  // On a GPU a register that was never written holds a value of another kernel. Here it holds
  // poison, like memory.
  for (auto [offset, bytes] : function.undefined) std::memset(frame->regs + offset, 0xff, bytes);
  std::memset(frame->regs + function.carry_offset, 0, sizeof(uint32_t));
  frame->undefined.reset();
  // Parameters begin as zeros, because the padding of a structure may be loaded although it is
  // never stored.
  std::fill(frame->params.begin(), frame->params.end(), std::byte{0});
  fill_block_special_registers(*frame);
  frame->parent = parent;
  frame->local_base = parent ? parent->local_base + parent->local_bytes + kCallBytes : kLocalStart;
  frame->local_bytes = function.local_bytes;
  const uint32_t top = frame->local_base + function.local_bytes;
  if (top > kLocalLimit) {
    TrapFacts full =
        block_.faults().facts(call ? TrapReason::call_depth : TrapReason::local_memory, warp_);
    full.value = function.local_bytes >> 10;
    full.limit = kLocalLimit >> 10;
    throw Trap{std::move(full), call ? call->site : 0};
  }
  local_.ensure_capacity(top, parent != nullptr);
  for (const LocalVariableAddressSlot& slot : function.local_addresses) {
    const uint64_t value = (slot.generic ? kLocalBase : 0) + frame->local_base + slot.local_offset;
    for (int l = 0; l < kWarpSize; ++l)
      std::memcpy(frame->regs + slot.offset + static_cast<size_t>(l) * slot.bytes, &value,
                  slot.bytes);
  }
  return frame;
}

void CallFramePool::fill_special_registers(CallFrame& frame) {
  SpecialRegisterInputs of{block_.launch(), block_.info(), block_.launch().program->dynamic_offset,
                           warp_};
  for (const SpecialRegisterSlot& slot : frame.function->specials) {
    auto* at = reinterpret_cast<uint32_t*>(frame.regs + slot.offset);
    if (slot.reg == SpecialReg::is_explicit_cluster) {
      *at = of.launch.explicit_cluster ? kFullMask : 0;
      continue;
    }
    const SpecialRegisterEvaluator* row = find_special_register_evaluator(kOfLaunch, slot.reg);
    for (of.lane = 0; of.lane < kWarpSize; ++of.lane) at[of.lane] = row ? row->value(of) : 0;
  }
}

void CallFramePool::fill_block_special_registers(CallFrame& frame) {
  const SpecialRegisterInputs of{block_.launch(), block_.info(),
                                 block_.launch().program->dynamic_offset, warp_};
  for (const SpecialRegisterSlot& slot : frame.function->specials)
    if (const SpecialRegisterEvaluator* row = find_special_register_evaluator(kOfBlock, slot.reg))
      std::fill_n(reinterpret_cast<uint32_t*>(frame.regs + slot.offset), kWarpSize, row->value(of));
}

// ---------------------------------------------------------------------------------------------
// Local memory: checks of accesses to it, and its growth.

void LocalMemory::reset_for_next_block() {
  if (capacity_ != 0) make_undefined(kFullMask, kLocalStart, capacity_ - kLocalStart);
}

void LocalMemory::check_accesses_of_lanes(const Inst& in, uint64_t* offset, uint32_t mask,
                                          unsigned bytes, bool store) {
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const uint64_t a = offset[l], end = top();
    const bool outside = a < kLocalStart || a > end || a + bytes > end;
    const auto facts = [&](TrapReason reason) {
      TrapFacts f = block_.faults().facts_of_access(
          warp_, l, AccessSpace::local, store ? AccessUse::write : AccessUse::read, bytes);
      f.reason = reason;
      f.access->offset = static_cast<int64_t>(a) - kLocalStart;
      f.access->size = end - kLocalStart;
      return f;
    };
    if (outside || a % bytes != 0) {
      block_.faults().trap_or_report(in.site, 1u << l, FaultEvent::Kind::memory, [&](int) {
        return facts(outside ? TrapReason::outside_local : TrapReason::misaligned);
      });
      offset[l] = 0;  // before the first variable, where a null pointer is
      std::memset(of(l), 0xff, kSinkBytes);
      continue;
    }
  }
}

void LocalMemory::make_undefined(uint32_t lanes, uint32_t from, uint32_t bytes) {
  for (uint32_t r = lanes; bytes != 0 && r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    std::memset(of(l) + from, 0xff, bytes);
    if (undefined_.is_tracked() && block_.launch().begins_undefined())
      std::memset(undefined_bits_at(l, from, bytes), 0xff, bytes);
  }
}

uint32_t LocalMemory::allocate_dynamically(CallFrame& frame, const Inst& in, uint32_t mask,
                                           uint64_t bytes, uint32_t align) {
  const uint32_t begin = align_up(frame.local_base + frame.local_bytes, std::max(align, 1u));
  if (bytes > kLocalLimit || begin + bytes > kLocalLimit) {
    TrapFacts full = block_.faults().facts(TrapReason::local_memory, warp_);
    full.value = (begin + bytes) >> 10;
    full.limit = kLocalLimit >> 10;
    throw Trap{std::move(full), in.site};
  }
  const auto top = static_cast<uint32_t>(begin + bytes);
  ensure_capacity(top, true);
  frame.local_bytes = top - frame.local_base;
  top_ = top;
  make_undefined(mask, begin, static_cast<uint32_t>(bytes));
  return begin;
}

// The lanes' stacks are consecutive, so growing them moves each stack.
void LocalMemory::grow_stacks(uint32_t least, bool in_call) {
  const uint32_t before = capacity_;
  capacity_ = std::max(least, std::min(before * 2, kLocalLimit));
  block_.charge_growth_of_local_memory(warp_, uint64_t{capacity_ - before} * kWarpSize, in_call);
  std::vector<std::byte> old(static_cast<size_t>(capacity_) * kWarpSize);
  old.swap(bytes_);
  UndefinedBitsOfMemory old_undefined = std::move(undefined_);
  undefined_ = {};
  if (block_.checks_reads()) undefined_.mark_first_undefined(0, bytes_.size());
  for (int l = 0; l < kWarpSize; ++l) {
    const size_t at = static_cast<size_t>(l) * before;
    std::copy_n(old.data() + at, before, of(l));  // `old` is empty at first
    if (old_undefined.is_tracked() && !old_undefined.none())
      std::copy_n(old_undefined.data() + at, before, undefined_bits_at(l, 0, before));
  }
  // The bytes before the first variable (below kLocalStart) stay unused.
  make_undefined(kFullMask, std::max(before, kLocalStart),
                 capacity_ - std::max(before, kLocalStart));
}

}  // namespace lab32::sim
