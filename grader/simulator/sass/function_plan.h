// How each access of one PTX function is issued: a draft of it, which grouping.cpp fills in and
// control_dependence.cpp checks, and the plan that function_plan.cpp makes of both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/core/warp/access_plan.h"
#include "simulator/ptx/module.h"
#include "simulator/sass/control_flow.h"
#include "simulator/sass/ptx_accesses.h"

namespace lab32::sass {

// What is known so far of how each access of one PTX function is issued. Grouping fills it in,
// control_dependence.cpp checks it, function_plan.cpp puts both together.
struct DraftPlan {
  using Reason = sim::Unmatched::Reason;
  struct Work {
    std::vector<MemorySite> own;  // memory instructions of its line, slow paths left out
    int copies = 0;               // times it stands in the code; 0: others carry it, or it is gone
    int own_loops = 0;            // loops that its instructions bring with them
    bool own_guard = false;       // their guard elects a lane; it is no condition of the PTX
    bool failed = false;
    bool missing = false;  // gone without an explanation
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
  const std::vector<PtxAccess>& accesses;  // of the function; the indices i above and below
  std::vector<Work> work;                  // of each access
  sim::FunctionPlans plans;
};

inline bool is_plain(const PtxAccess& a) { return a.form == PtxAccess::Form::plain; }

// How ptxas issues one atomic of the PTX (atomics.cpp).
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

// Fills in issues and copies of all plain accesses of the draft that have not failed: which
// instructions stand for a load or a store: its own, a neighbour's (merged), several (split), or
// none.
void group_accesses(DraftPlan& draft);

// Fails the accesses of the draft for which it is not certain that each instruction runs as often,
// and under the conditions, as the PTX has it. Notes the branches at which warps must not diverge
// where a loop was unrolled.
void check_control_dependence(DraftPlan& draft);

// Fetches through textures and accesses of surfaces: whether the machine code has those of the PTX.
// ptxas notes no line for them, so they are told apart by how many there are, and how deep in
// loops.
void plan_texels(const PtxFunction& function, const Sites& sites, sim::FunctionPlans& plans);

// Reconciles one PTX function.
sim::FunctionPlans plan_function(const ptx::Module& module, const PtxFunction& function,
                                 const Sites& sites);

}  // namespace lab32::sass
