// The memory instructions of a PTX function, as the reconciliation needs them: which bytes relative
// to which base, under which conditions, and what of the result anybody reads.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/module.h"
#include "simulator/sass/control_flow.h"
#include "simulator/sass/operands.h"

namespace lab32::sass {

// An address without its constant part: additions of immediates are traced back to the register or
// symbol they start from. A register with several definitions is another root after each.
struct Root {
  int reg = -1;
  int version = 0;
  std::string symbol;
  bool operator==(const Root& o) const {
    return reg == o.reg && version == o.version && symbol == o.symbol;
  }
  bool operator<(const Root& o) const {
    return std::tie(reg, version, symbol) < std::tie(o.reg, o.version, o.symbol);
  }
};

struct PtxAccess {
  enum class Form : uint8_t { plain, atomic, matrix, async_copy };
  int index = 0;  // in Function::body
  Form form = Form::plain;
  MemorySpace space = MemorySpace::global;
  sim::AccessKind kind = sim::AccessKind::load;
  int bytes = 4;  // per lane, all elements
  int element_bytes = 4;
  std::vector<bool> live;  // by element: stores, or loads that somebody reads
  Root root;
  int64_t offset = 0;
  int guard = -1;
  bool guard_negated = false;
  int block = 0;

  bool any_live() const;
};

// A fetch through a texture object, or an access of a surface.
struct PtxTexels {
  int index = 0;  // in Function::body
  bool store = false, live = false;
  std::vector<int> sources;  // registers that say which texels
  int block = 0;
};

class PtxFunction {
 public:
  explicit PtxFunction(const ptx::Function& function);

  const ptx::Function& function() const { return *function_; }
  const ptx::ControlFlow& flow() const { return flow_; }
  const ControlStructure& structure() const { return structure_; }
  const std::vector<PtxAccess>& accesses() const { return accesses_; }
  const std::vector<PtxTexels>& texels() const { return texels_; }

  // May the address differ from one iteration of the loop to the next?
  bool varies(const PtxAccess& access, int loop) const;
  bool varies(const PtxTexels& texels, int loop) const;
  // Each of its sources is written once at most, so that it means the same everywhere.
  bool has_fixed_sources(const PtxTexels& texels) const;
  // Lines of the conditional branches that decide whether the block runs, and of what runs in its
  // place; branches at the foot of a loop around it only decide how often.
  std::vector<int> controlling_lines(int block) const;
  // Body indices of the branches that may leave the loop or a loop inside it.
  std::vector<int32_t> loop_branches(int loop) const;

 private:
  void find_definitions();
  void add_access(int index);
  void add_texels(int index);
  void add_other_arm(int decider, int block, std::vector<int>& lines) const;
  void trace(int reg, int at, PtxAccess& access) const;
  int version(int reg, int at) const;
  bool register_varies(int reg, int loop, std::vector<int>& asked) const;

  const ptx::Function* function_;
  ptx::ControlFlow flow_;
  ControlStructure structure_;
  std::vector<PtxAccess> accesses_;
  std::vector<PtxTexels> texels_;
  std::vector<std::vector<int>> definitions_;  // of each register: body indices
  std::vector<bool> read_;                     // of each register
};

}  // namespace lab32::sass
