// The parsed form of one PTX module, as plain data. parser.h builds it, simulator/core decodes it
// for execution, and simulator/sass matches it with the machine code of ptxas.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/ptx/opcodes.h"

namespace lab32::ptx {

// A `.loc` directive. If the code was inlined from a header, inlined_at is the index of the call
// site in Module::locs; otherwise it is -1.
struct Loc {
  int file = 0;  // index in Module::files
  int line = 0;
  int column = 0;
  int inlined_at = -1;
};

// A variable of a state space. The initialiser is kept as a flat byte image. PTX drops its trailing
// zeros, so init.size() <= size.
struct Variable {
  std::string name;
  Space space = Space::global;
  uint32_t align = 1;
  uint64_t size = 0;  // bytes; 0 for `extern .shared x[]`
  bool is_extern = false;
  bool is_unsized = false;  // declared with [] (dynamic shared memory)
  bool is_managed = false;  // .attribute(.managed): a __managed__ variable
  std::vector<std::byte> init;
  // An address in the initialiser: at byte `offset` of init is the address of `symbol` plus
  // `addend` (the generic address if so marked).
  struct Relocation {
    uint64_t offset;
    std::string symbol;
    int64_t addend;
    bool generic;
  };
  std::vector<Relocation> relocations;
  int line = 0;  // PTX line of the declaration
};

// A virtual register of one function. bits: 1 (.pred), 8, 16, 32, 64, 128.
struct Register {
  std::string name;
  uint16_t bits = 32;
};

// One operand as written in the text. Vectors ({%r1,%r2}) have their elements in `elements`.
struct Operand {
  enum class Kind : uint8_t {
    none,
    reg,      // reg: index in Function::registers
    special,  // special: %tid.x and the like
    integer,  // value
    real,  // value holds the bits: of a float for 0f…, of a double for 0d… and decimal literals
    symbol,    // name (+ value as addend): address of a variable or function
    address,   // [reg + value] or [name + value] or [value]: `reg`>=0, or name non-empty, or
               // neither; [reg, {elements}]: an object and coordinates
    vector,    // elements
    pair,      // elements[0] '|' elements[1]   (setp p|q, shfl d|p)
    label,     // value: index in Function::body the label stands before (brx.idx: see branch_table)
    wildcard,  // '_'
  };
  Kind kind = Kind::none;
  bool negated = false;    // !%p
  bool is_double = false;  // real: written as 0d… or decimal (else 0f…)
  SpecialReg special{};
  int reg = -1;
  int64_t value = 0;
  std::string name;
  std::vector<Operand> elements;
};

struct Instruction {
  const OpInfo* op = nullptr;
  Mods mods;                        // the modifiers of the instruction
  std::array<DataType, 4> types{};  // type suffixes in order of appearance
  uint8_t type_count = 0;
  int guard = -1;  // predicate register, -1: none
  bool guard_negated = false;
  // operands[i] corresponds to op->operands[i]; an optional operand that is missing has Kind::none.
  // Empty for call, whose operands are in CallInfo.
  std::vector<Operand> operands;
  int loc = -1;           // index in Module::locs, -1: no .loc seen yet
  int ptx_line = 0;       // 1-based line in the PTX text
  int call = -1;          // index in Function::calls for call
  int branch_table = -1;  // brx.idx: index in Function::branch_tables

  DataType type(int i = 0) const { return types[static_cast<size_t>(i)]; }
  bool has(Modifier m) const { return mods.test(static_cast<size_t>(m)); }
  // Whether operand i, which may be optional, is present.
  bool has_operand(size_t i) const {
    return i < operands.size() && operands[i].kind != Operand::Kind::none;
  }
};

// call.uni (ret), target, (args)[, prototype];
struct CallInfo {
  std::vector<Operand> returns;  // symbols of .param variables, or registers
  std::vector<Operand> args;
  Operand target;         // symbol (direct) or reg (indirect)
  std::string prototype;  // label of .callprototype / .calltargets, empty if direct
  // For indirect calls: the bytes of the return value and of each argument, from the prototype.
  std::vector<uint32_t> proto_returns, proto_args;
};

struct Function {
  std::string name;  // mangled
  bool is_entry = false;
  bool is_declaration = false;   // .extern .func without a body
  std::vector<Variable> params;  // .param: offset = position by alignment rules
  std::vector<Variable> returns;
  std::vector<Variable> locals;  // .local, .shared and .param variables declared inside
  std::vector<Register> registers;
  std::vector<Instruction> body;  // labels are resolved to indices; index body.size() = the end
  std::vector<CallInfo> calls;
  std::vector<std::vector<int>> branch_tables;
  int max_threads = 0;                           // .maxntid product, 0: not given
  int min_blocks = 0;                            // .minnctapersm
  std::array<int, 3> required_threads{0, 0, 0};  // .reqntid
  std::array<int, 3> cluster{0, 0, 0};           // .reqnctapercluster; 0: not given
  int max_cluster = 0;                           // .maxclusterrank; 0: not given
  int ptx_line = 0;

  // Why the function cannot run, as a complete message; "" if it can. An instruction that is not in
  // the opcode table refuses only its function and the direct callers, since toolkit headers
  // contain functions that no program launches. A refused function has no body. require_kernel
  // checks this for kernels; code that follows a function pointer must check it here.
  std::string refusal;
};

struct Module {
  int version_major = 0, version_minor = 0;
  std::string target;              // "sm_90"
  std::vector<std::string> files;  // .file table, index as in .loc (0 unused)
  std::vector<Loc> locs;
  std::vector<Variable> variables;  // module scope: .global .const .shared
  std::vector<Function> functions;
  std::string text;  // the PTX itself, for error messages

  const Function* find_function(std::string_view name) const;
  const Variable* find_variable(std::string_view name) const;

  // A position in the student's source. Code that was inlined from a header has the position of its
  // call site outside the toolkit, which inlined_at gives. nullopt if the module has no line
  // information.
  struct SourcePosition {
    std::string file;
    int line = 0;
    // If the position is in an inlined function: the line of the kernel that calls it, provided
    // that it is in the same file; otherwise 0.
    int call_line = 0;
  };
  std::optional<SourcePosition> student_source_position(int loc) const;
};

// Gives positions to a module without line information. An instruction gets the last entry of
// `places` at or before its line in its function. If there is none, it gets its PTX line in a file
// called `name`.
void add_line_information_if_absent(Module& module, const std::string& name,
                                    const std::map<int, std::pair<std::string, int>>& places);

// The kernel with this (mangled) name. Throws lab32::Error if there is no such kernel, with a list
// of the module's kernels, or if the kernel cannot run, with its refusal.
const Function& require_kernel(const Module& module, std::string_view name);

// The byte offset of each parameter in the parameter block, by the alignment rules of the PTX ISA.
// `total` receives the size of the block.
std::vector<uint32_t> parameter_offsets(const std::vector<Variable>& params, uint32_t* total);

// ---- memory accesses of an instruction, by its row of opcodes.def ----

// The state space of the `use`-th memory operand. The row of opcodes.def or a modifier names it;
// otherwise it is generic.
Space memory_space(const Instruction& in, size_t use);

// The bytes of one element that a lane moves: vectors have several elements, and a lane of a matrix
// access moves a row.
unsigned element_bytes(const Instruction& in);

// The threads to which a memory order applies.
enum class Scope : uint8_t { block, cluster, device, system };

// The memory order of the accesses of an instruction (PTX ISA, "Memory Consistency Model").
struct MemoryOrder {
  // Whether the access does not race with other strong accesses of the same size if each thread is
  // in the other access's scope. A volatile store is the exception: in CUDA C++ it is no atomic, so
  // it races with all accesses but polls.
  bool strong = false;
  bool acquire = false, release = false;
  bool sequential = false;  // a fence of the total order of all such fences
  Scope scope = Scope::device;
  bool is_volatile = false;
  bool read_only = false;  // a load that need not see data that the launch writes
  // A loop repeats the load or atomic until it returns the awaited value (control_flow.h).
  bool polls = false;
};

// The memory order of a load, store, update or fence.
MemoryOrder memory_order(const Instruction& in);

}  // namespace lab32::ptx
