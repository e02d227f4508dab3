// The traits of an instruction: what it does besides computing. Each row of opcodes.def states its
// own; whoever asks "does it access memory", "who waits there", "what does it cost" asks here.
#pragma once

#include <array>
#include <cstdint>

namespace lab32::ptx {

enum class Space : uint8_t { reg, sreg, constant, global, local, param, shared, generic };

// What the time model prices it as (model/instruction_cost.cpp).
enum class Issue : uint8_t {
  unset,
  nothing,        // becomes an operand, or nothing at all
  move,           // ptxas folds most of them away
  alu,            // logic, comparison, selection: one instruction of the integer pipeline
  add,            // additions: ptxas spreads them over two pipelines
  shift_left,     // likewise, as a product by a power of two
  multiply,       // low half: four times as much for 64 bits
  multiply_high,  // or carries of it: twice that
  multiply_once,  // one multiply-add, whatever the type
  divide,         // integer division: a sequence
  convert,
  fp,         // one floating-point instruction, by type
  fp_divide,  // a subroutine
  fp_root,    // reciprocal and root, rounded: a subroutine
  half,
  special,         // one pass through the special unit
  special_range,   // and one instruction that brings the argument into range
  special_scaled,  // and those that scale subnormals
  special_divide,  // and those around an approximate division
  memory,          // by what it reads and writes
  copy_wait,
  shuffle,
  vote,
  match,
  tensor,  // a product of matrices
  texture,
  barrier,
  branch,
};

// Where control goes from there.
enum class ControlTransfer : uint8_t { next, branch, table_branch, call, ret, exit, trap };

// Who is synchronised with whom.
enum class Sync : uint8_t {
  none,
  warp,          // lanes of a warp exchange values: executed when all named lanes have come
  warp_barrier,  // they only meet
  block,         // a barrier of the block: waits
  block_arrive,  // arrives there without waiting
  cluster,       // waits for all threads of the cluster
  cluster_arrive,
  mbarrier,  // makes, unmakes or asks a barrier object
  mbarrier_arrive,
  fence,
};

// What happens at the address of one `mem` operand.
struct MemoryUse {
  enum class Kind : uint8_t { none, load, store, update, hint };
  Kind kind = Kind::none;
  Space space = Space::generic;  // generic: the one that a modifier names, if any does
};

struct Traits {
  Issue issue = Issue::unset;
  ControlTransfer transfer = ControlTransfer::next;
  Sync sync = Sync::none;
  std::array<MemoryUse, 2> memory{};  // of the `mem` operands, in their order
  uint8_t memory_count = 0;
  bool carry = false;          // uses the carry flag
  bool wider = false;          // its registers may be wider than its types
  bool matrix = false;         // lanes name rows of 8x8 matrices, and all 32 take part
  bool fragments = false;      // its registers hold matrices spread over all 32 lanes
  bool all_lanes = false;      // all 32 lanes take part, and no operand names them
  bool reads_texels = false;   // through a texture or surface object
  bool writes_texels = false;  // through a surface object
  bool bulk = false;           // moves memory by the copy engine, past the pipeline that is counted
  bool read_only = false;      // loads what nothing in the kernel changes
  bool ptx_level = false;      // what ptxas makes of it is not known here

  constexpr bool of_whole_warp() const { return matrix || fragments || all_lanes; }
  constexpr bool uses(MemoryUse::Kind kind) const {
    return memory[0].kind == kind || memory[1].kind == kind;
  }
  // Moves data between registers and a memory whose traffic the hardware counts. Not parameters,
  // which are operands in constant memory; not barrier objects; not hints.
  constexpr bool accesses_memory() const {
    return memory_count > 0 && memory[0].space != Space::param && !uses(MemoryUse::Kind::hint) &&
           sync != Sync::mbarrier && sync != Sync::mbarrier_arrive;
  }
  // Accesses device memory by a way of its own, which has counters of its own.
  constexpr bool is_texture() const { return reads_texels || writes_texels; }
  constexpr bool is_atomic() const { return accesses_memory() && uses(MemoryUse::Kind::update); }
  constexpr bool is_block_barrier() const {
    return sync == Sync::block || sync == Sync::block_arrive;
  }
  constexpr bool is_cluster_barrier() const {
    return sync == Sync::cluster || sync == Sync::cluster_arrive;
  }
  constexpr bool is_mbarrier() const {
    return sync == Sync::mbarrier || sync == Sync::mbarrier_arrive;
  }
  constexpr bool leaves_function() const {
    return transfer == ControlTransfer::ret || transfer == ControlTransfer::exit;
  }
  // May give another result when it is executed again with the same operands.
  constexpr bool may_change() const {
    return accesses_memory() || is_texture() || bulk || is_mbarrier() || sync == Sync::warp ||
           sync == Sync::block || sync == Sync::cluster;
  }
  // Something that another warp or block may be waiting for. (An atomic whose result is read may
  // itself be the waiting: whoever decodes it looks.)
  constexpr bool is_progress() const {
    return is_block_barrier() || is_cluster_barrier() || sync == Sync::mbarrier_arrive ||
           leaves_function() || writes_texels || bulk ||
           (accesses_memory() && (uses(MemoryUse::Kind::store) || uses(MemoryUse::Kind::update)));
  }
};

// The words of the last column of opcodes.def.
namespace traits {

constexpr Traits operator|(Traits a, const Traits& b) {
  if (b.issue != Issue::unset) a.issue = b.issue;
  if (b.transfer != ControlTransfer::next) a.transfer = b.transfer;
  if (b.sync != Sync::none) a.sync = b.sync;
  for (uint8_t i = 0; i < b.memory_count; ++i) a.memory[a.memory_count++] = b.memory[i];
  a.carry |= b.carry;
  a.wider |= b.wider;
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

constexpr Traits of(Issue issue) {
  Traits t;
  t.issue = issue;
  return t;
}
constexpr Traits of(ControlTransfer transfer) {
  Traits t;
  t.issue = transfer == ControlTransfer::trap ? Issue::alu : Issue::branch;
  t.transfer = transfer;
  return t;
}
constexpr Traits of(Sync sync) {
  Traits t;
  t.sync = sync;
  return t;
}
constexpr Traits of(bool Traits::*flag) {
  Traits t;
  t.*flag = true;
  return t;
}
constexpr Traits of(MemoryUse::Kind kind, Space space) {
  Traits t;
  t.memory[0] = {kind, space};
  t.memory_count = 1;
  return t;
}

constexpr Traits nothing = of(Issue::nothing), move = of(Issue::move), alu = of(Issue::alu),
                 add = of(Issue::add), shift_left = of(Issue::shift_left),
                 multiply = of(Issue::multiply), multiply_high = of(Issue::multiply_high),
                 multiply_once = of(Issue::multiply_once), divide = of(Issue::divide),
                 convert = of(Issue::convert), fp = of(Issue::fp), fp_divide = of(Issue::fp_divide),
                 fp_root = of(Issue::fp_root), half = of(Issue::half), special = of(Issue::special),
                 special_range = of(Issue::special_range),
                 special_scaled = of(Issue::special_scaled),
                 special_divide = of(Issue::special_divide), memory = of(Issue::memory),
                 copy_wait = of(Issue::copy_wait), shuffle = of(Issue::shuffle),
                 vote = of(Issue::vote), match = of(Issue::match), tensor = of(Issue::tensor),
                 texture = of(Issue::texture), barrier = of(Issue::barrier);

constexpr Traits branches = of(ControlTransfer::branch),
                 table_branches = of(ControlTransfer::table_branch),
                 calls = of(ControlTransfer::call), returns = of(ControlTransfer::ret),
                 exits = of(ControlTransfer::exit), traps = of(ControlTransfer::trap);

constexpr Traits syncs_warp = of(Sync::warp), meets_warp = of(Sync::warp_barrier),
                 syncs_block = of(Sync::block), arrives_block = of(Sync::block_arrive),
                 syncs_cluster = of(Sync::cluster), arrives_cluster = of(Sync::cluster_arrive),
                 on_mbarrier = of(Sync::mbarrier), arrives_mbarrier = of(Sync::mbarrier_arrive),
                 fences = of(Sync::fence);

constexpr Traits carry = of(&Traits::carry), wider = of(&Traits::wider),
                 matrix = of(&Traits::matrix), fragments = of(&Traits::fragments),
                 all_lanes = of(&Traits::all_lanes), reads_texels = of(&Traits::reads_texels),
                 writes_texels = of(&Traits::writes_texels), bulk = of(&Traits::bulk),
                 read_only = of(&Traits::read_only), ptx_level = of(&Traits::ptx_level);

// `any`: the space that a modifier of the instruction names; without one, the address is generic.
constexpr Space global = Space::global, shared = Space::shared, param = Space::param,
                any = Space::generic;

constexpr Traits loads(Space space) { return of(MemoryUse::Kind::load, space); }
constexpr Traits stores(Space space) { return of(MemoryUse::Kind::store, space); }
constexpr Traits updates(Space space) { return of(MemoryUse::Kind::update, space); }
constexpr Traits hints(Space space) { return of(MemoryUse::Kind::hint, space); }

}  // namespace traits
}  // namespace lab32::ptx
