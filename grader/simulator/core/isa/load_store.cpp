// Loads and stores of all state spaces but parameters.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "simulator/core/isa/memory_lanes.h"

namespace lab32::sim {

StridedLaneMemory check_and_report_access(const ExecContext& x, const Inst& in, ptx::Space where,
                                          uint64_t* address, unsigned bytes, bool store) {
  Warp& w = *x.warp;
  BlockContext& block = w.block();
  const auto use = store ? AccessUse::write : AccessUse::read;
  const auto kind = store ? AccessKind::store : AccessKind::load;
  switch (where) {
    case ptx::Space::global: {
      std::byte* base = block.accesses().check_global(w.index(), in, address, x.mask, bytes, use);
      if (block.reports().reports_accesses())
        block.reports().access(w.index(), in, {AccessSpace::global, kind, bytes, x.mask, address});
      return {base, 0};
    }
    case ptx::Space::constant:
      return {block.accesses().check_global(w.index(), in, address, x.mask, bytes, use), 0};
    case ptx::Space::shared:
      block.accesses().check_shared(w.index(), in, address, x.mask, bytes, use);
      if (block.reports().reports_accesses())
        block.reports().access(w.index(), in, {AccessSpace::shared, kind, bytes, x.mask, address});
      return {block.shared().bytes(), 0};
    default:
      w.local().check_accesses_of_lanes(in, address, x.mask, bytes, store);
      if (block.reports().reports_accesses())
        block.reports().access(w.index(), in, {AccessSpace::local, kind, bytes, x.mask, address});
      return {w.local().of(0), w.local().capacity()};
  }
}

namespace {

using ptx::DataType;
using ptx::Modifier;

using Where = ptx::Space;

void gather_values_to_store(const ExecContext& x, const Inst& in, unsigned element) {
  for (uint8_t v = 0; v < in.src_count; ++v) {
    const RegisterSlot& from = in.src[v];
    const std::byte* const slot = x.regs + from.offset;
    std::byte* const to = x.warp->values + v * element;
    if (element == 4 && from.bytes == 4) {  // includes inactive lanes
      for (int l = 0; l < kWarpSize; ++l) std::memcpy(to + l * 16, slot + l * 4, 4);
      continue;
    }
    for (uint32_t r = x.mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      std::memcpy(to + l * 16, slot + l * from.bytes, element);
    }
  }
}

// Copies the undefined bits of loaded bytes to the undefined bits of the result registers.
template <class Mem>
void copy_undefined_bits_of_load(const ExecContext& x, const Inst& in,
                                 const UndefinedBitsOfWarpRead& read) {
  const ExecContext to = x.warp->value_tracker().shadow_context_of_undefined_load(
      x, in, read.lanes, x.warp->origins_of_undefined_read(in, read, sizeof(Mem) * in.dst_count));
  for (uint8_t v = 0; v < in.dst_count; ++v)
    read_element<Mem>({read.bits, read.stride}, read.address, v * sizeof(Mem), to, in.dst[v]);
}

// Executes a strong load in a launch in which an observer chooses the loaded value.
template <class Mem>
void load_value_chosen_by_observer(const ExecContext& x, const Inst& in,
                                   const StridedLaneMemory& place, const uint64_t* address) {
  constexpr unsigned kElement = sizeof(Mem), kLane = 16;
  const unsigned bytes = kElement * in.dst_count;
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    std::memcpy(x.warp->values + l * kLane, place.base + address[l], bytes);
  }
  x.warp->block().reports().replace_loaded_values(x.warp->index(), in, bytes, x.mask, address,
                                                  x.warp->values);
  const uint64_t at_start[kWarpSize] = {};
  for (uint8_t v = 0; v < in.dst_count; ++v)
    read_element<Mem>({x.warp->values, kLane}, at_start, v * kElement, x, in.dst[v]);
}

template <class Mem>
void load_from(const ExecContext& x, const Inst& in, Where where, uint64_t* address) {
  constexpr unsigned kElement = sizeof(Mem);
  const unsigned bytes = kElement * in.dst_count;
  const StridedLaneMemory place = check_and_report_access(x, in, where, address, bytes, false);
  BlockContext& block = x.warp->block();
  if (block.checks_reads() && where != Where::constant) {
    UndefinedBitsOfWarpRead read;
    if (x.warp->find_undefined_bytes(access_space_of(where), address, x.mask, bytes, &read))
      copy_undefined_bits_of_load<Mem>(x, in, read);
  }
  if (where == Where::shared && block.reports().observes_shared_ptx_accesses())
    block.reports().shared_ptx_access(
        x.warp->index(),
        {in.site, AccessKind::load, static_cast<uint8_t>(bytes), x.mask, address, nullptr});
  if (where == Where::global && in.order.strong && block.reports().replaces_loaded_values())
    return load_value_chosen_by_observer<Mem>(x, in, place, address);
  if (where == Where::global && block.reports().observes_order())
    block.reports().strong_or_suspect_access(x.warp->index(), in, AccessKind::load, bytes, x.mask,
                                             address, nullptr);
  if (in.dst_count == 1 && in.dst[0].bytes == kElement && x.mask == kFullMask &&
      place.stride == 0 && are_contiguous(address, kElement)) {
    std::memcpy(x.regs + in.dst[0].offset, place.base + address[0], kElement * kWarpSize);
    return;
  }
  for (uint8_t v = 0; v < in.dst_count; ++v)
    read_element<Mem>(place, address, v * kElement, x, in.dst[v]);
}

template <class Mem>
void store_to(const ExecContext& x, const Inst& in, Where where, uint64_t* address) {
  constexpr unsigned kElement = sizeof(Mem);
  const unsigned bytes = kElement * in.src_count;
  const StridedLaneMemory place = check_and_report_access(x, in, where, address, bytes, true);
  BlockContext& block = x.warp->block();
  if (block.checks_reads() && where != Where::global)
    x.warp->mark_defined(access_space_of(where), address, x.mask, bytes);
  if (where == Where::shared && block.reports().observes_shared_ptx_accesses()) {
    gather_values_to_store(x, in, kElement);
    block.reports().shared_ptx_access(
        x.warp->index(),
        {in.site, AccessKind::store, static_cast<uint8_t>(bytes), x.mask, address, x.warp->values});
  }
  if (where == Where::global && block.reports().observes_order()) {
    gather_values_to_store(x, in, kElement);
    block.reports().strong_or_suspect_access(x.warp->index(), in, AccessKind::store, bytes, x.mask,
                                             address, x.warp->values);
  }
  if (in.src_count == 1 && in.src[0].bytes == kElement && x.mask == kFullMask &&
      place.stride == 0 && are_contiguous(address, kElement)) {
    std::memcpy(place.base + address[0], x.regs + in.src[0].offset, kElement * kWarpSize);
    return;
  }
  for (uint8_t v = 0; v < in.src_count; ++v)
    write_element<Mem>(place, address, v * kElement, x, in.src[v]);
}

// --- the usual case -----------------------------------------------------------------------------
// A whole warp, each half of which accesses one address or contiguous addresses. All bytes are
// valid and defined, and race detection does not need the access.

constexpr int kHalfWarp = kWarpSize / 2;

void report_half_warp_strided_access(const ExecContext& x, const Inst& in, Where where,
                                     AccessKind kind, unsigned bytes,
                                     const StridedHalfWarpPair& row) {
  BlockContext& block = x.warp->block();
  const bool raw = where == Where::shared && block.reports().observes_shared_ptx_accesses();
  uint64_t* const address = x.warp->address;
  if (block.reports().observes_accesses()) row.expand_to_addresses(address);
  block.reports().access(x.warp->index(), in,
                         {access_space_of(where), kind, bytes, x.mask, address});
  if (!raw) return;
  const bool stores = kind == AccessKind::store;
  if (stores) gather_values_to_store(x, in, bytes / in.src_count);
  block.reports().shared_ptx_access(x.warp->index(),
                                    {in.site, kind, static_cast<uint8_t>(bytes), x.mask, nullptr,
                                     stores ? x.warp->values : nullptr, &row});
}

// The host address of the first byte of each half-warp's row. Null: the access is not of this kind,
// and it has been neither checked nor reported.
struct HalfWarpHostPointers {
  std::byte* half[2] = {nullptr, nullptr};
  uint64_t stride = 0;
};

template <Where where, AccessKind kind>
HalfWarpHostPointers check_strided_half_warps(const ExecContext& x, const Inst& in,
                                              unsigned bytes) {
  if (x.mask != kFullMask) return {};
  const StridedHalfWarpPair row = strided_addresses_of_warp(x, in.mem_base, in.mem_offset, bytes);
  if (row.stride == StridedHalfWarpPair::kIrregular ||
      (row.stride == 0 && kind == AccessKind::store))
    return {};
  BlockContext& block = x.warp->block();
  const uint64_t beyond_first = (kHalfWarp - 1) * row.stride;
  std::byte* base;
  if constexpr (where == Where::shared) {
    if (!block.shared().is_valid_strided_access(in, row.first[0], row.first[0] + beyond_first,
                                                bytes) ||
        !block.shared().is_valid_strided_access(in, row.first[1], row.first[1] + beyond_first,
                                                bytes))
      return {};
    UndefinedBitsOfMemory& undefined = block.shared().undefined();
    if (block.checks_reads() && !undefined.none()) {
      const size_t span = beyond_first + bytes;
      if (kind == AccessKind::store) {
        undefined.mark_defined(row.first[0], span);
        undefined.mark_defined(row.first[1], span);
      } else if (undefined.any_undefined(row.first[0], span) ||
                 undefined.any_undefined(row.first[1], span)) {
        return {};
      }
    }
    base = block.shared().bytes();
  } else {
    if (block.reports().observes_order()) return {};
    x.warp->address[0] = row.first[0];
    const auto use = kind == AccessKind::store ? AccessUse::write : AccessUse::read;
    base = block.accesses().try_check_global_strided(x.warp->index(), in, row, bytes, use);
    if (base == nullptr) return {};
  }
  const bool raw = where == Where::shared && block.reports().observes_shared_ptx_accesses();
  if (raw && kind == AccessKind::load && !block.reports().observes_accesses())
    block.reports().shared_ptx_access(
        x.warp->index(), {in.site, AccessKind::load, static_cast<uint8_t>(bytes), kFullMask,
                          nullptr, nullptr, &row});
  else if (where != Where::constant && (raw || block.reports().reports_accesses()))
    report_half_warp_strided_access(x, in, where, kind, bytes, row);
  return {{base + row.first[0], base + row.first[1]}, row.stride};
}

// Reads one element for each lane of a half-warp.
template <class Mem, class Reg>
void read_half_warp(const std::byte* from, size_t stride, std::byte* slot) {
  if (stride == 0) {
    Mem value;
    std::memcpy(&value, from, sizeof value);
    for (int l = 0; l < kHalfWarp; ++l) store_lane<Reg>(slot, l, static_cast<Reg>(value));
  } else if (sizeof(Mem) == sizeof(Reg) && stride == sizeof(Reg)) {
    std::memcpy(slot, from, sizeof(Reg) * kHalfWarp);
  } else {
    for (int l = 0; l < kHalfWarp; ++l, from += stride) {
      Mem value;
      std::memcpy(&value, from, sizeof value);
      store_lane<Reg>(slot, l, static_cast<Reg>(value));
    }
  }
}

template <class Mem, class Reg>
void read_both_half_warps(const HalfWarpHostPointers& row, size_t offset, std::byte* slot) {
  read_half_warp<Mem, Reg>(row.half[0] + offset, row.stride, slot);
  read_half_warp<Mem, Reg>(row.half[1] + offset, row.stride, slot + sizeof(Reg) * kHalfWarp);
}

template <class Mem>
void read_both_half_warps(const HalfWarpHostPointers& row, size_t offset, std::byte* slot,
                          uint8_t bytes) {
  if constexpr (std::is_same_v<Mem, Wide>) {
    read_both_half_warps<Wide, Wide>(row, offset, slot);
  } else {
    switch (bytes) {
      case 2:
        return read_both_half_warps<Mem, uint16_t>(row, offset, slot);
      case 4:
        return read_both_half_warps<Mem, uint32_t>(row, offset, slot);
      default:
        return read_both_half_warps<Mem, uint64_t>(row, offset, slot);
    }
  }
}

template <class Mem, Where where>
bool try_strided_load(const ExecContext& x, const Inst& in) {
  const HalfWarpHostPointers row =
      check_strided_half_warps<where, AccessKind::load>(x, in, sizeof(Mem) * in.dst_count);
  if (row.half[0] == nullptr) return false;
  for (uint8_t v = 0; v < in.dst_count; ++v)
    if (in.dst[v].bytes != 0)
      read_both_half_warps<Mem>(row, v * sizeof(Mem), x.regs + in.dst[v].offset, in.dst[v].bytes);
  return true;
}

// Stores the second half-warp last, so that its lanes prevail if both half-warps store to one
// address.
template <class Mem, Where where>
bool try_strided_store(const ExecContext& x, const Inst& in) {
  constexpr unsigned kElement = sizeof(Mem);
  const HalfWarpHostPointers row =
      check_strided_half_warps<where, AccessKind::store>(x, in, kElement * in.src_count);
  if (row.half[0] == nullptr) return false;
  for (int half = 0; half < 2; ++half)
    for (uint8_t v = 0; v < in.src_count; ++v) {
      const RegisterSlot& slot = in.src[v];
      const std::byte* from = x.regs + slot.offset + half * kHalfWarp * slot.bytes;
      std::byte* const to = row.half[half] + v * kElement;
      if (row.stride == kElement && slot.bytes == kElement) {
        std::memcpy(to, from, kElement * kHalfWarp);
      } else {
        for (int l = 0; l < kHalfWarp; ++l)
          std::memcpy(to + static_cast<size_t>(l) * row.stride, from + l * slot.bytes, kElement);
      }
    }
  return true;
}

constexpr bool supports_rows(Where where) {
  return where == Where::shared || where == Where::global || where == Where::constant;
}

// Splits an access by window. This function has one instance for all types, so that its large body
// is compiled only once.
void access_by_window(const ExecContext& x, const Inst& in, uint64_t* address,
                      void (*access_part)(const ExecContext& part, const Inst& in, Where where,
                                          uint64_t* own)) {
  for_each_window(x, address, [&](const ExecContext& part, Where where, uint64_t* own) {
    access_part(part, in, where, own);
  });
}

template <class Mem, Where where>
void load(const ExecContext& x, const Inst& in) {
  if constexpr (supports_rows(where))
    if (try_strided_load<Mem, where>(x, in)) return;
  uint64_t* address = x.warp->address;
  lane_addresses(x, in.mem_base, in.mem_offset, address);
  if constexpr (where == Where::generic) {
    access_by_window(x, in, address, load_from<Mem>);
  } else {
    load_from<Mem>(x, in, where, address);
  }
}

// Executes loads that may see a value that another thread stores at the same time (volatile and
// strong loads).
template <class Mem, Where where>
void load_noting_possible_spin(const ExecContext& x, const Inst& in) {
  x.warp->polling().note_potentially_polling_read();
  load<Mem, where>(x, in);
  if (where == Where::global || where == Where::generic)
    x.warp->polling().note_load(x.warp->address[__builtin_ctz(x.mask)], x.warp->issued());
}

template <class Mem, Where where>
void store(const ExecContext& x, const Inst& in) {
  if constexpr (supports_rows(where))
    if (try_strided_store<Mem, where>(x, in)) return;
  uint64_t* address = x.warp->address;
  lane_addresses(x, in.mem_base, in.mem_offset, address);
  if constexpr (where == Where::generic) {
    access_by_window(x, in, address, store_to<Mem>);
  } else {
    store_to<Mem>(x, in, where, address);
  }
}

template <class Mem>
ExecFn pick_load_in_space(Where where, bool synchronises) {
#define LAB32_SPACE(w) \
  case w:              \
    return synchronises ? load_noting_possible_spin<Mem, w> : load<Mem, w>;
  switch (where) {
    LAB32_SPACE(Where::global)
    LAB32_SPACE(Where::shared)
    LAB32_SPACE(Where::local)
    LAB32_SPACE(Where::constant)
    default:
      return synchronises ? load_noting_possible_spin<Mem, Where::generic>
                          : load<Mem, Where::generic>;
  }
#undef LAB32_SPACE
}

template <class Mem>
ExecFn pick_store_in_space(Where where) {
  switch (where) {
    case Where::global:
      return store<Mem, Where::global>;
    case Where::shared:
      return store<Mem, Where::shared>;
    case Where::local:
      return store<Mem, Where::local>;
    default:
      return store<Mem, Where::generic>;
  }
}

ExecFn pick_any_load(const ptx::Instruction& in, Where where) {
  check_vector_size(in);
  const bool sync = in.has(Modifier::op_volatile) || in.has(Modifier::relaxed) ||
                    in.has(Modifier::acquire) || in.has(Modifier::mmio);
  switch (in.type()) {
    case DataType::s8:
      return pick_load_in_space<int8_t>(where, sync);
    case DataType::s16:
      return pick_load_in_space<int16_t>(where, sync);
    case DataType::s32:
      return pick_load_in_space<int32_t>(where, sync);
    default:
      break;
  }
  switch (ptx::bytes_of(in.type())) {
    case 1:
      return pick_load_in_space<uint8_t>(where, sync);
    case 2:
      return pick_load_in_space<uint16_t>(where, sync);
    case 4:
      return pick_load_in_space<uint32_t>(where, sync);
    case 8:
      return pick_load_in_space<uint64_t>(where, sync);
    default:
      return pick_load_in_space<Wide>(where, sync);
  }
}

}  // namespace

ExecFn pick_ld(const ptx::Instruction& in) { return pick_any_load(in, space_of(in)); }
ExecFn pick_ld_nc(const ptx::Instruction& in) { return pick_any_load(in, Where::global); }
ExecFn pick_ldu(const ptx::Instruction& in) { return pick_any_load(in, space_of(in)); }

ExecFn pick_st(const ptx::Instruction& in) {
  check_vector_size(in);
  const Where where = space_of(in);
  switch (ptx::bytes_of(in.type())) {
    case 1:
      return pick_store_in_space<uint8_t>(where);
    case 2:
      return pick_store_in_space<uint16_t>(where);
    case 4:
      return pick_store_in_space<uint32_t>(where);
    case 8:
      return pick_store_in_space<uint64_t>(where);
    default:
      return pick_store_in_space<Wide>(where);
  }
}

ExecFn pick_ld_param_pointer(const ptx::Instruction& in) {
  return pick_any_load(in, Where::constant);
}

}  // namespace lab32::sim
