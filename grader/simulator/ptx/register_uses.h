// The registers that one PTX instruction reads and writes.
#pragma once

#include <cstddef>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

namespace detail {
template <class Visit>
void visit_registers_of_operand(const Operand& op, bool is_destination, Visit& visit) {
  if (op.kind == Operand::Kind::address) is_destination = false;  // the base is read
  if (op.reg >= 0) visit(op.reg, is_destination);
  for (const Operand& element : op.elements)
    visit_registers_of_operand(element, is_destination, visit);
}
}  // namespace detail

// Calls visit(register, is_destination) for each register that the instruction names: its guard,
// sources, addresses and destinations, including those of vectors and calls. Sources come first.
template <class Visit>
void for_each_register(const Function& function, const Instruction& in, Visit visit) {
  if (in.guard >= 0) visit(in.guard, false);
  const CallInfo* call = in.call >= 0 ? &function.calls[static_cast<size_t>(in.call)] : nullptr;
  if (call != nullptr) {
    detail::visit_registers_of_operand(call->target, false, visit);
    for (const Operand& op : call->args) detail::visit_registers_of_operand(op, false, visit);
    for (const Operand& op : call->returns) detail::visit_registers_of_operand(op, true, visit);
    return;
  }
  for (const bool destinations : {false, true}) {
    for (size_t i = 0; i < in.operands.size(); ++i) {
      if (in.op->operands[i].is_dest != destinations) continue;
      detail::visit_registers_of_operand(in.operands[i], destinations, visit);
    }
  }
}

}  // namespace lab32::ptx
