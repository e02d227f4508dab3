#include "simulator/sass/sites.h"

namespace lab32::sass {

Sites::Sites(const Listing& listing) {
  flows_.reserve(listing.functions.size());
  for (const Function& f : listing.functions) {
    flows_.push_back(analyse_flow(f));
    const FlowGraph& flow = flows_.back();
    for (size_t i = 0; i < f.code.size(); ++i) {
      const Instruction& in = f.code[i];
      const int block = flow.block_of[i];
      // Without known targets of a jump every block may be reached.
      if (flow.known && !flow.structure.reachable[static_cast<size_t>(block)] &&
          !flow.slow_path[static_cast<size_t>(block)])
        continue;
      if (in.never_runs()) continue;
      by_line_[in.ptx_line].push_back({&f, &flow, &in, static_cast<int>(i), block, memory_op(in)});
    }
  }
}

const std::vector<MemorySite>& Sites::of_line(int ptx_line) const {
  static const std::vector<MemorySite> none;
  auto found = by_line_.find(ptx_line);
  return found == by_line_.end() ? none : found->second;
}

}  // namespace lab32::sass
