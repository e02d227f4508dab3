#include "simulator/ptx/pointer_origin.h"

#include <algorithm>
#include <utility>

#include "simulator/ptx/register_uses.h"

namespace lab32::ptx {
namespace {

class Trace {
 public:
  explicit Trace(const Function& function)
      : function_(function),
        offsets_(parameter_offsets(function.params, nullptr)),
        definitions_(function.registers.size()),
        seen_(function.registers.size(), false) {
    for (const Instruction& in : function.body)
      for_each_register(function, in, [&](int reg, bool is_destination) {
        if (is_destination) definitions_[static_cast<size_t>(reg)].push_back(&in);
      });
  }

  // Collects the parameters of a register, and returns whether all its values come from one.
  bool add_register(int reg) {
    const auto r = static_cast<size_t>(reg);
    if (seen_[r]) return true;  // the pointer of an earlier iteration
    seen_[r] = true;
    return !definitions_[r].empty() &&
           std::all_of(definitions_[r].begin(), definitions_[r].end(),
                       [&](const Instruction* in) { return add_result(*in, reg); });
  }

  std::vector<uint32_t> take() { return std::move(found_); }

 private:
  bool add(const Operand& op) { return op.kind == Operand::Kind::reg && add_register(op.reg); }

  bool add_result(const Instruction& in, int reg) {
    switch (in.op->id) {
      case OpId::mov:
      case OpId::cvta:
      case OpId::cvta_to:
      case OpId::sub_int:
        return add(in.operands[1]);
      case OpId::add_int: {
        // One of the two is the pointer, and the other an index.
        const bool first = add(in.operands[1]), second = add(in.operands[2]);
        return first || second;
      }
      case OpId::mad_lo:
      case OpId::mad_wide:
        return add(in.operands[3]);
      case OpId::selp:
        return add(in.operands[1]) && add(in.operands[2]);
      case OpId::ld_param:
        return function_.is_entry && add_parameter(in, reg);
      default:
        return false;
    }
  }

  // A load of several parameters has a register for each.
  bool add_parameter(const Instruction& load, int reg) {
    const Operand& address = load.operands[1];
    const auto& results = load.operands[0].elements;
    const auto element = std::find_if(results.begin(), results.end(),
                                      [&](const Operand& op) { return op.reg == reg; });
    const auto before = static_cast<uint32_t>(element - results.begin()) * element_bytes(load);
    for (size_t i = 0; i < function_.params.size(); ++i) {
      if (function_.params[i].name != address.name) continue;
      const uint32_t offset = offsets_[i] + static_cast<uint32_t>(address.value) + before;
      if (std::find(found_.begin(), found_.end(), offset) == found_.end()) found_.push_back(offset);
      return true;
    }
    return false;
  }

  const Function& function_;
  const std::vector<uint32_t> offsets_;
  std::vector<std::vector<const Instruction*>> definitions_;  // by register
  std::vector<bool> seen_;                                    // by register
  std::vector<uint32_t> found_;
};

// The address in device memory. An asynchronous copy has one in shared memory as well.
const Operand* address_of(const Instruction& in) {
  size_t use = 0;
  for (const Operand& op : in.operands) {
    if (op.kind != Operand::Kind::address) continue;
    if (use < in.op->traits.memory_count && memory_space(in, use) != Space::shared) return &op;
    ++use;
  }
  return nullptr;
}

}  // namespace

std::vector<uint32_t> pointer_parameters(const Function& function, const Instruction& in) {
  const Operand* address = address_of(in);
  if (!address || address->reg < 0) return {};
  Trace trace(function);
  return trace.add_register(address->reg) ? trace.take() : std::vector<uint32_t>{};
}

}  // namespace lab32::ptx
