// Instructions on addresses (cvta, isspacep, mapa, alloca), and those that only order or advise
// (fence, prefetch, createpolicy).
#include "simulator/core/isa/memory_lanes.h"

namespace lab32::sim {
namespace {

using ptx::DataType;
using ptx::Modifier;
using Where = ptx::Space;

uint64_t generic_base_of_space(const ptx::Instruction& in) {
  switch (space_of(in)) {
    case Where::shared:
      return kSharedBase;
    case Where::local:
      return kLocalBase;
    default:
      return 0;  // addresses of device memory are generic addresses
  }
}

template <int sign, uint64_t base>
void convert_address_space(const ExecContext& x, const Inst& in) {
  map_lanes<uint64_t, uint64_t>(x, in, [](uint64_t a) { return sign > 0 ? a + base : a - base; });
}

template <int sign>
ExecFn pick_address_conversion(const ptx::Instruction& in) {
  if (in.type() != DataType::u64) refuse(in, "only 64-bit generic addresses are supported");
  const uint64_t base = generic_base_of_space(in);
  if (base == kSharedBase) return convert_address_space<sign, kSharedBase>;
  if (base == kLocalBase) return convert_address_space<sign, kLocalBase>;
  return convert_address_space<sign, 0>;
}

void set_if_in_address_range(const ExecContext& x, const Inst& in, uint64_t base, uint64_t bytes) {
  const std::byte* a = x.regs + in.src[0].offset;
  uint32_t bits = 0;
  for (int l = 0; l < kWarpSize; ++l)
    bits |= static_cast<uint32_t>(load_lane<uint64_t>(a, l) - base < bytes) << l;
  write_predicate(x, in.dst[0], bits);
}
template <uint64_t base>
void set_if_in_address_window(const ExecContext& x, const Inst& in) {
  set_if_in_address_range(x, in, base, kWindowBytes);
}
void set_if_in_own_shared(const ExecContext& x, const Inst& in) {
  BlockContext& block = x.warp->block();
  if (block.cluster() == nullptr) return set_if_in_address_window<kSharedBase>(x, in);
  set_if_in_address_range(x, in, kSharedBase + block.shared().base(), kBlockWindow);
}

// mapa returns the same offset in another block's shared memory; the access that uses it later
// checks whether that block exists. getctarank returns the rank of the block to which an address
// belongs.
template <class T>
void map_address_to_cluster_rank(const ExecContext& x, const Inst& in) {
  constexpr T kRank = T{0xff} << kRankShift;
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const T address = load_lane<T>(x.regs + in.src[0].offset, l);
    const T rank = load_lane<uint32_t>(x.regs + in.src[1].offset, l) & 0xff;
    store_lane<T>(x.regs + in.dst[0].offset, l, (address & ~kRank) | rank << kRankShift);
  }
}
template <class T>
void cluster_rank_of_address(const ExecContext& x, const Inst& in) {
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const T address = load_lane<T>(x.regs + in.src[0].offset, l);
    store_lane<uint32_t>(x.regs + in.dst[0].offset, l,
                         static_cast<uint32_t>(address >> kRankShift) & 0xff);
  }
}

// An address counts as global if it lies in no other window, even if no allocation contains it.
void set_if_in_device_memory(const ExecContext& x, const Inst& in, bool constant) {
  const Memory& memory = *x.warp->block().launch().memory;
  const std::byte* a = x.regs + in.src[0].offset;
  uint32_t bits = 0;
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const uint64_t address = load_lane<uint64_t>(a, l);
    const Allocation* own = memory.find(address);
    const bool is_constant = own && own->read_only;
    const bool is_window =
        address - kSharedBase < kWindowBytes || address - kLocalBase < kWindowBytes;
    if (constant ? is_constant : !is_constant && !is_window) bits |= 1u << l;
  }
  write_predicate(x, in.dst[0], bits);
}

void set_predicate_if_in_global(const ExecContext& x, const Inst& in) {
  set_if_in_device_memory(x, in, false);
}
void set_predicate_if_in_constant(const ExecContext& x, const Inst& in) {
  set_if_in_device_memory(x, in, true);
}

template <class T>
void allocate_local(const ExecContext& x, const Inst& in) {
  uint64_t most = 0;
  for (uint32_t r = x.mask; r; r &= r - 1)
    most = std::max<uint64_t>(most, load_lane<T>(x.regs + in.src[0].offset, __builtin_ctz(r)));
  constexpr uint32_t kUsualAlign = 8;
  const uint32_t align =
      in.ptx->has_operand(2) ? static_cast<uint32_t>(in.ptx->operands[2].value) : kUsualAlign;
  const uint32_t at =
      x.warp->local().allocate_dynamically(*x.warp->current().frame, in, x.mask, most, align);
  for (uint32_t r = x.mask; r; r &= r - 1)
    store_lane<T>(x.regs + in.dst[0].offset, __builtin_ctz(r), static_cast<T>(at));
}

void no_effect(const ExecContext&, const Inst&) {}
// A cache policy is only an operand of other hints, so its value does not matter.
void make_cache_policy(const ExecContext& x, const Inst& in) {
  if (in.dst[0].bytes == 0) return;
  for (uint32_t r = x.mask; r; r &= r - 1)
    store_lane<uint64_t>(x.regs + in.dst[0].offset, __builtin_ctz(r), 0);
}
void fence(const ExecContext& x, const Inst& in) {
  x.warp->polling().note(in.site + 1);  // the warp may poll by a plain load after the fence
  BlockContext& block = x.warp->block();
  if (block.reports().observes_order() || block.reports().observes_shared_ptx_accesses())
    block.reports().fence(x.warp->index(), in, x.mask);
}

}  // namespace

ExecFn pick_alloca(const ptx::Instruction& in) {
  return ptx::bits_of(in.type()) == 64 ? allocate_local<uint64_t> : allocate_local<uint32_t>;
}
ExecFn pick_mapa(const ptx::Instruction& in) {
  return ptx::bits_of(in.type()) == 64 ? map_address_to_cluster_rank<uint64_t>
                                       : map_address_to_cluster_rank<uint32_t>;
}
ExecFn pick_getctarank(const ptx::Instruction& in) {
  return ptx::bits_of(in.type()) == 64 ? cluster_rank_of_address<uint64_t>
                                       : cluster_rank_of_address<uint32_t>;
}
ExecFn pick_cvta(const ptx::Instruction& in) { return pick_address_conversion<1>(in); }
ExecFn pick_cvta_to(const ptx::Instruction& in) { return pick_address_conversion<-1>(in); }

ExecFn pick_isspacep(const ptx::Instruction& in) {
  switch (space_of(in)) {
    case Where::shared:
      return in.has(Modifier::shared_cluster) ? set_if_in_address_window<kSharedBase>
                                              : set_if_in_own_shared;
    case Where::local:
      return set_if_in_address_window<kLocalBase>;
    case Where::global:
      return set_predicate_if_in_global;
    default:
      return set_predicate_if_in_constant;
  }
}

// prefetch, applypriority and similar instructions are hints: they move no data, and the simulator
// has no counter for them.
ExecFn pick_prefetch(const ptx::Instruction&) { return no_effect; }
ExecFn pick_applypriority(const ptx::Instruction&) { return no_effect; }
ExecFn pick_policy_fractional(const ptx::Instruction&) { return make_cache_policy; }
ExecFn pick_policy_range(const ptx::Instruction&) { return make_cache_policy; }
ExecFn pick_policy_cvt(const ptx::Instruction&) { return make_cache_policy; }

// The simulator's memory is sequentially consistent: each access is complete before the next one
// starts. However, a plain load in a loop sees the stores of other blocks only if the loop has a
// fence.
ExecFn pick_membar(const ptx::Instruction&) { return fence; }
ExecFn pick_fence(const ptx::Instruction&) { return fence; }

}  // namespace lab32::sim
