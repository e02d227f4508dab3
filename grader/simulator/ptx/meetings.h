// Where diverged lanes meet again.
#pragma once

#include <vector>

#include "simulator/ptx/graph.h"

namespace lab32::ptx {

// A place where lanes meet that a branch has parted (meetings.cpp says how it is found).
struct Meeting {
  int block = 0;  // at its beginning
  // By block: lanes there may still come to it. Those that go where they cannot are not waited for.
  NodeSet from;
};

struct Meetings {
  std::vector<Meeting> meetings;
  // Of each block's branch: where the first two of its ways meet, and where all of them do; -1:
  // nowhere, because paths leave the function separately or never end.
  std::vector<int> meeting_of, last_meeting_of;
};
Meetings find_meetings(const std::vector<BasicBlock>& blocks);

}  // namespace lab32::ptx
