// From operands as they stand in the text to what a fetch, or an access of a surface, needs.
#include <algorithm>

#include "simulator/core/isa/texture_op.h"
#include "simulator/core/warp/function_slots.h"
#include "simulator/core/warp/refuse.h"

namespace lab32::sim {

TextureOp texture_op_of(const ptx::Instruction& in, FunctionSlots& slots) {
  using Kind = ptx::Operand::Kind;
  TextureOp op = texture_op_of(in);
  const bool stores = in.op->traits.writes_texels;
  const ptx::Operand& where = in.operands[stores ? 0 : 1];
  op.object = slots.reg(where.reg);
  size_t next = 0;
  const auto coordinate = [&](ptx::Type type) {
    return slots.value(where.elements[next++], 4, type, in);
  };
  if (op.layered) op.layer = coordinate(ptx::Type::u32);
  for (size_t i = 0; i < op.dimensions; ++i)
    op.coordinate[i] = coordinate(op.by_index ? ptx::Type::s32 : ptx::Type::f32);
  if (op.kind == TextureOp::Kind::level)
    op.level = slots.value(in.operands[2], 4, ptx::Type::f32, in);
  if (op.kind == TextureOp::Kind::gradient)
    for (size_t along = 0; along < 2; ++along) {
      const auto& given = in.operands[2 + along].elements;
      if (given.size() < op.dimensions) refuse(in, "a derivative of each coordinate is missing");
      for (size_t i = 0; i < op.dimensions; ++i)
        op.derivative[along][i] = slots.value(given[i], 4, ptx::Type::f32, in);
    }
  const ptx::Operand& given = in.operands[stores ? 1 : 0];
  const ptx::Operand& values = given.kind == Kind::pair ? given.elements[0] : given;
  if (given.kind == Kind::pair && given.elements[1].kind == Kind::reg)
    op.resident = slots.reg(given.elements[1].reg);
  for (size_t i = 0; i < op.values; ++i)
    op.value[i] = slots.value(values.kind == Kind::vector ? values.elements[i] : values,
                              std::max<uint8_t>(2, op.element_bytes), in.type(), in);
  return op;
}

}  // namespace lab32::sim
