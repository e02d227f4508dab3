// KernelProgram: a kernel and every function that it can reach, decoded and ready to run. decode()
// makes it and warps execute it; it does not change while kernels run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/core/isa/bulk_op.h"
#include "simulator/core/isa/fragments.h"
#include "simulator/core/memory/access.h"
#include "simulator/core/memory/descriptors.h"
#include "simulator/core/memory/memory.h"
#include "simulator/core/warp/access_plan.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/module.h"

namespace lab32::sim {

// A slot of the register file that must hold a value before the function starts.
struct PresetRegisterSlot {
  uint32_t offset;
  uint8_t bytes;   // 0: a predicate, one word
  uint64_t value;  // bit pattern, the same in all lanes
};

struct SpecialRegisterSlot {
  uint32_t offset;
  ptx::SpecialReg reg;
};

// The address of a variable in the block's shared memory, which includes the block's rank in its
// cluster.
struct SharedVariableAddressSlot {
  uint32_t offset;
  uint8_t bytes;
  uint64_t value;  // value in the block of rank 0
};

// The address of a local variable. It is relative to the activation's stack frame and becomes known
// when the frame is made.
struct LocalVariableAddressSlot {
  uint32_t offset;
  uint8_t bytes;
  uint32_t local_offset;  // from the frame's base
  bool generic;
};

// One function, decoded. code ends with an implicit return.
struct DecodedFunction {
  const ptx::Function* ptx = nullptr;
  uint32_t index = 0;
  std::string refusal;  // the reason why the function cannot run; empty: it can
  std::vector<Inst> code;
  uint32_t register_bytes = 0;
  uint32_t carry_offset = 0;  // lane mask of the carry flag
  std::vector<PresetRegisterSlot> fixed;
  std::vector<SpecialRegisterSlot> specials;
  std::vector<SharedVariableAddressSlot> shared_addresses;
  std::vector<LocalVariableAddressSlot> local_addresses;
  std::vector<std::pair<uint32_t, uint32_t>>
      undefined;  // {offset, bytes} of registers that some path reads before it writes them
  uint32_t local_bytes = 0;  // bytes of its .local variables
  // Bytes of the function's .param variables (own parameters, arguments of calls).
  uint32_t param_bytes = 0;
  std::unordered_map<std::string, uint32_t> param_offset;
  // For calls of this function: where each argument and each return value is in its parameter area.
  struct ParamRange {
    uint32_t offset, bytes;
  };
  std::vector<ParamRange> arguments, results;
  std::vector<ptx::ReconvergencePoint> reconvergence_points;  // Inst::reconvergence
  std::vector<uint32_t> reconvergence_pcs;
  std::vector<int> block_of;  // block of each instruction of the PTX

  uint32_t reconvergence_pc(int reconvergence) const {
    return reconvergence_pcs[static_cast<size_t>(reconvergence)];
  }
  // Whether lanes at `pc` can still reach the reconvergence point.
  bool can_reach(int reconvergence, uint32_t pc) const {
    return pc < block_of.size() && reconvergence_points[static_cast<size_t>(reconvergence)]
                                       .from[static_cast<size_t>(block_of[pc])];
  }
};

// A call: the function, and the positions of arguments and results in the caller's param area.
struct CallSite {
  enum class Target : uint8_t {
    function,
    indirect,
    vprintf,
    assertfail,
    malloc,
    free,
    prepare_launch,
    launch,
    set_condition,
    runtime
  } target = Target::function;
  uint32_t function = 0;
  RegisterSlot pointer;                      // indirect
  std::vector<uint32_t> arguments, results;  // offsets in the caller's param area
  std::string name;
};

struct InstructionSite {
  uint32_t function = 0;
  uint32_t index = 0;  // in code
  const ptx::Instruction* ptx = nullptr;
};

// ---------------------------------------------------------------------------------------------
// The decoded operands of fetches through texture objects (tex, tld4) and of loads, stores and
// reductions through surface objects (suld, sust, sured).

struct TextureOrSurfaceOp {
  enum class Kind : uint8_t { fetch, level, gradient, gather, load, store, reduce };
  enum class Outside : uint8_t { trap, clamp, zero };
  Kind kind = Kind::fetch;
  uint8_t dimensions = 1;
  bool layered = false, cube = false;
  bool by_index = false;            // coordinates are integers
  uint8_t component = 0;            // gather
  Outside outside = Outside::trap;  // for surfaces: the effect of an access outside the array
  uint8_t element_bytes = 4;        // surfaces: bytes of each register
  ReductionOp reduction;
  RegisterSlot object, layer;
  std::array<RegisterSlot, 3> coordinate;
  RegisterSlot level;
  // The derivatives of the coordinates along x and y of the screen.
  std::array<std::array<RegisterSlot, 3>, 2> derivative;
  std::array<RegisterSlot, 4> value;  // results, or the values to store
  uint8_t values = 4;
  RegisterSlot resident;  // predicate that says whether memory backs the texel: always true

  bool is_of_surface() const {
    return kind == Kind::load || kind == Kind::store || kind == Kind::reduce;
  }
};

class RegisterFileLayout;

// Decodes a texture or surface instruction. The first form leaves the slots empty. Both throw
// lab32::Error for a form that is not supported.
TextureOrSurfaceOp texture_or_surface_op_of(const ptx::Instruction& in);
TextureOrSurfaceOp texture_or_surface_op_of(const ptx::Instruction& in, RegisterFileLayout& slots);

// The registers that the operation reads; that of the object's number comes first.
std::vector<RegisterSlot> sources_of(const TextureOrSurfaceOp& op);

// ---------------------------------------------------------------------------------------------

struct KernelProgram {
  const ptx::Module* module = nullptr;
  std::vector<DecodedFunction> functions;              // [0] is the kernel
  std::unordered_map<uint64_t, uint32_t> function_at;  // code address -> index in functions
  std::vector<InstructionSite> sites;
  std::vector<AccessPlan> plans;                     // by site
  std::vector<CallSite> calls;                       // Inst::target of a call
  std::vector<std::vector<uint32_t>> branch_tables;  // Inst::target of brx
  std::vector<FragmentOp> fragment_ops;              // Inst::target of mma and similar
  std::vector<TextureOrSurfaceOp> texture_ops;       // Inst::target of tex and similar
  std::vector<BulkOp> bulk_ops;                      // Inst::target of cp.async.bulk
  std::vector<SharedVariable> shared;
  uint32_t static_shared = 0;
  uint32_t dynamic_offset = 0;   // where dynamic shared memory starts
  bool order_sensitive = false;  // uses results of atomics, or atomics that do not commute
  bool uses_heap = false;        // calls malloc() or free() by name
  bool reads_clock = false;      // %clock, %globaltimer and similar
  bool launches_kernels = false;
  bool cluster_barriers = false;
  bool reserves_shared = false;  // reads the position of the shared memory that the system reserves
  uint64_t param_address = 0;    // the kernel's parameters, in device memory
  uint32_t param_bytes = 0;

  std::optional<ptx::Module::SourcePosition> position(uint32_t site) const;
  // The variables in `shared` for a launch with `shared_bytes` bytes of shared memory per block.
  // Dynamic variables get the size that remains for them.
  std::vector<SharedVariable> shared_variables_of(uint32_t shared_bytes) const;
};

// The address that represents a function, by its index in the module. Function pointers have this
// value.
inline uint64_t code_address(size_t index) { return kCodeBase + 16 * (index + 1); }

// Addresses of the module's variables in device memory.
using SymbolTable = std::unordered_map<std::string, uint64_t>;

}  // namespace lab32::sim
