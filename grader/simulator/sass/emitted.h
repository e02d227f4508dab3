// What ptxas emitted for a function, block by block, and how often it is issued: counted nowhere,
// but told by the PTX instructions it comes from. ptxas unrolls loops, and turns short branches
// into guards: a guarded instruction is issued by warps that have no lane for it, too.
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
  std::string opcode;   // with its modifiers
  int32_t address = 0;  // in bytes, from the function's start
  int32_t origin = -1;  // in Function::body; -1: not known
  Operands registers;
  std::array<uint8_t, 2> banks{};  // operands of even and odd registers (RegisterBanks)
  Control control;
  int pending = 0;       // DEPBAR: so many groups of copies may still be under way
  bool is_copy = false;  // an access, shuffle or barrier that stands for its origin
};

struct EmittedBlock {
  // An instruction of the PTX that has copies here, and how often the block runs for each time that
  // one is issued: with four copies, every fourth time.
  struct Origin {
    int32_t index = 0;  // in Function::body
    double share = 1;
    // An access, a shuffle, a barrier, a floating-point operation: ptxas copies these as they are.
    // Counters and addresses of an unrolled loop are computed once for all copies.
    bool anchor = false;
    // Of an unrolled loop's anchor: its copies here; whether no block has fewer; how many each
    // block has that has more; and instructions of the PTX that are issued as often as the loop is
    // entered. Each time, blocks with more copies take what they can of what is left to do.
    int copies = 0;
    bool fewest = true;
    std::vector<int> more{};
    int peeled = 0;  // turns that are made before the loop
    std::vector<int32_t> entries{};
  };
  std::vector<Origin> origins;
  // The loop of a load and a compare-and-swap that ptxas made of an atomic of the PTX; -1: none. It
  // runs until the last lane has got through.
  int32_t spins = -1;
  bool in_loop = false;
  bool entry = false;
  bool rare = false;  // calls what ordinary operands of a root or a quotient do not need
  std::vector<EmittedInstruction> code;
  // Blocks, by their place in the list, that head the loops around this one, the outermost first.
  std::vector<size_t> loops;
};

using EmittedFunctions = std::map<std::string, std::vector<EmittedBlock>>;

// The blocks of the function of that name; none where the listing does not have it. Slow paths of
// diverged warps are left out.
std::vector<EmittedBlock> emitted_blocks(const ptx::Function& function, const Sites& sites);

// How often the block runs, over all warps. times[i]: how often body[i] was issued; of a loop of
// compare-and-swap, how often it is entered.
double runs(const EmittedBlock& block, const std::vector<uint64_t>& times);

// ---- the loops of compare-and-swap that ptxas makes of sums in shared memory, as blocks of the
// machine code (spin_loops.cpp) ----

// ATOMS.CAST.SPIN
bool is_spinning_swap(const MemorySite& site);

// Of an atomic that has become such loops, by the sites of its line: where they are, and how many
// there are around which the same loop of the kernel goes. That is how often it was unrolled, since
// each has a block of its own.
std::map<int, int> swap_loops_by_block(const std::vector<const MemorySite*>& sites);

// What belongs to the loop of this swap, of the atomic at `index`. Where ptxas has made one loop of
// it and of the one around it, lanes that got through go on with that while others still try: all
// of it runs round by round. What stands before and behind it runs as often as it is entered.
void add_swap_loop(const MemorySite& site, int32_t index, const EmittedBlock::Origin& origin,
                   std::map<int, EmittedBlock>& blocks);

// Of what stands in a loop: copies before it are its first turns, and run as often as it is
// entered. Takes them out of `where`, and returns how many they are.
int take_peeled_copies(const std::vector<const MemorySite*>& sites, int32_t index,
                       const EmittedBlock::Origin& entered, std::map<int, int>& where,
                       std::map<int, EmittedBlock>& blocks);

}  // namespace lab32::sass
