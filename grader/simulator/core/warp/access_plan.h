// How ptxas issues the memory instructions of a function. The PTX says what is accessed; the SASS
// decides in which pieces: neighbouring loads merge, a vector whose middle is unused splits, an
// atomic without a result becomes a reduction, and so on. simulator/sass/reconcile.h makes these
// plans; the simulator reports accesses to observers by them; data still moves as the PTX says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/core/warp/unmatched.h"

namespace lab32::sim {

// One memory instruction of the SASS, as seen from the PTX instruction that stands for it.
struct IssuedAccess {
  int32_t offset = 0;  // bytes from the PTX instruction's own address
  uint8_t bytes = 4;   // per lane
  AccessKind kind = AccessKind::load;
  enum class Lanes : uint8_t {
    all,          // every active lane takes part
    leader,       // the warp agreed on one value first (REDUX, VOTE): one lane issues
    full_leader,  // sm_75: so it does if all 32 lanes are active (SHFL), else all issue
    // A compare-and-swap loop: rounds of a load and an atomic by the lanes that are left. In each
    // round the lowest lane of every bank wins, whatever words the others wanted. Of 8-byte words
    // (a pair of banks each) it is the lowest lane of each half-warp; but one of the upper half
    // does not win where the lower half has just changed its word.
    spin,
  } lanes = Lanes::all;
  AtomicForm form = AtomicForm::plain;
};

// Plan of one PTX memory instruction. No issues: another instruction carries it (merged), or ptxas
// removed it.
struct AccessPlan {
  std::vector<IssuedAccess> issues;
  // Not reconciled, and why: issued as the PTX says, marked in every figure.
  std::optional<Unmatched> unmatched;
  std::string note;  // reconciled: how it differs from the PTX ("merged into LDS.128")

  // ptxas unrolled the loop around it, with a remainder. Lanes that leave at different times then
  // run other copies of the instruction than the PTX's one, so the plan holds only as long as no
  // warp diverges at these branches (indices in the body); a run in which one does is at PTX level
  // here.
  std::vector<int32_t> if_uniform;
};

// plans[i] belongs to body[i] of the ptx::Function; instructions that access no memory have an
// empty plan. A function without plans (no cubin at hand) is issued as the PTX says, all unmatched.
using FunctionPlans = std::vector<AccessPlan>;

}  // namespace lab32::sim
