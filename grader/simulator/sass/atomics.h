// How ptxas issues one atomic of the PTX.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/warp/access_plan.h"
#include "simulator/sass/emitted.h"
#include "simulator/sass/flow.h"
#include "simulator/sass/ptx_accesses.h"

namespace lab32::sass {

struct AtomicIssue {
  sim::IssuedAccess issue;
  int copies = 1;          // times the whole sequence stands in the code
  int own_loops = 0;       // loops of the sequence itself (compare-and-swap)
  bool own_guard = false;  // the guard elects a lane; it is not the PTX's condition
  std::string note;
};

// `sites`: all SASS instructions of the atomic's PTX line. On failure `why` says what they are.
std::optional<AtomicIssue> recognise_atomic(const PtxAccess& access,
                                            const std::vector<MemorySite>& sites, std::string* why);

// ---- the loops of compare-and-swap that ptxas makes of sums in shared memory, as blocks of the
// machine code ----

// ATOMS.CAST.SPIN
bool swaps(const MemorySite& site);

// Of an atomic that has become such loops, by the sites of its line: where they are, and how many
// there are around which the same loop of the kernel goes. That is how often it was unrolled, since
// each has a block of its own.
std::map<int, int> spins_in_blocks(const std::vector<const MemorySite*>& sites);

// What belongs to the loop of this swap, of the atomic at `index`. Where ptxas has made one loop of
// it and of the one around it, lanes that got through go on with that while others still try: all
// of it runs round by round. What stands before and behind it runs as often as it is entered.
void add_spin(const MemorySite& site, int32_t index, const EmittedBlock::Origin& origin,
              std::map<int, EmittedBlock>& blocks);

// Of what stands in a loop: copies before it are its first turns, and run as often as it is
// entered. Takes them out of `where`, and returns how many they are.
int take_peeled(const std::vector<const MemorySite*>& sites, int32_t index,
                const EmittedBlock::Origin& entered, std::map<int, int>& where,
                std::map<int, EmittedBlock>& blocks);

}  // namespace lab32::sass
