// The traits of an instruction: its memory accesses, synchronisation, control transfer and cost,
// besides the value that it computes. Each row of opcodes.def states its traits, and the decoder,
// the observers, the SASS matching and the time model read them instead of testing opcodes.
#pragma once

#include <array>
#include <cstdint>

namespace lab32::ptx {

enum class Space : uint8_t { reg, sreg, constant, global, local, param, shared, generic };

// The cost class of an instruction in the time model (timing/instruction_cost.cpp).
enum class CostClass : uint8_t {
  unset,
  nothing,        // becomes an operand of another instruction, or disappears
  move,           // a move; ptxas removes most of them
  alu,            // logic, comparison, selection: one instruction of the integer pipeline
  add,            // an addition; ptxas distributes them over two pipelines
  shift_left,     // like add: ptxas may make it a product by a power of two
  multiply,       // low half: four times as much for 64 bits
  multiply_high,  // high half, or a carry: twice as much as multiply
  multiply_once,  // one multiply-add, whatever the type
  divide,         // integer division: a sequence
  convert,
  fp,         // one floating-point instruction, by type
  fp_divide,  // a subroutine
  fp_root,    // correctly rounded reciprocal or root: a subroutine
  half,
  special,         // one pass through the special unit
  special_range,   // like special, with one more instruction that brings the argument into range
  special_scaled,  // plus instructions that scale subnormals
  special_divide,  // like special, with the instructions around an approximate division
  memory,          // the memory that it accesses determines the cost
  copy_wait,
  shuffle,
  vote,
  match,
  tensor,  // a matrix product
  texture,
  barrier,
  branch,
};

// Where control continues after the instruction.
enum class ControlTransfer : uint8_t { next, branch, table_branch, call, ret, exit, trap };

// The threads that an instruction synchronises.
enum class InstructionSync : uint8_t {
  none,
  warp,          // lanes of a warp exchange values; it executes when all named lanes have arrived
  warp_barrier,  // lanes of a warp wait for each other
  block,         // waits at a barrier of the block
  block_arrive,  // arrives at a barrier of the block without waiting
  cluster,       // waits for all threads of the cluster
  cluster_arrive,
  mbarrier,  // creates, destroys or tests a barrier object
  mbarrier_arrive,
  fence,
};

// The use of the address of one `mem` operand.
struct AddressUse {
  enum class Kind : uint8_t { none, load, store, update, hint };
  Kind kind = Kind::none;
  Space space = Space::generic;  // generic: a modifier may name the space
};

struct InstructionTraits {
  CostClass issue = CostClass::unset;
  ControlTransfer transfer = ControlTransfer::next;
  InstructionSync sync = InstructionSync::none;
  std::array<AddressUse, 2> memory{};  // one per `mem` operand, in order
  uint8_t memory_count = 0;
  bool carry = false;                   // uses the carry flag
  bool allows_wider_registers = false;  // registers may be wider than the types
  bool matrix = false;                  // lanes address rows of 8x8 matrices; all 32 take part
  // The instruction's registers hold matrices that are distributed over all 32 lanes.
  bool fragments = false;
  bool all_lanes = false;  // all 32 lanes take part in the instruction, and no operand names them
  bool reads_texels = false;   // the instruction reads through a texture or surface object
  bool writes_texels = false;  // the instruction writes through a surface object
  bool bulk = false;       // the copy engine moves memory, outside of the pipeline that is counted
  bool read_only = false;  // loads data that the kernel does not change
  bool ptx_level = false;  // the simulator does not know which machine code ptxas makes of it

  constexpr bool of_whole_warp() const { return matrix || fragments || all_lanes; }
  constexpr bool has_address_used_as(AddressUse::Kind kind) const {
    return memory[0].kind == kind || memory[1].kind == kind;
  }
  // Whether the instruction moves data between registers and a memory whose traffic the hardware
  // counts. This excludes parameters, which are operands in constant memory, barrier objects, and
  // hints.
  constexpr bool has_counted_memory_access() const {
    return memory_count > 0 && memory[0].space != Space::param &&
           !has_address_used_as(AddressUse::Kind::hint) && sync != InstructionSync::mbarrier &&
           sync != InstructionSync::mbarrier_arrive;
  }
  // Whether the instruction accesses device memory through the texture path, which has its own
  // counters.
  constexpr bool is_texture() const { return reads_texels || writes_texels; }
  constexpr bool is_atomic() const {
    return has_counted_memory_access() && has_address_used_as(AddressUse::Kind::update);
  }
  constexpr bool is_block_barrier() const {
    return sync == InstructionSync::block || sync == InstructionSync::block_arrive;
  }
  constexpr bool is_cluster_barrier() const {
    return sync == InstructionSync::cluster || sync == InstructionSync::cluster_arrive;
  }
  constexpr bool is_mbarrier() const {
    return sync == InstructionSync::mbarrier || sync == InstructionSync::mbarrier_arrive;
  }
  constexpr bool leaves_function() const {
    return transfer == ControlTransfer::ret || transfer == ControlTransfer::exit;
  }
  // Whether the result may differ when the instruction is executed again with the same operands.
  constexpr bool may_differ_when_repeated() const {
    return has_counted_memory_access() || is_texture() || bulk || is_mbarrier() ||
           sync == InstructionSync::warp || sync == InstructionSync::block ||
           sync == InstructionSync::cluster;
  }
  // Whether the instruction has an effect for which another warp or block may be waiting. (An
  // atomic whose result is read may itself be part of the waiting; the decoder checks that.)
  constexpr bool may_release_waiters() const {
    return is_block_barrier() || is_cluster_barrier() || sync == InstructionSync::mbarrier_arrive ||
           leaves_function() || writes_texels || bulk ||
           (has_counted_memory_access() && (has_address_used_as(AddressUse::Kind::store) ||
                                            has_address_used_as(AddressUse::Kind::update)));
  }
};

// The words that the last column of opcodes.def uses.
namespace traits {

constexpr InstructionTraits operator|(InstructionTraits a, const InstructionTraits& b) {
  if (b.issue != CostClass::unset) a.issue = b.issue;
  if (b.transfer != ControlTransfer::next) a.transfer = b.transfer;
  if (b.sync != InstructionSync::none) a.sync = b.sync;
  for (uint8_t i = 0; i < b.memory_count; ++i) a.memory[a.memory_count++] = b.memory[i];
  a.carry |= b.carry;
  a.allows_wider_registers |= b.allows_wider_registers;
  a.matrix |= b.matrix;
  a.fragments |= b.fragments;
  a.all_lanes |= b.all_lanes;
  a.reads_texels |= b.reads_texels;
  a.writes_texels |= b.writes_texels;
  a.bulk |= b.bulk;
  a.read_only |= b.read_only;
  a.ptx_level |= b.ptx_level;
  return a;
}

constexpr InstructionTraits make_traits(CostClass issue) {
  InstructionTraits t;
  t.issue = issue;
  return t;
}
constexpr InstructionTraits make_traits(ControlTransfer transfer) {
  InstructionTraits t;
  t.issue = transfer == ControlTransfer::trap ? CostClass::alu : CostClass::branch;
  t.transfer = transfer;
  return t;
}
constexpr InstructionTraits make_traits(InstructionSync sync) {
  InstructionTraits t;
  t.sync = sync;
  return t;
}
constexpr InstructionTraits make_traits(bool InstructionTraits::*flag) {
  InstructionTraits t;
  t.*flag = true;
  return t;
}
constexpr InstructionTraits make_traits(AddressUse::Kind kind, Space space) {
  InstructionTraits t;
  t.memory[0] = {kind, space};
  t.memory_count = 1;
  return t;
}

constexpr InstructionTraits nothing = make_traits(CostClass::nothing),
                            move = make_traits(CostClass::move), alu = make_traits(CostClass::alu),
                            add = make_traits(CostClass::add),
                            shift_left = make_traits(CostClass::shift_left),
                            multiply = make_traits(CostClass::multiply),
                            multiply_high = make_traits(CostClass::multiply_high),
                            multiply_once = make_traits(CostClass::multiply_once),
                            divide = make_traits(CostClass::divide),
                            convert = make_traits(CostClass::convert),
                            fp = make_traits(CostClass::fp),
                            fp_divide = make_traits(CostClass::fp_divide),
                            fp_root = make_traits(CostClass::fp_root),
                            half = make_traits(CostClass::half),
                            special = make_traits(CostClass::special),
                            special_range = make_traits(CostClass::special_range),
                            special_scaled = make_traits(CostClass::special_scaled),
                            special_divide = make_traits(CostClass::special_divide),
                            memory = make_traits(CostClass::memory),
                            copy_wait = make_traits(CostClass::copy_wait),
                            shuffle = make_traits(CostClass::shuffle),
                            vote = make_traits(CostClass::vote),
                            match = make_traits(CostClass::match),
                            tensor = make_traits(CostClass::tensor),
                            texture = make_traits(CostClass::texture),
                            barrier = make_traits(CostClass::barrier);

constexpr InstructionTraits branches = make_traits(ControlTransfer::branch),
                            table_branches = make_traits(ControlTransfer::table_branch),
                            calls = make_traits(ControlTransfer::call),
                            returns = make_traits(ControlTransfer::ret),
                            exits = make_traits(ControlTransfer::exit),
                            traps = make_traits(ControlTransfer::trap);

constexpr InstructionTraits syncs_warp = make_traits(InstructionSync::warp),
                            meets_warp = make_traits(InstructionSync::warp_barrier),
                            syncs_block = make_traits(InstructionSync::block),
                            arrives_block = make_traits(InstructionSync::block_arrive),
                            syncs_cluster = make_traits(InstructionSync::cluster),
                            arrives_cluster = make_traits(InstructionSync::cluster_arrive),
                            on_mbarrier = make_traits(InstructionSync::mbarrier),
                            arrives_mbarrier = make_traits(InstructionSync::mbarrier_arrive),
                            fences = make_traits(InstructionSync::fence);

constexpr InstructionTraits carry = make_traits(&InstructionTraits::carry),
                            allows_wider_registers =
                                make_traits(&InstructionTraits::allows_wider_registers),
                            matrix = make_traits(&InstructionTraits::matrix),
                            fragments = make_traits(&InstructionTraits::fragments),
                            all_lanes = make_traits(&InstructionTraits::all_lanes),
                            reads_texels = make_traits(&InstructionTraits::reads_texels),
                            writes_texels = make_traits(&InstructionTraits::writes_texels),
                            bulk = make_traits(&InstructionTraits::bulk),
                            read_only = make_traits(&InstructionTraits::read_only),
                            ptx_level = make_traits(&InstructionTraits::ptx_level);

// `any`: a modifier of the instruction names the space; if it does not, the address is generic.
constexpr Space global = Space::global, shared = Space::shared, param = Space::param,
                any = Space::generic;

constexpr InstructionTraits loads(Space space) {
  return make_traits(AddressUse::Kind::load, space);
}
constexpr InstructionTraits stores(Space space) {
  return make_traits(AddressUse::Kind::store, space);
}
constexpr InstructionTraits updates(Space space) {
  return make_traits(AddressUse::Kind::update, space);
}
constexpr InstructionTraits hints(Space space) {
  return make_traits(AddressUse::Kind::hint, space);
}

}  // namespace traits
}  // namespace lab32::ptx
