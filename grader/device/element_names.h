// What the student calls what lies somewhere in a variable: `tile[3][32]`, `points[1].mass`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/core/memory/access.h"
#include "simulator/core/warp/trap.h"
#include "simulator/observers/counters.h"
#include "simulator/observers/races/finding.h"
#include "simulator/ptx/debug_types.h"
#include "simulator/ptx/module.h"

namespace lab32::device {

// Of one module. Types are asked for when the first variable needs them: a second compilation.
class ElementNames {
 public:
  // `module` must outlive this.
  ElementNames(const ptx::Module& module, std::function<std::string()> debug_ptx)
      : module_(module), debug_ptx_(std::move(debug_ptx)) {}

  // `f.object`, a symbol or the name of an array, becomes a name; `f.place` is filled in where it
  // is known.
  void name(counters::Finding& f);

  // The same for an access that ended a launch. `shared`: the variables of the kernel; what lies
  // outside of shared memory is told of the only one there is.
  void name(sim::MemoryAccess& access, const std::vector<sim::SharedVariable>& shared);

 private:
  const ptx::DebugTypes& types();

  const ptx::Module& module_;
  std::function<std::string()> debug_ptx_;
  std::optional<ptx::DebugTypes> types_;
};

}  // namespace lab32::device
