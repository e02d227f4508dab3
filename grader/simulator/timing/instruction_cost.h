// The cost of one instruction: the pipelines that it occupies, and the latency until a dependent
// instruction can start. cost_of() estimates it for PTX; modelled_instruction_of_opcode() knows it
// for SASS opcodes.
#pragma once

#include <string_view>

#include "simulator/ptx/module.h"
#include "simulator/timing/warp_paths.h"

namespace lab32::model {

// The numbers of warp instructions that each pipeline executes, for the code that ptxas is expected
// to emit.
struct IssueSlotsByPipeline {
  double all = 0;       // issue slots
  double fp32 = 0;      // additions, products, multiply-adds of floats
  double alu = 0;       // integer, logic, comparison, moves
  double multiply = 0;  // integer instructions of the multiply-add pipeline: products, VIADD
  double half = 0;      // packed halves
  double fp64 = 0;
  double special = 0;  // reciprocals, roots, sines, conversions
  double memory = 0;   // accesses to global and shared memory, shuffles, barriers

  void add(const IssueSlotsByPipeline& other, double times);
};

// The cost of one PTX instruction on a multiprocessor, given what ptxas usually makes of it.
//
// PTX is not machine code: ptxas removes moves, merges a product and a sum into one multiply-add,
// and expands divisions. These estimates suffice to tell which pipeline is busy; they are never
// reported as counts.
struct InstructionCost {
  IssueSlotsByPipeline issue;
  // Cycles until a dependent instruction can start; for accesses to memory see `waits`.
  double latency = 0;
  enum class ResultWaitKind : uint8_t {
    no,
    global,
    shared,
    shuffle,
    barrier
  } waits = ResultWaitKind::no;
  bool has_no_result = false;  // has sources and no result
  bool is_atomic = false;      // like a store, but other accesses are not moved across it
  // True for a load of data that the kernel cannot change (.nc): ptxas may move it.
  bool reads_only = false;
};

InstructionCost cost_of(const ptx::Instruction& in);

// The PTX instruction as an element of a warp's path (warp_paths.h).
ModelledInstruction modelled_instruction_of_ptx(const InstructionCost& cost);

// The pipelines that a machine instruction occupies, by its opcode in nvdisasm's spelling:
// "LDS.128", "IMAD.MOV.U32".
IssueSlotsByPipeline issue_slots_of_opcode(std::string_view opcode);

// The machine instruction as an element of a warp's path: its unit and its latency. The caller sets
// what depends on memory.
ModelledInstruction modelled_instruction_of_opcode(std::string_view opcode);

}  // namespace lab32::model
