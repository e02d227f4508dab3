#include "simulator/core/isa/texture_op.h"

#include "simulator/core/warp/refuse.h"

namespace lab32::sim {
namespace {

using ptx::Mod;

void set_shape(const ptx::Instruction& in, TextureOp& op) {
  const struct {
    Mod word;
    uint8_t dimensions;
    bool layered, cube;
  } kShapes[] = {{Mod::d1, 1, false, false}, {Mod::d2, 2, false, false},
                 {Mod::d3, 3, false, false}, {Mod::a1d, 1, true, false},
                 {Mod::a2d, 2, true, false}, {Mod::cube, 3, false, true},
                 {Mod::acube, 3, true, true}};
  for (const auto& shape : kShapes)
    if (in.has(shape.word)) {
      op.dimensions = shape.dimensions;
      op.layered = shape.layered;
      op.cube = shape.cube;
    }
}

}  // namespace

TextureOp texture_op_of(const ptx::Instruction& in) {
  TextureOp op;
  set_shape(in, op);
  switch (in.op->id) {
    case ptx::OpId::tex_level:
      op.kind = TextureOp::Kind::level;
      break;
    case ptx::OpId::tex_grad:
      op.kind = TextureOp::Kind::gradient;
      break;
    case ptx::OpId::tld4:
      op.kind = TextureOp::Kind::gather;
      op.component = in.has(Mod::g) ? 1 : in.has(Mod::b) ? 2 : in.has(Mod::a) ? 3 : 0;
      break;
    case ptx::OpId::suld:
      op.kind = TextureOp::Kind::load;
      break;
    case ptx::OpId::sust:
      op.kind = TextureOp::Kind::store;
      break;
    case ptx::OpId::sured:
      op.kind = TextureOp::Kind::reduce;
      op.reduction = reduction_of(in, in.type());
      if (!op.reduction || (in.has(Mod::add) && in.type() == ptx::Type::s64)) refuse(in);
      break;
    default:
      op.kind = TextureOp::Kind::fetch;
      break;
  }
  if (op.of_surface()) {
    op.by_index = true;
    op.outside = in.has(Mod::zero)    ? TextureOp::Outside::zero
                 : in.has(Mod::clamp) ? TextureOp::Outside::clamp
                                      : TextureOp::Outside::trap;
    op.element_bytes = static_cast<uint8_t>(ptx::bytes_of(in.type()));
    op.values = in.has(Mod::v4) ? 4 : in.has(Mod::v2) ? 2 : 1;
    if (op.element_bytes * op.values > 16) refuse(in, "a vector of more than 16 bytes");
    return op;
  }
  op.by_index = in.type(1) == ptx::Type::s32;
  if (op.by_index && (op.kind != TextureOp::Kind::fetch || op.dimensions != 1 || op.layered))
    refuse(in, "integer coordinates in other forms than tex1Dfetch's are not simulated");
  if (op.kind == TextureOp::Kind::gradient && op.cube)
    refuse(in, "derivatives on a cube map are not simulated");
  return op;
}

std::vector<Slot> sources_of(const TextureOp& op) {
  std::vector<Slot> slots = {op.object, op.layer, op.level};
  slots.insert(slots.end(), op.coordinate.begin(), op.coordinate.end());
  for (const auto& along : op.derivative) slots.insert(slots.end(), along.begin(), along.end());
  return slots;
}

}  // namespace lab32::sim
