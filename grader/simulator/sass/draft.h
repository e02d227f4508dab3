// What is known so far of how each access of one PTX function is issued. Grouping fills it in,
// conditions.h checks it, function_plan.h puts both together.
#pragma once

#include <string>
#include <vector>

#include "simulator/core/warp/access_plan.h"
#include "simulator/ptx/module.h"
#include "simulator/sass/ptx_accesses.h"
#include "simulator/sass/sites.h"

namespace lab32::sass {

struct Draft {
  using Reason = sim::Unmatched::Reason;
  struct Work {
    std::vector<MemorySite> own;  // memory instructions of its line, slow paths left out
    int copies = 0;               // times it stands in the code; 0: others carry it, or it is gone
    int own_loops = 0;            // loops that its instructions bring with them
    bool own_guard = false;       // their guard elects a lane; it is no condition of the PTX
    bool failed = false;
    bool missing = false;  // gone without an explanation
  };

  Draft(const ptx::Module& module, const PtxFunction& function, const Sites& sites);

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

}  // namespace lab32::sass
