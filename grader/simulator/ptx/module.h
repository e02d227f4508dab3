// The parsed form of one PTX module. Everything here is plain data: parser.h makes it, sim/ decodes
// it for execution, sass/ matches it with what ptxas emitted.
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

// A `.loc` directive. inlined_at is the index in Module::locs of the call site when the code was
// inlined from a header, -1 otherwise.
struct Loc {
  int file = 0;  // index in Module::files
  int line = 0;
  int column = 0;
  int inlined_at = -1;
};

// A variable of a state space. `dims` and initialisers keep the flattened byte image: PTX drops
// trailing zeros of an initialiser, so init.size() <= size.
struct Variable {
  std::string name;
  Space space = Space::global;
  uint32_t align = 1;
  uint64_t size = 0;  // bytes; 0 for `extern .shared x[]`
  bool is_extern = false;
  bool is_unsized = false;  // declared with [] (dynamic shared memory)
  bool is_managed = false;  // .attribute(.managed): a __managed__ variable
  std::vector<std::byte> init;
  // Initialisers that hold an address: at byte `offset` of init stands the (generic, if so marked)
  // address of `symbol` plus `addend`.
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

// One operand as it stands in the text. Vectors ({%r1,%r2}) keep their elements in `elements`.
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
  Mods mods;                    // all modifiers present
  std::array<Type, 4> types{};  // type suffixes in order of appearance
  uint8_t type_count = 0;
  int guard = -1;  // predicate register, -1: none
  bool guard_negated = false;
  // operands[i] fills op->operands[i]; an optional one that was left out has Kind::none. Empty for
  // call, whose operands are in CallInfo.
  std::vector<Operand> operands;
  int loc = -1;           // index in Module::locs, -1: no .loc seen yet
  int ptx_line = 0;       // 1-based line in the PTX text
  int call = -1;          // index in Function::calls for call
  int branch_table = -1;  // brx.idx: index in Function::branch_tables

  Type type(int i = 0) const { return types[static_cast<size_t>(i)]; }
  bool has(Mod m) const { return mods.test(static_cast<size_t>(m)); }
  // Whether an optional operand was given.
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
  // for indirect calls: bytes of the return value and of each argument, from the prototype
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

  // Toolkit headers bring in functions that nobody launches, so an instruction outside the table
  // does not refuse the module. It refuses the function it stands in and all that call that one
  // directly: this is the complete message, empty if the function can run. A refused function has
  // no body. Look kernels up with require_kernel; who follows a function pointer must look here.
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

  // The source position a student knows: walks out of headers along inlined_at until a file that
  // is not below an "include" directory of the toolkit; nullopt without line information.
  struct Position {
    std::string file;
    int line;
  };
  std::optional<Position> position(int loc) const;
};

// Where there is no line information: instructions stand at the last of `places` that begins at or
// before them in their function, and else where the PTX has them, in a file of that name.
void use_ptx_positions(Module& module, const std::string& name,
                       const std::map<int, std::pair<std::string, int>>& places);

// The kernel of that (mangled) name. Throws lab32::Error when the module has none, naming those it
// has, and with its refusal when it cannot run.
const Function& require_kernel(const Module& module, std::string_view name);

// Byte offset of each parameter in the parameter block, by the alignment rules of the PTX ISA.
std::vector<uint32_t> parameter_offsets(const std::vector<Variable>& params, uint32_t* total);

// ---- the memory that the row of an instruction says it uses, and in which order ----

// The state space of its mem operand number `use`: the row's, or the one that a modifier names;
// generic where neither does.
Space memory_space(const Instruction& in, size_t use);

// Bytes of the pieces that a lane moves: vectors move several, a lane of a matrix access a row.
unsigned element_bytes(const Instruction& in);

// Whose threads an operation concerns.
enum class Scope : uint8_t { block, cluster, device, system };

// How strong the accesses of an instruction are in the PTX memory model (PTX ISA, "Memory
// Consistency Model").
struct MemoryOrder {
  bool strong = false;  // may meet another strong access of a thread in both scopes
  bool acquire = false, release = false;
  Scope scope = Scope::device;
};

// Of loads, stores, updates and fences.
MemoryOrder memory_order(const Instruction& in);

}  // namespace lab32::ptx
