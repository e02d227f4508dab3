// How ptxas issues the memory instructions of a function. The PTX says what is accessed; the SASS
// decides in which pieces: neighbouring loads merge, a vector whose middle is unused splits, an
// atomic without a result becomes a reduction, and so on. simulator/sass/reconcile.h makes these
// plans; the simulator reports accesses to observers by them; data still moves as the PTX says.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/memory/access.h"
#include "simulator/core/warp/events.h"

namespace lab32::sim {

// Why the counts of an access are not the machine code's: which of its instructions stand for the
// access could not be found out.

// The reasons, and which facts of Unmatched each has besides the access itself.
#define LAB32_UNMATCHED(REASON)                                                              \
  /* Without any look at the machine code. */                                                \
  REASON(no_machine_code)                                                                    \
  REASON(uncounted)  /* how the hardware counts this instruction is not known */             \
  REASON(not_listed) /* its function is not in the listing */                                \
  /* By the instructions that stand for it. */                                               \
  REASON(unexplained_instruction) /* seen: one of the same kernel that no access explains */ \
  REASON(unknown_atomic)          /* seen */                                                 \
  REASON(other_instruction)       /* seen */                                                 \
  REASON(other_width)             /* seen */                                                 \
  REASON(no_instruction)                                                                     \
  REASON(like_one_without)   /* line or ptx_line: of an access without an instruction */     \
  REASON(copies_differ)      /* in_ptx, in_machine_code, seen */                             \
  REASON(no_single_grouping) /* in_ptx, in_machine_code, seen */                             \
  /* By where these stand. */                                                                \
  REASON(jump_table)                                                                         \
  REASON(other_loop)                                                                         \
  REASON(moved_out_of_loop)                                                                  \
  REASON(condition_dropped)                                                                  \
  REASON(duplicated)                                                                         \
  REASON(shared_by_iterations)                                                               \
  /* By what happened when it ran. */                                                        \
  REASON(diverged)  /* lanes left an unrolled loop at different times */                     \
  REASON(estimated) /* 16-byte pieces that are no pairs */

struct Unmatched {
  enum class Reason : uint8_t {
#define REASON(id) id,
    LAB32_UNMATCHED(REASON)
#undef REASON
  } reason = Reason::no_machine_code;
  // The access in the PTX. No space: it is generic. No bytes: nothing is known of the access.
  AccessKind kind = AccessKind::load;
  std::optional<AccessSpace> space;
  uint32_t bytes = 0;  // per lane
  // LAB32_UNMATCHED says which of these belong to which reason.
  std::string seen;  // instructions of the machine code
  uint32_t in_ptx = 0, in_machine_code = 0;
  int line = 0, ptx_line = 0;  // of another access; line 0: not known
};

// ---------------------------------------------------------------------------------------------
// Words for accesses that could not be matched with the machine code. The only place for them.

// "no_instruction", as JSON and records have it: by reason.
inline constexpr std::array kUnmatchedReasons{
#define REASON(id) #id,
    LAB32_UNMATCHED(REASON)
#undef REASON
};
const char* to_string(Unmatched::Reason reason);

// "shared load of 4 bytes"; empty where it is not known.
std::string access_name(const Unmatched& unmatched);

// "line 31", or where it is not known "PTX line 120".
std::string line_name(int line, int ptx_line);

// "ptxas duplicated the code around it"
std::string describe(const Unmatched& unmatched);

// ---------------------------------------------------------------------------------------------

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
