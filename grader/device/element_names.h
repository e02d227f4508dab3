// Names elements of variables as the student does: `tile[3][32]`, `points[1].mass`. It uses the
// types that nvcc -G describes (simulator/ptx/debug_types.h).
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

// The element names of one module. The types are read when the first variable needs them, since
// this takes a second compilation.
class ElementNames {
 public:
  // `module` must outlive this object.
  ElementNames(const ptx::Module& module, std::function<std::string()> debug_ptx)
      : module_(module), debug_ptx_(std::move(debug_ptx)) {}

  // Replaces `f.object`, a symbol or the name of an array, by its readable name, and sets `f.place`
  // if it is known.
  void name(counters::Finding& f);

  // Names the object and the element of an access that ended a launch. `shared`: the variables of
  // the kernel; an access outside of shared memory is described relative to the variable if there
  // is only one.
  void name(sim::MemoryAccess& access, const std::vector<sim::SharedVariable>& shared);

 private:
  const ptx::DebugTypes& types();

  const ptx::Module& module_;
  std::function<std::string()> debug_ptx_;
  std::optional<ptx::DebugTypes> types_;
};

}  // namespace lab32::device
