// How ptxas issues one atomic of the PTX.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sass/ptx_accesses.h"
#include "sass/sites.h"
#include "sim/access_plan.h"

namespace lab32::sass {

struct AtomicIssue {
  sim::Issue issue;
  int copies = 1;          // times the whole sequence stands in the code
  int own_loops = 0;       // loops of the sequence itself (compare-and-swap)
  bool own_guard = false;  // the guard elects a lane; it is not the PTX's condition
  std::string note;
};

// `sites`: all SASS instructions of the atomic's PTX line. On failure `why` says what they are.
std::optional<AtomicIssue> recognise_atomic(const PtxAccess& access, const std::vector<Site>& sites,
                                            std::string* why);

}  // namespace lab32::sass
