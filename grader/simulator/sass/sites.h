// Which SASS instructions come from which line of the PTX, over all kernels of a listing.
#pragma once

#include <map>
#include <vector>

#include "simulator/sass/flow.h"
#include "simulator/sass/listing.h"
#include "simulator/sass/memory_op.h"

namespace lab32::sass {

// One SASS instruction with what its surroundings say about it.
struct MemorySite {
  const Function* function = nullptr;
  const FlowGraph* flow = nullptr;
  const Instruction* instruction = nullptr;
  int index = 0;  // in function->code
  int block = 0;
  std::optional<MemoryOp> op;

  bool slow_path() const { return flow->slow_path[static_cast<size_t>(block)]; }
  int depth() const { return flow->structure.depth(block); }
  // Instructions with one key have comparable constants in their addresses, unless the base
  // register changes in between.
  auto cell() const { return std::make_tuple(function, block, op->base); }
};

class Sites {
 public:
  explicit Sites(const Listing& listing);

  // All instructions of a PTX line; dead code behind the last EXIT and never-true guards left out.
  const std::vector<MemorySite>& of_line(int ptx_line) const;
  const std::map<int, std::vector<MemorySite>>& by_line() const { return by_line_; }

 private:
  std::vector<FlowGraph> flows_;
  std::map<int, std::vector<MemorySite>> by_line_;
};

}  // namespace lab32::sass
