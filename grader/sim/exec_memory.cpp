// Loads and stores of all state spaces, address conversion.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "sim/address.h"

namespace lab32::sim {
namespace {

using ptx::Mod;
using ptx::Type;

enum class Where : uint8_t { global, shared, local, constant, generic };

Where space_of(const ptx::Instruction& in) {
  if (in.has(Mod::global)) return Where::global;
  if (in.has(Mod::shared) || in.has(Mod::shared_cta)) return Where::shared;
  if (in.has(Mod::local)) return Where::local;
  if (in.has(Mod::constant)) return Where::constant;
  return Where::generic;
}

struct Wide {  // .b128
  uint64_t low, high;
};

// Where lane l's byte of address a is: base + a + l * stride.
struct Place {
  std::byte* base;
  size_t stride;
};

bool contiguous(const uint64_t* address, unsigned bytes) {
  uint64_t off = 0;
  for (int l = 0; l < kWarpSize; ++l)
    off |= address[l] ^ (address[0] + static_cast<uint64_t>(l) * bytes);
  return off == 0;
}

// One element of each lane from memory into a register, extended to the register's width.
template <class Mem, class Reg>
void read_lanes(const Place& place, const uint64_t* address, unsigned offset, std::byte* slot,
                uint32_t mask) {
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    Mem value;
    std::memcpy(&value, place.base + address[l] + offset + static_cast<size_t>(l) * place.stride,
                sizeof value);
    store_lane<Reg>(slot, l, static_cast<Reg>(value));
  }
}

template <class Mem>
void read_element(const Place& place, const uint64_t* address, unsigned offset, const Exec& x,
                  const Slot& to) {
  if (to.bytes == 0) return;  // '_'
  std::byte* slot = x.regs + to.offset;
  if constexpr (std::is_same_v<Mem, Wide>) {
    read_lanes<Wide, Wide>(place, address, offset, slot, x.mask);
  } else {
    switch (to.bytes) {
      case 2: return read_lanes<Mem, uint16_t>(place, address, offset, slot, x.mask);
      case 4: return read_lanes<Mem, uint32_t>(place, address, offset, slot, x.mask);
      default: return read_lanes<Mem, uint64_t>(place, address, offset, slot, x.mask);
    }
  }
}

// A store writes the low bytes of the register.
template <class Mem>
void write_element(const Place& place, const uint64_t* address, unsigned offset, const Exec& x,
                   const Slot& from) {
  const std::byte* slot = x.regs + from.offset;
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    std::memcpy(place.base + address[l] + offset + static_cast<size_t>(l) * place.stride,
                slot + l * from.bytes, sizeof(Mem));
  }
}

void check_local(const Exec& x, const Inst& in, const uint64_t* address, unsigned bytes,
                 bool store) {
  Warp& w = *x.warp;
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const uint64_t a = address[l];
    if (a < kLocalStart || a > w.local_top() || a + bytes > w.local_top())
      w.trap(in, "out of bounds",
             fmt::format("{} {} {} bytes at offset {} of its local memory, which holds {} bytes",
                         w.thread_name(l), store ? "writes" : "reads", bytes,
                         static_cast<int64_t>(a) - kLocalStart, w.local_top() - kLocalStart));
    if (a % bytes != 0)
      w.trap(in, "misaligned",
             fmt::format("{} accesses {} bytes at offset {} of its local memory, which is no "
                         "multiple of {}",
                         w.thread_name(l), bytes, a - kLocalStart, bytes));
    uint8_t* written = w.local_written(l) + a;
    if (store) {
      std::memset(written, 1, bytes);
    } else if (std::memchr(written, 0, bytes)) {
      w.trap(in, "uninitialised",
             fmt::format("{} reads {} bytes of a local array that it has not written",
                         w.thread_name(l), bytes));
    }
  }
}

// Checks, reports, and says where the data is. `address` is adjusted to the space's own offsets.
Place access(const Exec& x, const Inst& in, Where where, uint64_t* address, unsigned bytes,
             bool store) {
  Warp& w = *x.warp;
  Block& block = w.block();
  const auto use = store ? Block::Use::write : Block::Use::read;
  const auto kind = store ? AccessKind::store : AccessKind::load;
  switch (where) {
    case Where::global: {
      std::byte* base = block.global(w, in, address, x.mask, bytes, use);
      if (block.observes_accesses())
        block.report(w, in, AccessSpace::global, kind, bytes, x.mask, address);
      return {base, 0};
    }
    case Where::constant: return {block.global(w, in, address, x.mask, bytes, use), 0};
    case Where::shared:
      block.check_shared(w, in, address, x.mask, bytes, use);
      if (block.observes_accesses())
        block.report(w, in, AccessSpace::shared, kind, bytes, x.mask, address);
      return {block.shared(), 0};
    default:
      check_local(x, in, address, bytes, store);
      if (block.observes_accesses())
        block.report(w, in, AccessSpace::local, kind, bytes, x.mask, address);
      return {w.local(0), w.local_capacity()};
  }
}

void gather_values(const Exec& x, const Inst& in, unsigned element) {
  for (uint8_t v = 0; v < in.src_count; ++v) {
    const Slot& from = in.src[v];
    for (uint32_t r = x.mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      std::memcpy(x.warp->values + l * 16 + v * element, x.regs + from.offset + l * from.bytes,
                  element);
    }
  }
}

template <class Mem>
void load_from(const Exec& x, const Inst& in, Where where, uint64_t* address) {
  constexpr unsigned kElement = sizeof(Mem);
  const unsigned bytes = kElement * in.dst_count;
  const Place place = access(x, in, where, address, bytes, false);
  if (where == Where::shared && x.warp->block().observes_raw_shared())
    x.warp->block().report_raw_shared(*x.warp, in, AccessKind::load, bytes, x.mask, address,
                                      nullptr);
  if (in.dst_count == 1 && in.dst[0].bytes == kElement && x.mask == kFullMask && place.stride == 0 &&
      contiguous(address, kElement)) {
    std::memcpy(x.regs + in.dst[0].offset, place.base + address[0], kElement * kWarpSize);
    return;
  }
  for (uint8_t v = 0; v < in.dst_count; ++v)
    read_element<Mem>(place, address, v * kElement, x, in.dst[v]);
}

template <class Mem>
void store_to(const Exec& x, const Inst& in, Where where, uint64_t* address) {
  constexpr unsigned kElement = sizeof(Mem);
  const unsigned bytes = kElement * in.src_count;
  const Place place = access(x, in, where, address, bytes, true);
  if (where == Where::shared && x.warp->block().observes_raw_shared()) {
    gather_values(x, in, kElement);
    x.warp->block().report_raw_shared(*x.warp, in, AccessKind::store, bytes, x.mask, address,
                                      x.warp->values);
  }
  if (in.src_count == 1 && in.src[0].bytes == kElement && x.mask == kFullMask && place.stride == 0 &&
      contiguous(address, kElement)) {
    std::memcpy(place.base + address[0], x.regs + in.src[0].offset, kElement * kWarpSize);
    return;
  }
  for (uint8_t v = 0; v < in.src_count; ++v)
    write_element<Mem>(place, address, v * kElement, x, in.src[v]);
}

// Generic addresses: lanes go by the window their address lies in.
template <class F>
void by_window(const Exec& x, uint64_t* address, F f) {
  const uint32_t shared = lanes_in_window(address, x.mask, kSharedBase);
  const uint32_t local = lanes_in_window(address, x.mask, kLocalBase);
  const uint32_t global = x.mask & ~shared & ~local;
  alignas(64) uint64_t own[kWarpSize];
  auto part = [&](uint32_t mask, uint64_t base, Where where) {
    if (!mask) return;
    for (int l = 0; l < kWarpSize; ++l) own[l] = address[l] - base;
    f(Exec{x.regs, mask, x.warp}, where, own);
  };
  part(shared, kSharedBase, Where::shared);
  part(local, kLocalBase, Where::local);
  part(global, 0, Where::global);
}

template <class Mem, Where where>
void load(const Exec& x, const Inst& in) {
  uint64_t* address = x.warp->address;
  lane_addresses(x, in.mem_base, in.mem_offset, address);
  if constexpr (where == Where::generic) {
    by_window(x, address,
              [&](const Exec& part, Where w, uint64_t* own) { load_from<Mem>(part, in, w, own); });
  } else {
    load_from<Mem>(x, in, where, address);
  }
}

// Loads that may see what another thread stores meanwhile.
template <class Mem, Where where>
void load_volatile(const Exec& x, const Inst& in) {
  x.warp->note_synchronisation();
  load<Mem, where>(x, in);
}

template <class Mem, Where where>
void store(const Exec& x, const Inst& in) {
  uint64_t* address = x.warp->address;
  lane_addresses(x, in.mem_base, in.mem_offset, address);
  if constexpr (where == Where::generic) {
    by_window(x, address,
              [&](const Exec& part, Where w, uint64_t* own) { store_to<Mem>(part, in, w, own); });
  } else {
    store_to<Mem>(x, in, where, address);
  }
}

template <class Mem>
ExecFn pick_load_of(Where where, bool synchronises) {
#define LAB32_SPACE(w) \
  case w: return synchronises ? load_volatile<Mem, w> : load<Mem, w>;
  switch (where) {
    LAB32_SPACE(Where::global)
    LAB32_SPACE(Where::shared)
    LAB32_SPACE(Where::local)
    LAB32_SPACE(Where::constant)
    LAB32_SPACE(Where::generic)
  }
#undef LAB32_SPACE
  return nullptr;
}

template <class Mem>
ExecFn pick_store_of(Where where) {
  switch (where) {
    case Where::global: return store<Mem, Where::global>;
    case Where::shared: return store<Mem, Where::shared>;
    case Where::local: return store<Mem, Where::local>;
    default: return store<Mem, Where::generic>;
  }
}

// PTX ISA: a vector has at most 16 bytes (32 on sm_100 and later, which this simulator lacks).
void check_vector(const ptx::Instruction& in) {
  const unsigned elements = in.has(Mod::v4) ? 4 : in.has(Mod::v2) ? 2 : 1;
  if (elements * ptx::bytes_of(in.type()) > 16) refuse(in, "a vector of more than 16 bytes");
}

ExecFn pick_any_load(const ptx::Instruction& in, Where where) {
  check_vector(in);
  const bool sync = in.has(Mod::op_volatile) || in.has(Mod::relaxed) || in.has(Mod::acquire) ||
                    in.has(Mod::mmio);
  switch (in.type()) {
    case Type::s8: return pick_load_of<int8_t>(where, sync);
    case Type::s16: return pick_load_of<int16_t>(where, sync);
    case Type::s32: return pick_load_of<int32_t>(where, sync);
    default: break;
  }
  switch (ptx::bytes_of(in.type())) {
    case 1: return pick_load_of<uint8_t>(where, sync);
    case 2: return pick_load_of<uint16_t>(where, sync);
    case 4: return pick_load_of<uint32_t>(where, sync);
    case 8: return pick_load_of<uint64_t>(where, sync);
    default: return pick_load_of<Wide>(where, sync);
  }
}

// --- parameters ---------------------------------------------------------------------------------
// Kernel parameters are device memory (constant); those of functions lie in the frame, lane by lane.

std::byte* frame_params(const Exec& x, const Inst& in, size_t* stride) {
  const Split& split = x.warp->current();
  *stride = split.frame->function->param_bytes;
  return split.frame->params.data() + in.mem_offset;
}

template <class Mem>
void load_param(const Exec& x, const Inst& in) {
  size_t stride;
  std::byte* base = frame_params(x, in, &stride);
  static constexpr uint64_t kZero[kWarpSize] = {};
  for (uint8_t v = 0; v < in.dst_count; ++v)
    read_element<Mem>({base, stride}, kZero, v * sizeof(Mem), x, in.dst[v]);
}

template <class Mem>
void store_param(const Exec& x, const Inst& in) {
  size_t stride;
  std::byte* base = frame_params(x, in, &stride);
  static constexpr uint64_t kZero[kWarpSize] = {};
  for (uint8_t v = 0; v < in.src_count; ++v)
    write_element<Mem>({base, stride}, kZero, v * sizeof(Mem), x, in.src[v]);
}

// The parameter is one value for all lanes, at mem_offset of the kernel's parameter block.
template <class Mem, class Reg>
void broadcast_param(const Exec& x, const Inst& in) {
  const LaunchContext& launch = x.warp->block().launch();
  const std::byte* from =
      launch.memory->host(launch.param_address) + static_cast<size_t>(in.mem_offset);
  for (uint8_t v = 0; v < in.dst_count; ++v) {
    if (in.dst[v].bytes == 0) continue;
    Mem value;
    std::memcpy(&value, from + v * sizeof(Mem), sizeof value);
    std::byte* slot = x.regs + in.dst[v].offset;
    for (uint32_t r = x.mask; r; r &= r - 1)
      store_lane<Reg>(slot, __builtin_ctz(r), static_cast<Reg>(value));
  }
}

template <class Mem>
void load_kernel_param(const Exec& x, const Inst& in) {
  uint8_t bytes = 0;  // of the registers, which are equally wide; any may be '_'
  for (uint8_t v = 0; v < in.dst_count; ++v) bytes = std::max(bytes, in.dst[v].bytes);
  switch (bytes) {
    case 2: return broadcast_param<Mem, uint16_t>(x, in);
    case 4: return broadcast_param<Mem, uint32_t>(x, in);
    default: return broadcast_param<Mem, uint64_t>(x, in);
  }
}

template <template <class> class Which>
ExecFn pick_by_type(const ptx::Instruction& in) {
  check_vector(in);
  switch (in.type()) {
    case Type::s8: return Which<int8_t>::fn;
    case Type::s16: return Which<int16_t>::fn;
    case Type::s32: return Which<int32_t>::fn;
    default: break;
  }
  switch (ptx::bytes_of(in.type())) {
    case 1: return Which<uint8_t>::fn;
    case 2: return Which<uint16_t>::fn;
    case 4: return Which<uint32_t>::fn;
    case 8: return Which<uint64_t>::fn;
    default: refuse(in, "parameters of this width are not supported");
  }
}

template <class T> struct LoadParam { static constexpr ExecFn fn = load_param<T>; };
template <class T> struct LoadKernelParam { static constexpr ExecFn fn = load_kernel_param<T>; };
template <class T> struct StoreParam { static constexpr ExecFn fn = store_param<T>; };

// --- addresses ----------------------------------------------------------------------------------

uint64_t window_base(const ptx::Instruction& in) {
  switch (space_of(in)) {
    case Where::shared: return kSharedBase;
    case Where::local: return kLocalBase;
    default: return 0;  // device memory: its own addresses are the generic ones
  }
}

template <int sign, uint64_t base>
void shift_address(const Exec& x, const Inst& in) {
  map_lanes<uint64_t, uint64_t>(x, in, [](uint64_t a) { return sign > 0 ? a + base : a - base; });
}

template <int sign>
ExecFn pick_shift(const ptx::Instruction& in) {
  if (in.type() != Type::u64) refuse(in, "only 64-bit generic addresses are supported");
  const uint64_t base = window_base(in);
  if (base == kSharedBase) return shift_address<sign, kSharedBase>;
  if (base == kLocalBase) return shift_address<sign, kLocalBase>;
  return shift_address<sign, 0>;
}

template <uint64_t base>
void in_window(const Exec& x, const Inst& in) {
  const std::byte* a = x.regs + in.src[0].offset;
  uint32_t bits = 0;
  for (int l = 0; l < kWarpSize; ++l)
    bits |= static_cast<uint32_t>(load_lane<uint64_t>(a, l) - base < kWindowBytes) << l;
  write_predicate(x, in.dst[0], bits);
}

// Global is what lies in no other window, valid or not.
void in_device_memory(const Exec& x, const Inst& in, bool constant) {
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

void in_global(const Exec& x, const Inst& in) { in_device_memory(x, in, false); }
void in_constant(const Exec& x, const Inst& in) { in_device_memory(x, in, true); }

void no_effect(const Exec&, const Inst&) {}

}  // namespace

ExecFn pick_ld(const ptx::Instruction& in) { return pick_any_load(in, space_of(in)); }
ExecFn pick_ld_nc(const ptx::Instruction& in) { return pick_any_load(in, Where::global); }
ExecFn pick_ldu(const ptx::Instruction& in) { return pick_any_load(in, space_of(in)); }

ExecFn pick_st(const ptx::Instruction& in) {
  check_vector(in);
  const Where where = space_of(in);
  switch (ptx::bytes_of(in.type())) {
    case 1: return pick_store_of<uint8_t>(where);
    case 2: return pick_store_of<uint16_t>(where);
    case 4: return pick_store_of<uint32_t>(where);
    case 8: return pick_store_of<uint64_t>(where);
    default: return pick_store_of<Wide>(where);
  }
}

// The decoder replaces this by pick_ld_kernel_param for a kernel's own parameters.
ExecFn pick_ld_param(const ptx::Instruction& in) { return pick_by_type<LoadParam>(in); }
ExecFn pick_ld_kernel_param(const ptx::Instruction& in) { return pick_by_type<LoadKernelParam>(in); }
ExecFn pick_ld_param_pointer(const ptx::Instruction& in) {
  return pick_any_load(in, Where::constant);
}
ExecFn pick_st_param(const ptx::Instruction& in) { return pick_by_type<StoreParam>(in); }

ExecFn pick_cvta(const ptx::Instruction& in) { return pick_shift<1>(in); }
ExecFn pick_cvta_to(const ptx::Instruction& in) { return pick_shift<-1>(in); }

ExecFn pick_isspacep(const ptx::Instruction& in) {
  switch (space_of(in)) {
    case Where::shared: return in_window<kSharedBase>;
    case Where::local: return in_window<kLocalBase>;
    case Where::global: return in_global;
    default: return in_constant;
  }
}

// A hint: it moves no data, and no counter of ours counts it.
ExecFn pick_prefetch(const ptx::Instruction&) { return no_effect; }

// Memory is sequentially consistent here: each access is complete before the next one starts.
ExecFn pick_membar(const ptx::Instruction&) { return no_effect; }
ExecFn pick_fence(const ptx::Instruction&) { return no_effect; }

}  // namespace lab32::sim
