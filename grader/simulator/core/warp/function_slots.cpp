#include "simulator/core/warp/function_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/memory.h"

namespace lab32::sim {
namespace {

using ptx::DataType;
using ptx::Operand;
using ptx::OpId;
using ptx::Space;
using Kind = ptx::Operand::Kind;

// The width in bytes of one lane's element in the slot of a register with `bits` bits. Predicates
// have another layout (RegisterSlot).
uint8_t lane_bytes_of_register(unsigned bits) {
  return static_cast<uint8_t>(bits <= 16 ? 2 : bits <= 32 ? 4 : bits <= 64 ? 8 : 16);
}

}  // namespace

RegisterFileLayout::RegisterFileLayout(const KernelSymbolAddresses& names,
                                       const ptx::ControlFlow& flow, DecodedFunction& code)
    : names_(names), function_(*code.ptx), code_(code) {
  place_registers(flow);
  place_params_and_locals();
}

void RegisterFileLayout::place_registers(const ptx::ControlFlow& flow) {
  const ptx::RegisterSlotAssignment slots = ptx::assign_register_slots(function_, flow);
  std::vector<uint32_t> offset(slots.slot_bits.size());
  for (size_t s = 0; s < offset.size(); ++s)
    offset[s] =
        allocate_slot(slots.slot_bits[s] == 1 ? 0 : lane_bytes_of_register(slots.slot_bits[s]));
  registers_.assign(function_.registers.size(), RegisterSlot{});
  for (size_t r = 0; r < registers_.size(); ++r) {
    const int s = slots.slot_of_register[r];
    if (s < 0) continue;
    RegisterSlot& slot = registers_[r];
    slot.offset = offset[static_cast<size_t>(s)];
    slot.is_predicate = function_.registers[r].bits == 1;
    slot.bytes = slot.is_predicate ? 1 : lane_bytes_of_register(function_.registers[r].bits);
  }
  for (int r : slots.live_into_entry) {
    const RegisterSlot& slot = registers_[static_cast<size_t>(r)];
    code_.undefined.emplace_back(slot.offset, slot.is_predicate ? 4u : slot.bytes * 32u);
  }
  code_.carry_offset = allocate_slot(0);
}

// Returns the offset of a new slot. bytes 0: the slot is for a predicate and has one word for all
// lanes.
uint32_t RegisterFileLayout::allocate_slot(uint8_t bytes) {
  const uint32_t size = bytes == 0 ? 4 : bytes * static_cast<uint32_t>(kWarpSize);
  file_bytes_ = align_up(file_bytes_, std::min<uint32_t>(size, 64));
  const uint32_t at = file_bytes_;
  file_bytes_ += size;
  return at;
}

void RegisterFileLayout::place_params_and_locals() {
  auto place_param = [&](const ptx::Variable& v) {
    code_.param_bytes = align_up(code_.param_bytes, std::max(8u, v.align));
    code_.param_offset[v.name] = code_.param_bytes;
    DecodedFunction::ParamRange range{code_.param_bytes, static_cast<uint32_t>(v.size)};
    code_.param_bytes += static_cast<uint32_t>(v.size);
    return range;
  };
  if (!function_.is_entry) {
    for (const auto& v : function_.params) code_.arguments.push_back(place_param(v));
    for (const auto& v : function_.returns) code_.results.push_back(place_param(v));
  } else {
    kernel_params_ = ptx::parameter_offsets(function_.params, &kernel_param_bytes_);
  }
  for (const auto& v : function_.locals) {
    if (v.space == Space::param) place_param(v);
    if (v.space == Space::local) {
      code_.local_bytes = align_up(code_.local_bytes, std::max(16u, v.align));
      locals_[v.name] = code_.local_bytes;
      code_.local_bytes += static_cast<uint32_t>(v.size);
    }
  }
  code_.param_bytes = align_up(code_.param_bytes, 16);
  code_.local_bytes = align_up(code_.local_bytes, 16);
}

RegisterSlot RegisterFileLayout::preset_register_slot(uint64_t value, uint8_t bytes) {
  const auto key = std::make_pair(value, bytes);
  auto it = fixed_.find(key);
  if (it == fixed_.end()) {
    it = fixed_.emplace(key, allocate_slot(bytes)).first;
    code_.fixed.push_back({it->second, bytes, value});
  }
  return {it->second, bytes, false, false};
}

RegisterSlot RegisterFileLayout::shared_variable_address_slot(uint64_t value, uint8_t bytes) {
  const auto [at, is_new] = shared_addresses_.emplace(std::make_pair(value, bytes), 0);
  if (is_new) {
    at->second = allocate_slot(bytes);
    code_.shared_addresses.push_back({at->second, bytes, value});
  }
  return {at->second, bytes, false, false};
}

RegisterSlot RegisterFileLayout::special_register_slot(ptx::SpecialReg reg) {
  if (reg == ptx::SpecialReg::is_explicit_cluster) {
    const uint32_t at = allocate_slot(0);
    code_.specials.push_back({at, reg});
    return {at, 1, true, false};
  }
  auto it = specials_.find(reg);
  if (it == specials_.end()) {
    it = specials_.emplace(reg, allocate_slot(4)).first;
    code_.specials.push_back({it->second, reg});
  }
  return {it->second, 4, false, false};
}

// The slot that contains the address of a variable or function as a number of `bytes` bytes.
RegisterSlot RegisterFileLayout::symbol_address_slot(const Operand& op, uint8_t bytes,
                                                     const ptx::Instruction& in) {
  if (auto s = names_.shared.find(op.name); s != names_.shared.end())
    return shared_variable_address_slot(s->second + static_cast<uint64_t>(op.value), bytes);
  if (auto l = locals_.find(op.name); l != locals_.end()) {
    const auto offset = static_cast<uint32_t>(l->second + op.value);
    const uint32_t key = offset * 2 + (in.op->id == OpId::cvta ? 1 : 0);
    auto it = local_slots_.find(key);
    if (it == local_slots_.end()) {
      it = local_slots_.emplace(key, allocate_slot(bytes)).first;
      // The offset stays relative to the window: the program adds the window's base by cvta.
      code_.local_addresses.push_back({it->second, bytes, offset, false});
    }
    return {it->second, bytes, false, false};
  }
  if (auto g = names_.symbols.find(op.name); g != names_.symbols.end())
    return preset_register_slot(g->second + static_cast<uint64_t>(op.value), bytes);
  if (function_.is_entry)
    for (size_t p = 0; p < function_.params.size(); ++p)
      if (function_.params[p].name == op.name)
        return preset_register_slot(
            names_.param_address + kernel_params_[p] + static_cast<uint64_t>(op.value), bytes);
  if (const ptx::Function* f = names_.module.find_function(op.name); f && !f->is_declaration)
    return preset_register_slot(
        code_address(static_cast<size_t>(f - names_.module.functions.data())), bytes);
  if (code_.param_offset.count(op.name))
    throw Error(
        fmt::format("the address of the function parameter `{}` is not supported", op.name));
  throw Error(fmt::format("`{}` is declared, but this module does not define it", op.name));
}

RegisterSlot RegisterFileLayout::value_slot(const Operand& op, uint8_t bytes, DataType type,
                                            const ptx::Instruction& in) {
  switch (op.kind) {
    case Kind::reg: {
      RegisterSlot slot = registers_[static_cast<size_t>(op.reg)];
      slot.negated = op.negated;
      return slot;
    }
    case Kind::special:
      return special_register_slot(op.special);
    case Kind::integer: {
      if (type == DataType::pred) return constant_predicate_slot(op.value != 0, op.negated);
      uint64_t bits = static_cast<uint64_t>(op.value);
      if (bytes < 8) bits &= (uint64_t{1} << (8 * bytes)) - 1;
      return preset_register_slot(bits, bytes);
    }
    case Kind::real: {
      uint64_t bits = static_cast<uint64_t>(op.value);
      // The literal is converted to the type of the instruction.
      if (op.is_double && bytes == 4) {
        double d;
        std::memcpy(&d, &bits, sizeof d);
        const auto f = static_cast<float>(d);
        uint32_t narrow;
        std::memcpy(&narrow, &f, sizeof f);
        bits = narrow;
      } else if (!op.is_double && bytes == 8) {
        const auto narrow = static_cast<uint32_t>(bits);
        float f;
        std::memcpy(&f, &narrow, sizeof f);
        const double d = f;
        std::memcpy(&bits, &d, sizeof d);
      }
      return preset_register_slot(bits, bytes);
    }
    case Kind::symbol:
      return symbol_address_slot(op, bytes, in);
    case Kind::none:
    case Kind::wildcard:
      return RegisterSlot{};
    default:
      throw Error("an operand of a form this instruction does not have");
  }
}

RegisterSlot RegisterFileLayout::constant_predicate_slot(bool set, bool negated) {
  const uint32_t at = allocate_slot(0);
  code_.fixed.push_back({at, 0, set != negated ? uint64_t{kFullMask} : 0});  // one word
  return {at, 1, true, false};
}

void RegisterFileLayout::decode_address(const Operand& op, const ptx::Instruction& in,
                                        RegisterSlot& base, int64_t& offset) {
  offset = op.value;
  if (op.reg >= 0) {
    base = registers_[static_cast<size_t>(op.reg)];
  } else if (!op.name.empty()) {
    Operand name = op;
    name.kind = Kind::symbol;
    name.value = 0;
    base = symbol_address_slot(name, 8, in);
  } else {
    base = RegisterSlot{};
  }
}

}  // namespace lab32::sim
