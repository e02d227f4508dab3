// Plans how each access of one PTX function is issued by the machine code.
// map_ptx_accesses_to_sass() calls the three steps: grouping.cpp fills in the
// SassAccessPlanningState, control_dependence.cpp checks them, and function_plan.cpp makes the
// final plan. Accesses that cannot be explained with certainty are marked as failed, with a reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/warp/access_plan.h"
#include "simulator/ptx/module.h"
#include "simulator/sass/control_flow.h"
#include "simulator/sass/ptx_accesses.h"

namespace lab32::sass {

// The state of planning one PTX function. SassAccessPlanner fills it in, control_dependence.cpp
// checks it, and function_plan.cpp makes the plans from it.
struct SassAccessPlanningState {
  using Reason = sim::AccessWithoutSassMatch::Reason;
  struct AccessSassMatchState {
    // Memory instructions of the access's PTX line, without slow paths.
    std::vector<SassInstructionSite> own;
    int copies = 0;  // copies in the code; 0: another access's instruction covers it, or it is gone
    int own_loops = 0;  // number of loops that belong to the access's own instruction sequence
    // Its instructions are guarded by the election of a lane, which is no condition of the PTX.
    bool own_guard = false;
    bool failed = false;
    bool missing = false;  // the access has no instruction, and the reason is not known
  };

  SassAccessPlanningState(const ptx::Module& module, const PtxFunction& function,
                          const SassInstructionsByPtxLine& sites);

  const ptx::Instruction& instruction(size_t i) const;
  sim::AccessPlan& plan(size_t i) { return plans[static_cast<size_t>(accesses[i].index)]; }
  std::string access_line_label(size_t i) const;  // "line 31"
  void fail(size_t i, Reason reason, const std::string& seen = "");
  void fail(size_t i, sim::AccessWithoutSassMatch why);
  void issue_as_written(size_t i);

  const ptx::Module& module;
  const PtxFunction& function;
  const SassInstructionsByPtxLine& sites;
  // The accesses of the function; `i` is an index in this list.
  const std::vector<PtxAccess>& accesses;
  std::vector<AccessSassMatchState> states;  // by access
  sim::FunctionPlans plans;
};

inline bool is_plain(const PtxAccess& a) { return a.form == PtxAccess::Form::plain; }

// How ptxas issues one atomic of the PTX (atomics.cpp).
struct AtomicSassLowering {
  sim::SassAccessOfPtxInstruction issue;
  // In shared memory a generic atomic may be a compare-and-swap loop.
  std::optional<sim::SassAccessOfPtxInstruction> in_shared = std::nullopt;
  // The instructions of the sequence that run once for each execution of the atomic; empty: all.
  std::vector<SassInstructionSite> once = {};
  int copies = 1;          // copies of the whole sequence in the code
  int own_loops = 0;       // loops inside the sequence (compare-and-swap)
  bool own_guard = false;  // the guard elects a lane and is not the PTX's condition
  std::string note;
};

// `sites` are all SASS instructions of the atomic's PTX line. On failure `why` receives a
// description of them.
std::optional<AtomicSassLowering> match_ptx_atomic_to_sass(
    const PtxAccess& access, const std::vector<SassInstructionSite>& sites, std::string* why);

// Fills in the issues and the number of copies of all plain accesses of the draft that have not
// failed. For each it decides whether ptxas gave it its own instruction, merged it with a
// neighbour, split it into several instructions, or removed it.
void group_accesses(SassAccessPlanningState& draft);

// Marks accesses as failed unless it is certain that each instruction runs as often, and under the
// same conditions, as in the PTX. If a loop was unrolled, records the branches at which warps must
// not diverge.
void check_sass_ptx_control_match(SassAccessPlanningState& draft);

// Plans texture fetches and surface accesses: whether the machine code contains those of the PTX.
// ptxas records no PTX line for them, so they are matched by their number and their loop depths.
void plan_texel_accesses(const PtxFunction& function, const SassInstructionsByPtxLine& sites,
                         sim::FunctionPlans& plans);

// Plans one PTX function.
sim::FunctionPlans map_ptx_accesses_to_sass(const ptx::Module& module, const PtxFunction& function,
                                            const SassInstructionsByPtxLine& sites);

// ---------------------------------------------------------------------------------------------
// Placement (grouping.cpp) decides which bytes each SASS instruction of a group accesses. ptxas
// merges accesses to neighbouring bytes into one instruction, and omits the parts of a vector that
// no instruction reads. In a group of PTX accesses (one basic block, one base, one guard) some then
// have SASS instructions and others have none. find_sass_offsets_and_shapes() tries all placements
// of the instructions and accepts a result only if exactly one placement is possible.

// The bytes that one SASS instruction accesses.
struct SassAccessRange {
  int64_t at = 0;  // offset from the first instruction of the execution, in bytes
  int bytes = 4;
  bool operator==(const SassAccessRange& o) const { return at == o.at && bytes == o.bytes; }
};
using SassAccessRanges =
    std::vector<SassAccessRange>;  // the instructions of one execution of an access

// A PTX access of the group, whose instructions are to be placed.
struct UnplacedPtxAccess {
  int64_t offset = 0;
  int bytes = 4;
  std::vector<bool> live;  // for each byte: whether the program reads or writes it
  // The instructions that one execution of the access may consist of; empty: none.
  std::vector<SassAccessRanges> shapes;
  bool must_be_covered = true;  // false: another reason explains why it has no instructions
};

// The distance between the addresses of members i and j, if it is known. Both are in the same
// block.
struct KnownDistance {
  int i = 0, j = 0;
  int64_t bytes = 0;  // start of j minus start of i
};

struct SassAccessOffsetAndShape {
  // The offset in memory at which the first machine instruction accesses, relative to the base of
  // UnplacedPtxAccess::offset.
  int64_t at = 0;
  int shape = -1;  // index in UnplacedPtxAccess::shapes; -1: this member has no instructions
};

// The placement of each member; nullopt if no placement is possible, or more than one. `distances`
// are used only in the latter case, because a base register may change between two instructions.
std::optional<std::vector<SassAccessOffsetAndShape>> find_sass_offsets_and_shapes(
    const std::vector<UnplacedPtxAccess>& members, const std::vector<KnownDistance>& distances);

}  // namespace lab32::sass
