// The machine code that ptxas emitted for a function, block by block, and how often each block
// runs. The simulator executes PTX and counts no SASS instructions, so expected_runs() derives the
// frequency of a block from the PTX instructions that it implements. ptxas unrolls loops and turns
// short branches into guards; a guarded instruction is issued even by warps without an active lane.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "simulator/ptx/module.h"
#include "simulator/sass/control_flow.h"
#include "simulator/sass/operands.h"

namespace lab32::sass {

struct EmittedInstruction {
  std::string opcode;   // including modifiers
  int32_t address = 0;  // in bytes, from the function's start
  int32_t origin = -1;  // the PTX instruction's index in Function::body; -1: unknown
  RegisterOperands registers;
  // The number of operands that are read from even and from odd registers (RegisterBanks).
  std::array<uint8_t, 2> banks{};
  SassControlCode control;
  int pending = 0;  // DEPBAR: groups of asynchronous copies that may still be pending
  // The instruction is an access, shuffle or barrier that implements its origin.
  bool is_copy = false;
};

struct EmittedSassBlock {
  // A PTX instruction with copies in this block. `share` is how often the block runs per issue of
  // that instruction: with four copies, 1/4.
  struct PtxInstructionCopies {
    int32_t index = 0;  // index in Function::body
    double share = 1;
    // An access, a shuffle, a barrier or a floating-point operation: ptxas copies these unchanged.
    // Counters and addresses of an unrolled loop, in contrast, are computed once for all copies.
    bool anchor = false;
    // For an anchor in an unrolled loop. copies: the number of copies in this block. The other
    // members say whether no block has fewer copies, how many copies each block with more has, and
    // which PTX instructions are issued as often as the loop is entered. At each entry, blocks with
    // more copies run first, as often as the remaining iterations allow.
    int copies = 0;
    bool fewest = true;
    std::vector<int> more{};
    int peeled = 0;  // iterations that were peeled off before the loop
    std::vector<int32_t> entries{};
  };
  std::vector<PtxInstructionCopies> origins;
  // The index of the PTX atomic for which this block is the compare-and-swap loop that ptxas made
  // of it; -1: none. The loop runs until the last lane has succeeded.
  int32_t spin_loop = -1;
  bool in_loop = false;
  bool entry = false;
  // True if the block calls a slow path that ordinary operands of a root or a quotient do not need.
  bool rare = false;
  std::vector<EmittedInstruction> code;
  // The headers of the loops around this block, as indices in the list, the outermost first.
  std::vector<size_t> loops;
};

using SassBlocksByFunction = std::map<std::string, std::vector<EmittedSassBlock>>;

// The blocks of `function`; empty if the listing does not contain it. Slow paths of diverged warps
// are omitted.
std::vector<EmittedSassBlock> emitted_sass_blocks(const ptx::Function& function,
                                                  const SassInstructionsByPtxLine& sites);

// The number of runs of the block, over all warps. times[i] is the number of issues of body[i]; for
// a compare-and-swap loop, the number of entries.
double expected_runs(const EmittedSassBlock& block, const std::vector<uint64_t>& times);

// ---------------------------------------------------------------------------------------------
// Compare-and-swap loops, by which ptxas implements some sums in shared memory (atomics.cpp).

// Whether the instruction is ATOMS.CAST.SPIN, the swap of such a loop.
bool is_cas_spin_site(const SassInstructionSite& site);

// For each SASS block: the number of compare-and-swap loops of this atomic that have the same
// enclosing loop of the kernel. `sites` are the SASS instructions of the atomic's PTX line. The
// number is the unroll factor of the enclosing loop, because each copy of the swap loop has a block
// of its own.
std::map<int, int> cas_copies_in_kernel_loop_by_block(
    const std::vector<const SassInstructionSite*>& sites);

// Records that the block of `site` is a compare-and-swap loop of the atomic with index `index`. If
// ptxas merged that loop with the enclosing one, lanes that succeeded continue with the latter
// while others still retry, so all its blocks run once per attempt. The blocks before and after the
// loop run as often as the loop is entered.
void record_cas_loop(const SassInstructionSite& site, int32_t index,
                     const EmittedSassBlock::PtxInstructionCopies& origin,
                     std::map<int, EmittedSassBlock>& blocks);

// For an atomic in a loop: copies before the loop are its first, peeled iterations, and run as
// often as the loop is entered. Removes them from `where` and returns their number.
int remove_peeled_cas_loops(const std::vector<const SassInstructionSite*>& sites, int32_t index,
                            const EmittedSassBlock::PtxInstructionCopies& entered,
                            std::map<int, int>& where, std::map<int, EmittedSassBlock>& blocks);

}  // namespace lab32::sass
