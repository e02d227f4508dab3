// How ptxas issues the memory instructions of a function. The PTX says which bytes are accessed;
// the SASS says in which pieces. ptxas merges neighbouring loads, splits a vector whose middle is
// unused, and turns an atomic without a result into a reduction. simulator/sass/reconcile.h makes
// these plans. The simulator reports accesses to observers by them; the data itself moves as the
// PTX says.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/memory/access.h"
#include "simulator/core/warp/events.h"

namespace lab32::sim {

// Why the counts of an access are not the machine code's: the SASS instructions of the access could
// not be identified.

// The reasons. The comments name the members of AccessWithoutSassMatch that each reason sets
// besides the access itself.
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

struct AccessWithoutSassMatch {
  enum class Reason : uint8_t {
#define REASON(id) id,
    LAB32_UNMATCHED(REASON)
#undef REASON
  } reason = Reason::no_machine_code;
  // The access in the PTX. No space: a generic address. 0 bytes: the access is unknown.
  AccessKind kind = AccessKind::load;
  std::optional<AccessSpace> space;
  uint32_t bytes = 0;  // per lane
  // Bytes per lane of the widest machine instruction that may serve the access; 0: not known.
  uint32_t widest = 0;
  // LAB32_UNMATCHED says which reason sets which of these.
  std::string seen;  // instructions of the machine code
  uint32_t in_ptx = 0, in_machine_code = 0;
  int line = 0, ptx_line = 0;  // lines of another access; 0: unknown
};

// ---------------------------------------------------------------------------------------------

// The names of the reasons in JSON and records, for example "no_instruction".
inline constexpr std::array kUnmatchedReasons{
#define REASON(id) #id,
    LAB32_UNMATCHED(REASON)
#undef REASON
};
const char* to_string(AccessWithoutSassMatch::Reason reason);

// "shared load of 4 bytes"; empty if the access is unknown.
std::string access_name(const AccessWithoutSassMatch& unmatched);

// "line 31", or "PTX line 120" if the source line is unknown.
std::string source_or_ptx_line(int line, int ptx_line);

// The reason in words, for example "ptxas duplicated the code around it".
std::string describe(const AccessWithoutSassMatch& unmatched);

// ---------------------------------------------------------------------------------------------

// One memory instruction of the SASS, relative to the PTX instruction that it implements.
struct SassAccessOfPtxInstruction {
  int32_t offset = 0;  // bytes from the PTX instruction's own address
  uint8_t bytes = 4;   // per lane
  AccessKind kind = AccessKind::load;
  enum class Lanes : uint8_t {
    all,          // every active lane takes part
    leader,       // the warp first reduces to one value (REDUX, VOTE), and one lane issues
    full_leader,  // sm_75: as leader if all 32 lanes are active (SHFL), else as all
    // A compare-and-swap loop: rounds of a load and an atomic by the remaining lanes. In each round
    // the lowest lane of every bank succeeds, whichever words the other lanes access. With 8-byte
    // words (a pair of banks each) the lowest lane of each half-warp succeeds, except a lane of the
    // upper half whose word the lower half has just changed.
    spin,
    // A compare-and-swap loop on the 4-byte words around narrower values: a load, then rounds of an
    // atomic by the remaining lanes. In each round one lane of every word succeeds.
    narrow_cas_loop,
  } lanes = Lanes::all;
  SharedAtomicForm form = SharedAtomicForm::plain;
  // For an access by generic addresses: the issue is for lanes in this space. None: for all.
  std::optional<AccessSpace> only = std::nullopt;
};

// The plan of one PTX memory instruction. If `issues` is empty, ptxas merged the access into
// another instruction or removed it.
struct AccessPlan {
  std::vector<SassAccessOfPtxInstruction> issues;
  // Set if the access was not reconciled: it is issued as the PTX says, and every figure marks it.
  std::optional<AccessWithoutSassMatch> unmatched;
  std::string note;  // how the SASS differs from the PTX ("merged into LDS.128")

  // The branches (indices in the body) of a loop that ptxas unrolled with a remainder. Lanes that
  // leave the loop at different times run other copies of the instruction, so the plan holds only
  // if no warp diverges at these branches. If a warp diverges there, the access is counted as
  // written in the PTX in that run.
  std::vector<int32_t> if_uniform;
};

// plans[i] belongs to body[i] of the ptx::Function; instructions that access no memory have an
// empty plan. For a function without plans (there is no cubin) accesses are issued as written in
// the PTX, and all count as unmatched.
using FunctionPlans = std::vector<AccessPlan>;

}  // namespace lab32::sim
