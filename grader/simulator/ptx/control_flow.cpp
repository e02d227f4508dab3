#include "simulator/ptx/control_flow.h"

namespace lab32::ptx {

uint32_t ControlFlow::reconverge(int instruction) const {
  const auto block = static_cast<size_t>(block_of[static_cast<size_t>(instruction)]);
  const int meeting = meeting_of[block];
  if (meeting < 0 || blocks[block].last != instruction + 1) return kNoReconverge;
  return static_cast<uint32_t>(
      blocks[static_cast<size_t>(meetings[static_cast<size_t>(meeting)].block)].first);
}

ControlFlow analyse_control_flow(const Function& function) {
  ControlFlow flow;
  static_cast<BasicBlocks&>(flow) = find_basic_blocks(function);
  if (!flow.blocks.empty()) static_cast<Meetings&>(flow) = find_meetings(flow.blocks);
  return flow;
}

}  // namespace lab32::ptx
