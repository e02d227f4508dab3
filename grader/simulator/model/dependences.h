// What warps wait for: the longest chain of instructions each of which needs the result of the one
// before.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/module.h"

namespace lab32::model {

// A chain, by what stands in it.
struct Chain {
  double cycles = 0;         // of arithmetic
  double global_rounds = 0;  // loads from global memory, one after the other
  double shared_rounds = 0;  // loads from shared memory, shuffles
  double barriers = 0;
  double own_rounds = 0;  // global_rounds without those of other warps that a barrier waits for
};

// Summed over all runs of the function; `times[i]`: how often instruction i was run.
//
// Within a block ptxas moves loads up as far as it may, so a chain follows the registers, not the
// order of the text; but no load passes an atomic, a barrier or a store to the same memory, unless
// it reads what the kernel cannot change. Blocks are run one after the other: a load that a later
// block waits for is waited for here. But ptxas predicates short conditional pieces, so blocks that
// follow each other, are run equally often and cannot be entered from elsewhere count as one.
// Before a barrier, what some of a thread block's `warps` run, the others wait for.
Chain longest_chains(const ptx::Function& function, const ptx::ControlFlow& flow,
                     const std::vector<uint64_t>& times, uint32_t warps);

}  // namespace lab32::model
