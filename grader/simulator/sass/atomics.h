// How ptxas issues one atomic of the PTX.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/core/warp/access_plan.h"
#include "simulator/sass/ptx_accesses.h"
#include "simulator/sass/sites.h"

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

}  // namespace lab32::sass
