// Which SASS instructions come from which line of the PTX, over all kernels of a listing.
#pragma once

#include <map>
#include <vector>

#include "sass/flow.h"
#include "sass/listing.h"
#include "sass/memory_op.h"

namespace lab32::sass {

// One SASS instruction with what its surroundings say about it.
struct Site {
  const Function* function = nullptr;
  const Flow* flow = nullptr;
  const Instruction* instruction = nullptr;
  int index = 0;  // in function->code
  int block = 0;
  std::optional<MemoryOp> op;

  bool detour() const { return flow->detour[static_cast<size_t>(block)]; }
  int depth() const { return flow->structure.depth(block); }
  // Instructions with one key have comparable constants in their addresses, unless the base
  // register changes in between.
  auto cell() const { return std::make_tuple(function, block, op->base); }
};

class Sites {
 public:
  explicit Sites(const Listing& listing);

  // All instructions of a PTX line; dead code behind the last EXIT and never-true guards left out.
  const std::vector<Site>& of_line(int ptx_line) const;
  const std::map<int, std::vector<Site>>& by_line() const { return by_line_; }

 private:
  std::vector<Flow> flows_;
  std::map<int, std::vector<Site>> by_line_;
};

}  // namespace lab32::sass
