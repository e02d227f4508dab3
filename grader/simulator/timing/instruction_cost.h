// What one instruction keeps busy, and how long a dependent one waits for it.
#pragma once

#include <string_view>

#include "simulator/ptx/module.h"
#include "simulator/timing/warp_paths.h"

namespace lab32::model {

// Warp instructions by the pipeline that takes them, as ptxas is expected to emit them.
struct IssueSlots {
  double all = 0;       // issue slots
  double fp32 = 0;      // additions, products, multiply-adds of floats
  double alu = 0;       // integer, logic, comparison, moves
  double multiply = 0;  // integers that the multiply-add pipeline takes: products, VIADD
  double half = 0;      // packed halves
  double fp64 = 0;
  double special = 0;  // reciprocals, roots, sines, conversions
  double memory = 0;   // accesses to global and shared memory, shuffles, barriers

  void add(const IssueSlots& other, double times);
};

// What one PTX instruction costs a multiprocessor, going by what ptxas usually makes of it.
//
// PTX is not machine code: ptxas folds moves away, makes one multiply-add of a product and a sum of
// addresses, and expands divisions. These are estimates, good enough to tell which pipeline is
// busy; they are never shown as counts.
struct InstructionCost {
  IssueSlots issue;
  double latency = 0;  // cycles until a dependent instruction can start; memory: see `waits`
  enum class Waits : uint8_t { no, global, shared, shuffle, barrier } waits = Waits::no;
  bool is_store = false;    // needs its sources, gives nothing
  bool is_atomic = false;   // likewise; other accesses keep their place before and behind it
  bool reads_only = false;  // a load that nothing in the kernel can change (.nc): free to move
};

InstructionCost cost_of(const ptx::Instruction& in);

// A PTX instruction as a part of a warp's path (warp_paths.h).
TraceInstruction ptx_instruction(const InstructionCost& cost);

// What an instruction of the machine keeps busy, by its opcode as nvdisasm prints it: "LDS.128",
// "IMAD.MOV.U32".
IssueSlots machine_issue(std::string_view opcode);

// An instruction of the machine as a part of a warp's path: the unit that takes it, and how long a
// dependent one waits. What memory does with it is left open.
TraceInstruction machine_instruction(std::string_view opcode);

}  // namespace lab32::model
