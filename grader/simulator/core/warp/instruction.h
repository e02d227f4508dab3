// Inst: a decoded PTX instruction. Its operands are byte offsets in a warp's register file, and it
// points to the function that executes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/grid.h"
#include "simulator/ptx/module.h"

namespace lab32::sim {

constexpr uint32_t kFullMask = 0xffffffffu;

struct Inst;
class Warp;  // warp.h: the state that memory and control instructions need; arithmetic does not

// The context in which an instruction executes. `regs` is the register file of the current function
// activation: every register, immediate and special register of the function is a slot in it, an
// array over the 32 lanes (lane l of a 32-bit slot at offset `o` is *(uint32_t*)(regs + o + 4*l)).
// A predicate slot is one uint32_t with a bit per lane. Immediates are slots too, filled once when
// the activation is made, so that an operand is read in one way only.
struct ExecContext {
  std::byte* regs;
  uint32_t mask;  // lanes that execute: active and not predicated off; never 0
  Warp* warp;
};

// Executes one instruction for the lanes in x.mask; must not touch other lanes' results.
using ExecFn = void (*)(const ExecContext& x, const Inst& in);

// How an instruction is dispatched. Straight instructions only compute. The warp's loop executes
// the others, which change control flow or wait.
enum class DispatchKind : uint8_t {
  straight,
  branch,
  table_branch,
  call,
  ret,
  exit,
  warp_collective,
  block_sync,
  fence,
  trap,
};

// A source or destination: where its slot is and how wide one lane's element in it is (0: absent;
// 1: predicate, 2, 4, 8 or 16 bytes, 16 being a .b128 register).
struct RegisterSlot {
  uint32_t offset = 0;
  uint8_t bytes = 0;
  bool is_predicate = false;
  bool negated = false;  // !%p
};

// One decoded instruction. Operand order: destinations in `dst`, then the sources in `src`, each in
// the order of the PTX text; vectors and pairs are flattened into consecutive slots. An omitted
// destination ('_') has bytes == 0. So has a missing optional source.
struct Inst {
  ExecFn exec = nullptr;
  DispatchKind flow = DispatchKind::straight;
  bool has_guard = false, guard_negated = false;
  // For a branch: lanes that take it may skip a reconvergence point.
  bool may_skip_reconvergence = false;
  uint8_t dst_count = 0, src_count = 0;
  uint32_t guard = 0;  // offset of the predicate slot
  RegisterSlot dst[4];
  RegisterSlot src[6];
  // mem operands: base slot in `mem_base` (bytes == 0: absolute), constant part in `mem_offset`.
  // Instructions that read or write the carry flag (add.cc, addc, …): mem_base.offset is the
  // activation's carry slot, a bit per lane like a predicate.
  RegisterSlot mem_base, mem_base2;  // base2: second address of cp.async
  int64_t mem_offset = 0, mem_offset2 = 0;
  uint32_t target = 0;                              // branch: index in the program's code
  int reconvergence = -1, full_reconvergence = -1;  // branch: as ptx::ReconvergencePoints has it
  // The variable in shared memory from which the address is computed: [begin, end). Unknown: all of
  // the block's shared memory.
  uint32_t shared_begin = 0, shared_end = kAllShared;
  static constexpr uint32_t kAllShared = 0xffffffffu;
  uint32_t site = 0;  // index of the instruction among those of all functions of the program
  // The number of instructions from this one on, within its basic block, that only compute, load
  // and store. Lanes that begin here execute all of them, and the warp's state does not change in
  // between.
  uint32_t run = 0;
  ptx::MemoryOrder order;  // accesses and fences
  const ptx::Instruction* ptx = nullptr;

  static constexpr uint32_t kNoJoin = 0xffffffffu;  // no instruction's index
};

// Whether any instruction of the function uses a result of this one.
inline bool has_used_result(const Inst& in) {
  for (uint8_t i = 0; i < in.dst_count; ++i)
    if (in.dst[i].bytes != 0) return true;
  return false;
}

// Each row of opcodes.def supplies pick_<row>, which returns the executing function for the
// instruction's types and modifiers. Throws lab32::Error (without position: the decoder adds it)
// for a combination that the PTX ISA or this simulator does not have.
#define OP(id, pattern, operands, traits) ExecFn pick_##id(const ptx::Instruction& in);
#include "simulator/ptx/opcodes.def"
#undef OP

// ld.param of a kernel's own parameters: one value for all lanes.
ExecFn pick_ld_kernel_param(const ptx::Instruction& in);
// ld.param through a pointer to a kernel parameter ("grid constant").
ExecFn pick_ld_param_pointer(const ptx::Instruction& in);
// mov of %clock, %globaltimer and similar registers, which change while a kernel runs.
ExecFn pick_read_clock(const ptx::Instruction& in);
// Whether the result of `in`, an atom or red, is deterministic only if the blocks run in order.
bool is_order_sensitive(const ptx::Instruction& in, bool result_used);

// An update of one element: by the copy engine, through a surface, or by red.async.
struct ReductionOp {
  void (*apply)(std::byte* at, const std::byte* value) = nullptr;  // null: a copy
  unsigned bytes = 0;                                              // bytes of an element

  explicit operator bool() const { return apply != nullptr; }
};

// The operation that the instruction's modifiers name, for elements of type `type`. Empty if the
// PTX ISA has no such reduction.
ReductionOp reduction_of(const ptx::Instruction& in, ptx::DataType type);

// ---------------------------------------------------------------------------------------------
// A shift by more bits than the type has, a shuffle by more lanes than a warp has, or either by a
// negative amount. The hardware gives a result, but C++ leaves it undefined, and the program
// probably has a bug.

struct OutOfRangeShiftOrShuffle {
  uint64_t block = 0;  // linear index of the first block in which this happened
  uint32_t site = 0;
  bool shuffle = false;  // else a shift
  uint32_t amount = 0;
  uint32_t limit = 0;  // bits or lanes: amounts are smaller
};

// Records that a lane executes `in` with an amount that is not below `limit`. Each block keeps only
// the first record.
void note_out_of_range_shift(const ExecContext& x, const Inst& in, bool shuffle, uint32_t amount,
                             uint32_t limit);

// ---------------------------------------------------------------------------------------------

// The opcode as it is written in the PTX text, for example "add.rn.sat.f64".
std::string opcode_text_of(const ptx::Instruction& in);

// Throws lab32::Error: "add.sat.f64: <why>". Without a reason, the message says that the PTX ISA
// has no such form.
[[noreturn]] void refuse(const ptx::Instruction& in, const std::string& why = "");

// "PTX line 12: <why> (source: a.cu:3)"; without the source if its line is unknown.
std::string refusal_with_position(const ptx::Module& module, const ptx::Instruction& in,
                                  const std::string& why);

}  // namespace lab32::sim
