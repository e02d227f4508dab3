#include "simulator/ptx/pointer_origin.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "simulator/ptx/register_uses.h"

namespace lab32::ptx {
namespace {

class ParameterTrace {
 public:
  explicit ParameterTrace(const Function& function)
      : function_(function),
        offsets_(parameter_offsets(function.params, nullptr)),
        definitions_(function.registers.size()),
        seen_(function.registers.size(), false) {
    for (const Instruction& in : function.body)
      for_each_register(function, in, [&](int reg, bool is_destination) {
        if (is_destination) definitions_[static_cast<size_t>(reg)].push_back(&in);
      });
  }

  // Adds the parameters from which a register's value is computed. Returns false if a part of the
  // value comes from elsewhere.
  bool trace_register(int reg) {
    const auto r = static_cast<size_t>(reg);
    if (seen_[r]) return true;  // the pointer of an earlier iteration
    seen_[r] = true;
    return !definitions_[r].empty() &&
           std::all_of(definitions_[r].begin(), definitions_[r].end(),
                       [&](const Instruction* in) { return trace_result(*in, reg); });
  }

  std::vector<uint32_t> take() { return std::move(found_); }

 private:
  bool add(const Operand& op) { return op.kind == Operand::Kind::reg && trace_register(op.reg); }

  bool trace_result(const Instruction& in, int reg) {
    switch (in.op->id) {
      case OpId::mov:
      case OpId::cvta:
      case OpId::cvta_to:
      case OpId::sub_int:
        return add(in.operands[1]);
      case OpId::add_int: {
        // One operand is the pointer, and the other an index.
        const bool first = add(in.operands[1]), second = add(in.operands[2]);
        return first || second;
      }
      case OpId::mad_lo:
      case OpId::mad_wide:
        return add(in.operands[3]);
      case OpId::selp:
        return add(in.operands[1]) && add(in.operands[2]);
      case OpId::ld_param:
        return function_.is_entry && record_loaded_parameter_offset(in, reg);
      default:
        return false;
    }
  }

  // A vector load of several parameters has a register for each of them.
  bool record_loaded_parameter_offset(const Instruction& load, int reg) {
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

// The operand that is an address in device memory. (An asynchronous copy also has one in shared
// memory.)
const Operand* device_address_operand(const Instruction& in) {
  size_t use = 0;
  for (const Operand& op : in.operands) {
    if (op.kind != Operand::Kind::address) continue;
    if (use < in.op->traits.memory_count && memory_space(in, use) != Space::shared) return &op;
    ++use;
  }
  return nullptr;
}

}  // namespace

std::vector<uint32_t> address_origin_param_offsets(const Function& function,
                                                   const Instruction& in) {
  const Operand* address = device_address_operand(in);
  if (!address || address->reg < 0) return {};
  ParameterTrace trace(function);
  return trace.trace_register(address->reg) ? trace.take() : std::vector<uint32_t>{};
}

// ---------------------------------------------------------------------------------------------

namespace {

// The variable to which the value of a register points, by its number.
using Origin = int;
constexpr Origin kNone = -1;      // a number
constexpr Origin kUnknown = -2;   // a number, or a pointer that was loaded or passed
constexpr Origin kComputed = -3;  // computed from several pointers, such as their distance

bool is_variable(Origin origin) { return origin >= 0; }

// The origin of a value that is either a or b, depending on the path.
Origin merged_origin(Origin a, Origin b) {
  if (a == kNone || a == b) return b;
  if (b == kNone) return a;
  return a == kComputed || b == kComputed ? kComputed : kUnknown;
}

// The origin of a + b, for example of a pointer and an offset.
Origin origin_of_sum(Origin a, Origin b) {
  if ((is_variable(a) && is_variable(b)) || a == kComputed || b == kComputed) return kComputed;
  return is_variable(a) ? a : is_variable(b) ? b : merged_origin(a, b);
}

class PointerOriginAnalysis {
 public:
  explicit PointerOriginAnalysis(const Function& function)
      : function_(function), origin_(function.registers.size(), kNone) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction& in : function.body) changed |= propagate_origins_through(in);
    }
  }

  std::vector<std::string> origins_of_addresses() const {
    std::vector<std::string> names;
    for (const Instruction& in : function_.body) {
      std::string& name = names.emplace_back();
      for (const Operand& op : in.operands) {
        if (op.kind != Operand::Kind::address) continue;
        const Origin found = op.reg >= 0 ? origin_[static_cast<size_t>(op.reg)] : kNone;
        if (is_variable(found))
          name = names_[static_cast<size_t>(found)];
        else if (op.reg < 0)
          name = op.name;
        break;
      }
    }
    return names;
  }

 private:
  // Propagates origins through the instruction. True: a register has changed.
  bool propagate_origins_through(const Instruction& in) {
    const Origin result = origin_of_result(in);
    bool changed = false;
    for_each_register(function_, in, [&](int reg, bool is_destination) {
      if (!is_destination) return;
      Origin& known = origin_[static_cast<size_t>(reg)];
      const Origin now = merged_origin(known, result);
      changed |= now != known;
      known = now;
    });
    return changed;
  }

  Origin origin_of_result(const Instruction& in) {
    if (in.call >= 0 || in.op->traits.may_differ_when_repeated()) return kUnknown;
    switch (in.op->id) {
      case OpId::mov:
      case OpId::cvta:
      case OpId::cvta_to:
      case OpId::cvt:
        return origin_of_source(in, 1);
      case OpId::add_int:
      case OpId::or_bits:
      case OpId::xor_bits:
      case OpId::and_bits:
        return origin_of_sum(origin_of_source(in, 1), origin_of_source(in, 2));
      case OpId::sub_int:
        return is_variable(origin_of_source(in, 2))
                   ? kComputed
                   : origin_of_sum(origin_of_source(in, 1), origin_of_source(in, 2));
      case OpId::mad_lo:
      case OpId::mad_wide:
        return origin_of_sum(origin_of_product(in), origin_of_source(in, 3));
      case OpId::selp:
        return merged_origin(origin_of_source(in, 1), origin_of_source(in, 2));
      default:
        return origin_of_computed_result(in);
    }
  }

  Origin origin_of_source(const Instruction& in, size_t operand) {
    const Operand& op = in.operands[operand];
    if (op.kind == Operand::Kind::symbol) return find_or_add_variable_origin(op.name);
    if (op.kind == Operand::Kind::vector) return origin_of_computed_result(in);
    return op.reg >= 0 ? origin_[static_cast<size_t>(op.reg)] : kNone;
  }

  Origin origin_of_product(const Instruction& in) {
    const auto is_pointer = [](Origin origin) {
      return is_variable(origin) || origin == kComputed;
    };
    return is_pointer(origin_of_source(in, 1)) || is_pointer(origin_of_source(in, 2)) ? kComputed
                                                                                      : kNone;
  }

  // The origin of an instruction's result: a number, unless one of the sources is a pointer.
  Origin origin_of_computed_result(const Instruction& in) const {
    if (in.op->traits.memory_count > 0) return kUnknown;
    Origin result = kNone;
    for_each_register(function_, in, [&](int reg, bool is_destination) {
      const Origin own = origin_[static_cast<size_t>(reg)];
      if (is_destination || own == kNone) return;
      result = own == kUnknown ? merged_origin(result, kUnknown) : kComputed;
    });
    return result;
  }

  Origin find_or_add_variable_origin(const std::string& name) {
    const auto [at, is_new] = numbers_.try_emplace(name, static_cast<Origin>(names_.size()));
    if (is_new) names_.push_back(name);
    return at->second;
  }

  const Function& function_;
  std::vector<Origin> origin_;  // by register
  std::unordered_map<std::string, Origin> numbers_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> base_variable_by_instruction(const Function& function) {
  return PointerOriginAnalysis(function).origins_of_addresses();
}

}  // namespace lab32::ptx
