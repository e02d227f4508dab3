// RegisterFileLayout lays out the register file of a function: it assigns a slot to each register,
// immediate, special register and address of a variable. The decoder asks it for the slot of each
// operand.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/module.h"

namespace lab32::sim {

// The meaning of names in all functions of a kernel.
struct KernelSymbolAddresses {
  const ptx::Module& module;
  const SymbolTable& symbols;                               // device memory
  const std::unordered_map<std::string, uint32_t>& shared;  // offsets
  uint64_t param_address = 0;
};

class RegisterFileLayout {
 public:
  // Lays out `code.ptx`: sets the offsets of registers, parameters and local variables in `code`,
  // and later adds the slots that operands need. All three arguments must outlive this object.
  RegisterFileLayout(const KernelSymbolAddresses& names, const ptx::ControlFlow& flow,
                     DecodedFunction& code);

  RegisterSlot reg(int index) const { return registers_[static_cast<size_t>(index)]; }
  // The slot of a single value. An immediate gets `bytes`; a register keeps its own width.
  RegisterSlot value_slot(const ptx::Operand& op, uint8_t bytes, ptx::DataType type,
                          const ptx::Instruction& in);
  // Decodes [base + offset]; an absolute address has no base.
  void decode_address(const ptx::Operand& op, const ptx::Instruction& in, RegisterSlot& base,
                      int64_t& offset);

  // The offsets of a kernel's own parameters in device memory.
  const std::vector<uint32_t>& kernel_params() const { return kernel_params_; }
  uint32_t kernel_param_bytes() const { return kernel_param_bytes_; }
  // The size of the register file, with all slots so far.
  uint32_t bytes() const { return file_bytes_; }

 private:
  void place_registers(const ptx::ControlFlow& flow);
  void place_params_and_locals();
  uint32_t allocate_slot(uint8_t bytes);
  RegisterSlot preset_register_slot(uint64_t value, uint8_t bytes);
  RegisterSlot shared_variable_address_slot(uint64_t value, uint8_t bytes);
  RegisterSlot special_register_slot(ptx::SpecialReg reg);
  RegisterSlot symbol_address_slot(const ptx::Operand& op, uint8_t bytes,
                                   const ptx::Instruction& in);
  RegisterSlot constant_predicate_slot(bool set, bool negated);

  const KernelSymbolAddresses& names_;
  const ptx::Function& function_;
  DecodedFunction& code_;
  std::vector<uint32_t> kernel_params_;
  uint32_t kernel_param_bytes_ = 0;
  std::vector<RegisterSlot> registers_;
  std::map<std::pair<uint64_t, uint8_t>, uint32_t> fixed_, shared_addresses_;
  std::map<ptx::SpecialReg, uint32_t> specials_;
  std::unordered_map<std::string, uint32_t> locals_;
  std::unordered_map<uint32_t, uint32_t> local_slots_;
  uint32_t file_bytes_ = 0;
};

}  // namespace lab32::sim
