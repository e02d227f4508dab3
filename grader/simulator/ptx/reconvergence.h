// Where diverged lanes meet again.
#pragma once

#include <vector>

#include "simulator/ptx/graph.h"

namespace lab32::ptx {

// A place where lanes meet that a branch has parted (reconvergence.cpp says how it is found).
struct ReconvergencePoint {
  int block = 0;  // at its beginning
  // By block: lanes there may still come to it. Those that go where they cannot are not waited for.
  NodeSet from;
};

struct ReconvergencePoints {
  std::vector<ReconvergencePoint> reconvergence_points;
  // Of each block's branch: where the first two of its ways meet, and where all of them do; -1:
  // nowhere, because paths leave the function separately or never end.
  std::vector<int> reconvergence_of, full_reconvergence_of;
};
ReconvergencePoints find_reconvergence_points(const std::vector<BasicBlock>& blocks);

}  // namespace lab32::ptx
