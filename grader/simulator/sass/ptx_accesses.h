// The memory instructions of a PTX function in the form that the reconciliation needs: the accessed
// bytes relative to a base, the conditions, and which elements of the result are live. PtxFunction
// computes them once per function.
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

// The base of an address without its constant part: additions of immediates are traced back to a
// register or symbol. Each definition of a register starts a new version.
struct AddressBase {
  int reg = -1;
  int version = 0;
  std::string symbol;
  bool operator==(const AddressBase& o) const {
    return reg == o.reg && version == o.version && symbol == o.symbol;
  }
  bool operator<(const AddressBase& o) const {
    return std::tie(reg, version, symbol) < std::tie(o.reg, o.version, o.symbol);
  }
};

struct PtxAccess {
  enum class Form : uint8_t { plain, atomic, matrix, fragment, async_copy };
  int index = 0;  // in Function::body
  Form form = Form::plain;
  MemorySpace space = MemorySpace::global;
  sim::AccessKind kind = sim::AccessKind::load;
  int bytes = 4;  // per lane, for all elements
  int element_bytes = 4;
  std::vector<bool> live;  // by element: stored, or loaded and read later
  std::vector<int> parts;  // for a fragment: the bytes per lane of each access that moves it
  AddressBase root;
  int64_t offset = 0;
  int guard = -1;
  bool guard_negated = false;
  int block = 0;

  bool any_live() const;
};

// A texture fetch or a surface access.
struct PtxTextureOrSurfaceAccess {
  int index = 0;  // in Function::body
  bool store = false, live = false;
  std::vector<int> sources;  // registers that select the texels
  int block = 0;
};

class PtxFunction {
 public:
  explicit PtxFunction(const ptx::Function& function);

  const ptx::Function& function() const { return *function_; }
  const ptx::ControlFlow& flow() const { return flow_; }
  const LoopsAndControlDependence& structure() const { return structure_; }
  const std::vector<PtxAccess>& accesses() const { return accesses_; }
  const std::vector<PtxTextureOrSurfaceAccess>& texture_and_surface_accesses() const {
    return texels_;
  }

  // Whether the address may differ from one iteration of the loop to the next.
  bool varies_in_loop(const PtxAccess& access, int loop) const;
  bool varies_in_loop(const PtxTextureOrSurfaceAccess& texels, int loop) const;
  // Whether each source register has at most one definition, so that it has the same meaning
  // everywhere.
  bool sources_are_defined_once(const PtxTextureOrSurfaceAccess& texels) const;
  // The lines of the conditional branches on which the block is control-dependent, and of the
  // alternative arms. Branches at the end of an enclosing loop are omitted, since they only decide
  // how often the block runs.
  std::vector<int> controlling_lines(int block) const;
  // The body indices of the branches that may leave the loop or a loop inside it.
  std::vector<int32_t> loop_exit_branches(int loop) const;

 private:
  void find_definitions();
  void add_access(int index);
  void add_texel_access(int index);
  void add_lines_of_other_arm(int decider, int block, std::vector<int>& lines) const;
  void trace_address_base(int reg, int at, PtxAccess& access) const;
  int definition_version(int reg, int at) const;
  bool register_varies(int reg, int loop, std::vector<int>& asked) const;

  const ptx::Function* function_;
  ptx::ControlFlow flow_;
  LoopsAndControlDependence structure_;
  std::vector<PtxAccess> accesses_;
  std::vector<PtxTextureOrSurfaceAccess> texels_;
  std::vector<std::vector<int>> definitions_;  // by register: body indices
  std::vector<bool> read_;  // for each register: whether any instruction reads it
};

}  // namespace lab32::sass
