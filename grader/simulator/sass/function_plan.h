// Plans how each access of one PTX function is issued by the machine code. plan_function() does all
// of it: grouping.cpp fills in a DraftPlan, control_dependence.cpp checks it, and function_plan.cpp
// makes the final plan. Accesses that cannot be explained with certainty are marked as failed, with
// a reason.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/core/warp/access_plan.h"
#include "simulator/ptx/module.h"
#include "simulator/sass/control_flow.h"
#include "simulator/sass/ptx_accesses.h"

namespace lab32::sass {

// The state of planning one PTX function. Grouping fills it in, control_dependence.cpp checks it,
// and function_plan.cpp makes the plans from it.
struct DraftPlan {
  using Reason = sim::Unmatched::Reason;
  struct AccessState {
    std::vector<MemorySite> own;  // memory instructions of its PTX line, without slow paths
    int copies = 0;  // copies in the code; 0: another access's instruction covers it, or it is gone
    int own_loops = 0;       // loops that belong to its own instruction sequence
    bool own_guard = false;  // their guard elects a lane and is no condition of the PTX
    bool failed = false;
    bool missing = false;  // it has no instruction, and no reason is known
  };

  DraftPlan(const ptx::Module& module, const PtxFunction& function, const Sites& sites);

  const ptx::Instruction& instruction(size_t i) const;
  sim::AccessPlan& plan(size_t i) { return plans[static_cast<size_t>(accesses[i].index)]; }
  std::string where(size_t i) const;  // "line 31"
  void fail(size_t i, Reason reason, const std::string& seen = "");
  void fail(size_t i, sim::Unmatched why);
  void issue_as_written(size_t i);

  const ptx::Module& module;
  const PtxFunction& function;
  const Sites& sites;
  const std::vector<PtxAccess>& accesses;  // of the function; `i` is an index in this list
  std::vector<AccessState> states;         // by access
  sim::FunctionPlans plans;
};

inline bool is_plain(const PtxAccess& a) { return a.form == PtxAccess::Form::plain; }

// How ptxas issues one atomic of the PTX (atomics.cpp).
struct AtomicIssue {
  sim::IssuedAccess issue;
  // A generic atomic on shared memory is a compare-and-swap loop there.
  std::optional<sim::IssuedAccess> in_shared = std::nullopt;
  // The instructions of the sequence that run once for each execution of the atomic; empty: all.
  std::vector<MemorySite> once = {};
  int copies = 1;          // copies of the whole sequence in the code
  int own_loops = 0;       // loops inside the sequence (compare-and-swap)
  bool own_guard = false;  // the guard elects a lane and is not the PTX's condition
  std::string note;
};

// `sites` are all SASS instructions of the atomic's PTX line. On failure `why` receives a
// description of them.
std::optional<AtomicIssue> recognise_atomic(const PtxAccess& access,
                                            const std::vector<MemorySite>& sites, std::string* why);

// Fills in issues and copies of all plain accesses of the draft that have not failed: decides
// whether an access has its own instruction, shares a neighbour's (merged), has several (split), or
// none.
void group_accesses(DraftPlan& draft);

// Fails the accesses for which it is not certain that each instruction runs as often, and under the
// same conditions, as in the PTX. Records the branches at which warps must not diverge if a loop
// was unrolled.
void check_control_dependence(DraftPlan& draft);

// Plans texture fetches and surface accesses: whether the machine code contains those of the PTX.
// ptxas records no PTX line for them, so they are matched by their number and their loop depths.
void plan_texels(const PtxFunction& function, const Sites& sites, sim::FunctionPlans& plans);

// Plans one PTX function.
sim::FunctionPlans plan_function(const ptx::Module& module, const PtxFunction& function,
                                 const Sites& sites);

}  // namespace lab32::sass
