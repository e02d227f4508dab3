// suld, sust and sured: accesses to elements of an array by byte offset along x, row and slice.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "simulator/core/isa/texel_access.h"

namespace lab32::sim {
namespace {

struct SurfaceCoordinates {
  int32_t x = 0, y = 0, z = 0;  // bytes, rows, planes
  uint32_t layer = 0;
};

SurfaceCoordinates surface_coordinates_of(const ExecContext& x, const TextureOrSurfaceOp& op,
                                          int lane) {
  const auto word = [&](const RegisterSlot& slot) {
    return slot.bytes == 0 ? 0 : load_lane<uint32_t>(x.regs + slot.offset, lane);
  };
  return {static_cast<int32_t>(word(op.coordinate[0])),
          static_cast<int32_t>(word(op.coordinate[1])),
          static_cast<int32_t>(word(op.coordinate[2])), word(op.layer)};
}

std::string surface_mismatch(const TextureOrSurfaceOp& op, const TextureObject& t) {
  if (!t.surface) return "is a texture object";
  const bool slices = t.array.layered || t.array.cube;  // a face is a layer here
  if (op.layered != slices) return slices ? "has layers or faces" : "has no layers";
  if (op.dimensions != t.array.dimensions)
    return fmt::format("has {} dimension{}", t.array.dimensions,
                       t.array.dimensions == 1 ? "" : "s");
  // A row is too short for the access, so there is no valid position to which it could be clamped.
  // An element that begins before the row would belong to another array.
  if (op.outside == TextureOrSurfaceOp::Outside::clamp &&
      op.element_bytes * op.values > t.array.levels[0].width * t.array.format.bytes())
    return "has rows that are shorter than the access, and the clamped position is not known";
  return {};
}

// The lanes whose elements are in the array. The elements of other lanes are clamped or dropped.
uint32_t lanes_inside_surface(const ExecContext& x, const Inst& in, const TextureOrSurfaceOp& op,
                              const TextureObject& t, uint64_t* address) {
  const MipmapLevel& grid = t.array.levels[0];
  const int32_t texel = static_cast<int32_t>(t.array.format.bytes());
  const int32_t bytes = op.element_bytes * op.values;
  const int32_t row = static_cast<int32_t>(grid.width) * texel;
  const auto height = static_cast<int32_t>(grid.height);
  const auto slices = static_cast<int32_t>(grid.slices);
  const bool planes = t.array.dimensions == 3;
  uint32_t there = 0, wrong = 0;
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    SurfaceCoordinates e = surface_coordinates_of(x, op, l);
    const bool in_layers = !op.layered || e.layer < grid.slices;
    bool in_row = e.x >= 0 && e.x <= row - bytes;
    const bool inside =
        in_row && e.y >= 0 && e.y < height && (!planes || (e.z >= 0 && e.z < slices)) && in_layers;
    if (!inside && op.outside == TextureOrSurfaceOp::Outside::trap) wrong |= 1u << l;
    if (!inside && op.outside != TextureOrSurfaceOp::Outside::clamp) continue;
    if (!inside) {
      if (e.x < 0) e.x = 0;
      if (e.x > row - bytes) e.x = row - bytes;
      e.y = std::clamp(e.y, 0, height - 1);
      e.z = planes ? std::clamp(e.z, 0, slices - 1) : 0;
      e.layer = std::min(e.layer, grid.slices - 1);
    }
    const uint64_t slice = op.layered ? e.layer : static_cast<uint64_t>(e.z);
    address[l] = grid.begin + slice * grid.slice_bytes + static_cast<uint64_t>(e.y) * grid.pitch +
                 static_cast<uint64_t>(e.x);
    there |= 1u << l;
  }
  if (wrong != 0) {
    BlockContext& block = x.warp->block();
    const auto use = op.kind == TextureOrSurfaceOp::Kind::load    ? AccessUse::read
                     : op.kind == TextureOrSurfaceOp::Kind::store ? AccessUse::write
                                                                  : AccessUse::update;
    block.faults().trap_or_report(in.site, wrong, FaultEvent::Kind::memory, [&](int l) {
      const SurfaceCoordinates e = surface_coordinates_of(x, op, l);
      TrapFacts facts = block.faults().facts_of_access(x.warp->index(), l, AccessSpace::global, use,
                                                       static_cast<unsigned>(bytes));
      facts.reason = TrapReason::outside_surface;
      const std::string slice = op.layered
                                    ? fmt::format(", layer {}", static_cast<int32_t>(e.layer))
                                : planes ? fmt::format(", z = {}", e.z)
                                         : "";
      facts.name = fmt::format("x = {} bytes{}{}", e.x,
                               op.dimensions > 1 ? fmt::format(", y = {}", e.y) : "", slice);
      facts.cause = fmt::format("{} bytes{}{}", row,
                                op.dimensions > 1 ? fmt::format(" by {} rows", height) : "",
                                grid.slices > 1 ? fmt::format(" by {} slices", slices) : "");
      return facts;
    });
  }
  return there;
}

// Lanes outside the surface are reported without an element.
void report_surface_elements(const ExecContext& x, const Inst& in, const TextureOrSurfaceOp& op,
                             const TextureObject* object, uint32_t there, const uint64_t* address) {
  if (!x.warp->block().reports().reports_accesses()) return;
  uint64_t places[kWarpSize * WarpTexelAccess::kMostTexels];
  uint8_t count[kWarpSize] = {};
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    places[static_cast<unsigned>(l) * WarpTexelAccess::kMostTexels] =
        (there >> l & 1) != 0 ? address[l] : 0;
    count[l] = 1;
  }
  const auto kind = op.kind == TextureOrSurfaceOp::Kind::load    ? WarpTexelAccess::Kind::load
                    : op.kind == TextureOrSurfaceOp::Kind::store ? WarpTexelAccess::Kind::store
                                                                 : WarpTexelAccess::Kind::reduce;
  x.warp->block().reports().texel_access(
      x.warp->index(), {in.site, kind, false, static_cast<uint8_t>(op.element_bytes * op.values),
                        x.mask, object, places, count});
}

void load_from_surface(const ExecContext& x, const Inst& in, const TextureOrSurfaceOp& op,
                       const TextureObject& t, bool of_all) {
  alignas(64) uint64_t address[kWarpSize];
  const uint32_t there = lanes_inside_surface(x, in, op, t, address);
  report_surface_elements(x, in, op, of_all ? &t : nullptr, there, address);
  const unsigned bytes = op.element_bytes * op.values;
  alignas(64) std::byte texels[kWarpSize * 16] = {};
  const ExecContext lanes{x.regs, there, x.warp};
  CheckedTexelReader reads(lanes, in, bytes);
  if (there != 0) reads.read(address, there, texels, 16);
  for (unsigned v = 0; v < op.values; ++v) {
    const RegisterSlot& to = op.value[v];
    if (to.bytes == 0) continue;
    for (uint32_t r = x.mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      uint64_t value = 0;
      std::memcpy(&value, texels + l * 16 + v * op.element_bytes, op.element_bytes);
      std::memcpy(x.regs + to.offset + l * to.bytes, &value, to.bytes);
    }
  }
  reads.mark_undefined_results(op);
}

void store_to_surface(const ExecContext& x, const Inst& in, const TextureOrSurfaceOp& op,
                      const TextureObject& t, bool of_all) {
  alignas(64) uint64_t address[kWarpSize];
  const uint32_t there = lanes_inside_surface(x, in, op, t, address);
  report_surface_elements(x, in, op, of_all ? &t : nullptr, there, address);
  if (there == 0) return;
  Warp& w = *x.warp;
  BlockContext& block = w.block();
  const unsigned bytes = op.element_bytes * op.values;
  for (unsigned v = 0; v < op.values; ++v)
    for (uint32_t r = there; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      std::memcpy(w.values + l * 16 + v * op.element_bytes,
                  x.regs + op.value[v].offset + l * op.value[v].bytes, op.element_bytes);
    }
  std::byte* const base =
      block.accesses().check_global(w.index(), in, address, there, bytes, AccessUse::write);
  if (block.reports().observes_order())
    block.reports().strong_or_suspect_access(w.index(), in, AccessKind::store, bytes, there,
                                             address, w.values);
  for (uint32_t r = there; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    std::memcpy(base + address[l], w.values + l * 16, bytes);
  }
  block.reports().note_stored(w.index(), there);
}

// Serves the lanes in order.
void reduce_on_surface(const ExecContext& x, const Inst& in, const TextureOrSurfaceOp& op,
                       const TextureObject& t, bool of_all) {
  alignas(64) uint64_t address[kWarpSize];
  const uint32_t there = lanes_inside_surface(x, in, op, t, address);
  report_surface_elements(x, in, op, of_all ? &t : nullptr, there, address);
  if (there == 0) return;
  BlockContext& block = x.warp->block();
  const unsigned bytes = op.reduction.bytes;
  std::byte* const base =
      block.accesses().check_global(x.warp->index(), in, address, there, bytes, AccessUse::update);
  if (block.reports().observes_order())
    block.reports().strong_or_suspect_access(x.warp->index(), in, AccessKind::red, bytes, there,
                                             address, nullptr);
  for (uint32_t r = there; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    op.reduction.apply(base + address[l],
                       x.regs + op.value[0].offset + static_cast<unsigned>(l) * bytes);
  }
  block.reports().note_stored(x.warp->index(), there);
}

template <void (*access)(const ExecContext&, const Inst&, const TextureOrSurfaceOp&,
                         const TextureObject&, bool)>
void access_surface(const ExecContext& x, const Inst& in) {
  const TextureOrSurfaceOp& op = texture_op(x, in);
  for_each_texture_object(x, in, op, [&](const ExecContext& lanes, const TextureObject& t) {
    if (const std::string why = surface_mismatch(op, t); !why.empty())
      throw_texture_object_trap(lanes, in, op, why);
    access(lanes, in, op, t, lanes.mask == x.mask);
  });
}

}  // namespace

ExecFn pick_suld(const ptx::Instruction& in) {
  texture_or_surface_op_of(in);  // throws if the form is not supported
  return access_surface<load_from_surface>;
}
ExecFn pick_sust(const ptx::Instruction& in) {
  texture_or_surface_op_of(in);
  return access_surface<store_to_surface>;
}
ExecFn pick_sured(const ptx::Instruction& in) {
  texture_or_surface_op_of(in);
  return access_surface<reduce_on_surface>;
}

}  // namespace lab32::sim
