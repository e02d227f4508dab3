// Decodes instructions on textures and surfaces, looks up their objects, answers queries of sizes
// (txq, suq), and reads texels.
#include <algorithm>
#include <cstring>

#include "simulator/core/isa/memory_lanes.h"
#include "simulator/core/isa/texel_access.h"
#include "simulator/core/warp/function_slots.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

namespace {

using ptx::Modifier;

void set_texture_shape(const ptx::Instruction& in, TextureOrSurfaceOp& op) {
  const struct {
    Modifier word;
    uint8_t dimensions;
    bool layered, cube;
  } kShapes[] = {{Modifier::d1, 1, false, false}, {Modifier::d2, 2, false, false},
                 {Modifier::d3, 3, false, false}, {Modifier::a1d, 1, true, false},
                 {Modifier::a2d, 2, true, false}, {Modifier::cube, 3, false, true},
                 {Modifier::acube, 3, true, true}};
  for (const auto& shape : kShapes)
    if (in.has(shape.word)) {
      op.dimensions = shape.dimensions;
      op.layered = shape.layered;
      op.cube = shape.cube;
    }
}

}  // namespace

TextureOrSurfaceOp texture_or_surface_op_of(const ptx::Instruction& in) {
  TextureOrSurfaceOp op;
  set_texture_shape(in, op);
  switch (in.op->id) {
    case ptx::OpId::tex_level:
      op.kind = TextureOrSurfaceOp::Kind::level;
      break;
    case ptx::OpId::tex_grad:
      op.kind = TextureOrSurfaceOp::Kind::gradient;
      break;
    case ptx::OpId::tld4:
      op.kind = TextureOrSurfaceOp::Kind::gather;
      op.component = in.has(Modifier::g)   ? 1
                     : in.has(Modifier::b) ? 2
                     : in.has(Modifier::a) ? 3
                                           : 0;
      break;
    case ptx::OpId::suld:
      op.kind = TextureOrSurfaceOp::Kind::load;
      break;
    case ptx::OpId::sust:
      op.kind = TextureOrSurfaceOp::Kind::store;
      break;
    case ptx::OpId::sured:
      op.kind = TextureOrSurfaceOp::Kind::reduce;
      op.reduction = reduction_of(in, in.type());
      if (!op.reduction || (in.has(Modifier::add) && in.type() == ptx::DataType::s64)) refuse(in);
      break;
    default:
      op.kind = TextureOrSurfaceOp::Kind::fetch;
      break;
  }
  if (op.is_of_surface()) {
    op.by_index = true;
    op.outside = in.has(Modifier::zero)    ? TextureOrSurfaceOp::Outside::zero
                 : in.has(Modifier::clamp) ? TextureOrSurfaceOp::Outside::clamp
                                           : TextureOrSurfaceOp::Outside::trap;
    op.element_bytes = static_cast<uint8_t>(ptx::bytes_of(in.type()));
    op.values = in.has(Modifier::v4) ? 4 : in.has(Modifier::v2) ? 2 : 1;
    if (op.element_bytes * op.values > 16) refuse(in, "a vector of more than 16 bytes");
    return op;
  }
  op.by_index = in.type(1) == ptx::DataType::s32;
  if (op.by_index &&
      (op.kind != TextureOrSurfaceOp::Kind::fetch || op.dimensions != 1 || op.layered))
    refuse(in, "integer coordinates in other forms than tex1Dfetch's are not simulated");
  if (op.kind == TextureOrSurfaceOp::Kind::gradient && op.cube)
    refuse(in, "derivatives on a cube map are not simulated");
  return op;
}

std::vector<RegisterSlot> sources_of(const TextureOrSurfaceOp& op) {
  std::vector<RegisterSlot> slots = {op.object, op.layer, op.level};
  slots.insert(slots.end(), op.coordinate.begin(), op.coordinate.end());
  for (const auto& along : op.derivative) slots.insert(slots.end(), along.begin(), along.end());
  return slots;
}

// ---------------------------------------------------------------------------------------------

TextureOrSurfaceOp texture_or_surface_op_of(const ptx::Instruction& in, RegisterFileLayout& slots) {
  using Kind = ptx::Operand::Kind;
  TextureOrSurfaceOp op = texture_or_surface_op_of(in);
  const bool stores = in.op->traits.writes_texels;
  const ptx::Operand& where = in.operands[stores ? 0 : 1];
  op.object = slots.reg(where.reg);
  size_t next = 0;
  const auto coordinate = [&](ptx::DataType type) {
    return slots.value_slot(where.elements[next++], 4, type, in);
  };
  if (op.layered) op.layer = coordinate(ptx::DataType::u32);
  for (size_t i = 0; i < op.dimensions; ++i)
    op.coordinate[i] = coordinate(op.by_index ? ptx::DataType::s32 : ptx::DataType::f32);
  if (op.kind == TextureOrSurfaceOp::Kind::level)
    op.level = slots.value_slot(in.operands[2], 4, ptx::DataType::f32, in);
  if (op.kind == TextureOrSurfaceOp::Kind::gradient)
    for (size_t along = 0; along < 2; ++along) {
      const auto& given = in.operands[2 + along].elements;
      if (given.size() < op.dimensions) refuse(in, "a derivative of each coordinate is missing");
      for (size_t i = 0; i < op.dimensions; ++i)
        op.derivative[along][i] = slots.value_slot(given[i], 4, ptx::DataType::f32, in);
    }
  const ptx::Operand& given = in.operands[stores ? 1 : 0];
  const ptx::Operand& values = given.kind == Kind::pair ? given.elements[0] : given;
  if (given.kind == Kind::pair && given.elements[1].kind == Kind::reg)
    op.resident = slots.reg(given.elements[1].reg);
  for (size_t i = 0; i < op.values; ++i)
    op.value[i] = slots.value_slot(values.kind == Kind::vector ? values.elements[i] : values,
                                   std::max<uint8_t>(2, op.element_bytes), in.type(), in);
  return op;
}

// ---------------------------------------------------------------------------------------------
// txq and suq: the size of an object's array. For other queries (channels, layers, the sampler)
// ptxas reads a table that the driver keeps for texture and surface references, which CUDA has
// removed. Its contents for objects are unknown.

namespace {

using ptx::Modifier;

void check_texture_query(const ptx::Instruction& in) {
  if (!in.has(Modifier::width) && !in.has(Modifier::height) && !in.has(Modifier::depth))
    refuse(in,
           "the result for texture objects is not known, because ptxas reads it from a table of "
           "texture references");
}

std::string texture_query_mismatch(const Inst& in, const TextureObject& t, bool of_surface) {
  if (t.surface != of_surface) return t.surface ? "is a surface object" : "is a texture object";
  const unsigned needed = in.ptx->has(Modifier::depth) ? 3 : in.ptx->has(Modifier::height) ? 2 : 1;
  const unsigned has = t.array.cube ? 2 : t.array.dimensions;
  if (has < needed)
    return fmt::format("has {} dimension{}, and the result of a GPU for more is not known", has,
                       has == 1 ? "" : "s");
  return {};
}

uint32_t queried_size(const Inst& in, const MipmapLevel& grid) {
  if (in.ptx->has(Modifier::width)) return grid.width;
  return in.ptx->has(Modifier::height) ? grid.height : grid.slices;
}

template <bool of_surface>
void query_texture_or_surface(const ExecContext& x, const Inst& in) {
  TextureOrSurfaceOp op;
  op.kind = of_surface ? TextureOrSurfaceOp::Kind::load : TextureOrSurfaceOp::Kind::fetch;
  op.object = in.mem_base;
  for_each_texture_object(x, in, op, [&](const ExecContext& lanes, const TextureObject& t) {
    if (const std::string why = texture_query_mismatch(in, t, of_surface); !why.empty())
      throw_texture_object_trap(lanes, in, op, why);
    for (uint32_t r = lanes.mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      const uint32_t level =
          in.src_count > 0 ? load_lane<uint32_t>(x.regs + in.src[0].offset, l) : 0;
      if (level >= t.array.levels.size())
        throw_texture_object_trap({x.regs, 1u << l, x.warp}, in, op,
                                  fmt::format("has no level {}", level));
      store_lane<uint32_t>(x.regs + in.dst[0].offset, l, queried_size(in, t.array.levels[level]));
    }
  });
}

}  // namespace

ExecFn pick_txq(const ptx::Instruction& in) {
  check_texture_query(in);
  return query_texture_or_surface<false>;
}
ExecFn pick_txq_level(const ptx::Instruction&) { return query_texture_or_surface<false>; }
ExecFn pick_suq(const ptx::Instruction& in) {
  check_texture_query(in);
  return query_texture_or_surface<true>;
}

// ---------------------------------------------------------------------------------------------

void throw_texture_object_trap(const ExecContext& x, const Inst& in, const TextureOrSurfaceOp& op,
                               const std::string& why) {
  const int lane = __builtin_ctz(x.mask);
  TrapFacts facts =
      x.warp->block().faults().facts(TrapReason::texture_object, x.warp->index(), lane);
  facts.name = op.is_of_surface() ? "surface" : "texture";
  facts.value = load_lane<uint64_t>(x.regs + op.object.offset, lane);
  facts.cause = why;
  throw Trap{std::move(facts), in.site};
}

const TextureObject& find_texture_object(const ExecContext& x, const Inst& in,
                                         const TextureOrSurfaceOp& op, uint64_t number) {
  const Memory& memory = *x.warp->block().launch().memory;
  const TextureObject* const object = memory.textures().find(number);
  if (object == nullptr) throw_texture_object_trap(x, in, op, "was never made");
  if (object->destroyed) throw_texture_object_trap(x, in, op, "was destroyed");
  if (object->device != memory.device())
    throw_texture_object_trap(x, in, op, "was made for another device");
  return *object;
}

void CheckedTexelReader::read(uint64_t* address, uint32_t lanes, std::byte* to, size_t stride) {
  Warp& w = *x_.warp;
  BlockContext& block = w.block();
  const std::byte* const base =
      block.accesses().check_global(w.index(), in_, address, lanes, bytes_, AccessUse::read);
  UndefinedBitsOfWarpRead read;
  if (block.checks_reads() &&
      w.find_undefined_bytes(AccessSpace::global, address, lanes, bytes_, &read)) {
    const FrameUndefinedBits::OfLanes found = w.origins_of_undefined_read(in_, read, bytes_);
    for (uint32_t r = read.lanes & ~undefined_; r; r &= r - 1) {
      const auto l = static_cast<size_t>(__builtin_ctz(r));
      origins_[l] = found[l];
    }
    undefined_ |= read.lanes;
  }
  if (block.reports().observes_order())
    block.reports().strong_or_suspect_access(w.index(), in_, AccessKind::load, bytes_, lanes,
                                             address, nullptr);
  for (uint32_t r = lanes; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    std::memcpy(to + static_cast<size_t>(l) * stride, base + address[l], bytes_);
  }
}

void CheckedTexelReader::mark_undefined_results(const TextureOrSurfaceOp& op) {
  if (undefined_ == 0) return;
  const ExecContext to =
      x_.warp->value_tracker().shadow_context_of_undefined_load(x_, in_, undefined_, origins_);
  for (const RegisterSlot& slot : op.value) {
    if (slot.bytes == 0) continue;
    for (uint32_t r = undefined_; r; r &= r - 1)
      std::memset(to.regs + slot.offset + __builtin_ctz(r) * slot.bytes, 0xff, slot.bytes);
  }
}

}  // namespace lab32::sim
