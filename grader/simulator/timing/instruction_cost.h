// What one PTX instruction costs a multiprocessor, going by what ptxas usually makes of it.
//
// PTX is not machine code: ptxas folds moves away, makes one multiply-add of a product and a sum of
// addresses, and expands divisions. These are estimates, good enough to tell which pipeline is
// busy; they are never shown as counts.
#pragma once

#include "simulator/ptx/module.h"
#include "simulator/timing/warp_trace.h"
#include "simulator/timing/work.h"

namespace lab32::model {

struct InstructionCost {
  IssueSlots issue;
  double latency = 0;  // cycles until a dependent instruction can start; memory: see `waits`
  enum class Waits : uint8_t { no, global, shared, shuffle, barrier } waits = Waits::no;
  bool is_store = false;    // needs its sources, gives nothing
  bool is_atomic = false;   // likewise; other accesses keep their place before and behind it
  bool reads_only = false;  // a load that nothing in the kernel can change (.nc): free to move
};

InstructionCost cost_of(const ptx::Instruction& in);

// The same as a part of a warp's way (warp_trace.h).
TraceInstruction ptx_instruction(const InstructionCost& cost);

}  // namespace lab32::model
