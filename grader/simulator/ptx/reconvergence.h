// Finds where the diverged lanes of a warp reconverge, as ptxas would decide. The simulator's warps
// wait at these points, so that counters of divergent code agree with the hardware.
// reconvergence.cpp has the rules and their sources.
#pragma once

#include <vector>

#include "simulator/ptx/graph.h"

namespace lab32::ptx {

// A point at which lanes reconverge after a branch.
struct ReconvergencePoint {
  int block = 0;  // at the beginning of this block
  // By block: whether lanes in that block may still reach the point. The warp does not wait for
  // lanes in other blocks.
  NodeSet from;
};

struct ReconvergencePoints {
  std::vector<ReconvergencePoint> reconvergence_points;
  // For the branch at the end of each block: the index in reconvergence_points at which lanes of
  // two of its successors first reconverge, and the one at which lanes of all successors do; -1:
  // nowhere, since paths leave the function separately or never end.
  std::vector<int> reconvergence_of, full_reconvergence_of;
};
ReconvergencePoints find_reconvergence_points(const std::vector<BasicBlock>& blocks);

}  // namespace lab32::ptx
