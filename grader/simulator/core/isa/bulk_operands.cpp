// From operands as they stand in the text to what the copy engine, or st.async, needs.
#include <algorithm>

#include "simulator/core/isa/bulk_op.h"
#include "simulator/core/warp/function_slots.h"
#include "simulator/core/warp/refuse.h"

namespace lab32::sim {
namespace {

using ptx::Mod;

// What the row has room for, but the PTX ISA (9.0) has not for all operations.
void check_reduction(const ptx::Instruction& in, const BulkOp& op) {
  const bool add = in.has(Mod::add), of_64 = op.reduction.bytes == 8;
  if (!op.reduction) refuse(in);
  if (in.op->id == ptx::OpId::red_async && of_64 && !add) refuse(in);
  if (in.op->id == ptx::OpId::bulk_reduce_to_block && of_64 && !add) refuse(in);
  if (in.op->id == ptx::OpId::bulk_reduce) {
    if (in.type() == ptx::Type::s64 && add) refuse(in);
    const bool half = in.type() == ptx::Type::f16 || in.type() == ptx::Type::bf16;
    if (in.has(Mod::noftz) != (half && add)) refuse(in);
  }
}

}  // namespace

BulkOp bulk_op_of(const ptx::Instruction& in, FunctionSlots& slots) {
  BulkOp op;
  const bool sends = in.op->id == ptx::OpId::st_async || in.op->id == ptx::OpId::red_async;
  BulkOp::Address* const copied[] = {&op.to, &op.from, &op.barrier};
  BulkOp::Address* const sent[] = {&op.to, &op.barrier};
  size_t next = 0;
  for (size_t i = 0; i < in.operands.size(); ++i) {
    const ptx::Operand& operand = in.operands[i];
    const std::string& kind = in.op->operands[i].name;
    if (operand.kind == ptx::Operand::Kind::address) {
      BulkOp::Address& address = *(sends ? sent : copied)[next++];
      slots.address(operand, in, address.base, address.offset);
      op.dimensions = std::max(op.dimensions, static_cast<uint8_t>(operand.elements.size()));
      for (size_t e = 0; e < operand.elements.size(); ++e)
        op.coordinate[e] = slots.value(operand.elements[e], 4, ptx::Type::s32, in);
    } else if (kind == "u32") {
      op.bytes = slots.value(operand, 4, ptx::Type::u32, in);
    } else if (kind == "b16") {
      op.blocks = slots.value(operand, 2, ptx::Type::b16, in);
    } else if (kind == "vec" || kind == "T") {
      const auto bytes = static_cast<uint8_t>(ptx::bytes_of(in.type()));
      const auto add = [&](const ptx::Operand& v) {
        op.value[op.values++] = slots.value(v, bytes, in.type(), in);
      };
      if (operand.kind == ptx::Operand::Kind::vector)
        std::for_each(operand.elements.begin(), operand.elements.end(), add);
      else
        add(operand);
      if (bytes * op.values > 16) refuse(in, "a vector of more than 16 bytes");
    }
  }
  op.generic = sends && !in.has(Mod::shared_cluster);
  const bool by_map = in.has(Mod::tensor);
  if ((in.has(Mod::reduce) && !by_map) || in.op->id == ptx::OpId::red_async) {
    op.reduction = reduction_of(in, in.type());
    check_reduction(in, op);
  }
  return op;
}

std::vector<Slot> sources_of(const BulkOp& op) {
  std::vector<Slot> slots = {op.to.base, op.from.base, op.barrier.base, op.bytes, op.blocks};
  slots.insert(slots.end(), op.coordinate.begin(), op.coordinate.end());
  return slots;
}

}  // namespace lab32::sim
