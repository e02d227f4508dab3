// Matrices that the lanes of a warp hold together, in their registers: where each element is, and
// the products of the tensor cores (mma.sync, wmma.mma) and the moves (wmma.load, wmma.store) of
// such matrices.
//
// A register holds `per` neighbours of 32 / per bits (one of 32 or 64). Lane l belongs to group
// l / 4 and is number l % 4 of it. A matrix is made of pieces of 8 rows (of A; columns of B) and
// 4 * per places along k, one register each: group g holds row g, its lane t places t * per and
// following. C and D are made of pieces of 8x8: lane t of group g holds (g, 2t) and (g, 2t + 1).
// So says the PTX ISA for mma.sync; for wmma it says nothing, and this is what an H200 does.
//
// A sparse A is laid out as a dense matrix of the elements that it has. m8n8k4 of halves is four
// products side by side, and laid out in a way of its own (cell_in_quads).
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/core/semantics/tensor_core.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

class FunctionSlots;

struct Cell {
  int row = 0, column = 0;
};

struct Fragment {
  enum class Role : uint8_t { left, right, sum };  // A; B; C and D
  Role role = Role::left;
  int rows = 0, columns = 0;
  ptx::Type type{};
  bool transposed = false;  // laid out as the transposed matrix in the other role is
  bool in_quads = false;    // four matrices of m8n8k4, one below the other; of B side by side
  bool by_columns = false;  // in quads: a lane holds elements of a column (of A; a row of B)
  std::vector<Slot> slots;  // wmma has some twice

  int bits() const { return static_cast<int>(ptx::bits_of(type)); }
  int per_register() const { return bits() >= 32 ? 1 : 32 / bits(); }
  int registers() const { return rows * columns / (kWarpSize * per_register()); }  // that differ
  std::vector<uint16_t> places;  // of each register, lane, element: see fragment_products.cpp
  void place();
  // Where element `e` of register `r` of a lane lies in the matrix.
  Cell cell(int r, int lane, int e) const;

 private:
  Cell cell_in_quads(int r, int lane, int e) const;
};

// One instruction on fragments. Those that it lacks have no slots.
struct FragmentOp {
  TileForm form;
  int tiles = 1;  // products of that form
  Fragment a, b, c, d;
  Slot metadata;            // of a sparse A: where its elements stand; read_sparsity()
  int selector = 0;         // of the lanes whose metadata count
  Fragment moved;           // load, store
  bool by_columns = false;  // load, store: the matrix in memory
  Slot stride;              // load, store: in elements; bytes 0: as wide as the matrix
};

constexpr int kMostElements = 4096;  // of a matrix: 16 x 256 bits
// The elements of a matrix in registers, ordered as multiply_tile wants them.
void gather(const Fragment& fragment, const std::byte* regs, uint64_t* to);
void scatter(const Fragment& fragment, const uint64_t* from, std::byte* regs);

// ---------------------------------------------------------------------------------------------
// What an instruction on fragments says: its shape and types, and where its matrices lie.

// Without slots. Throws lab32::Error for a form that the ISA does not have, or that is not
// simulated.
FragmentOp fragment_op_of(const ptx::Instruction& in);
// With its slots, but for the address of a load or store.
FragmentOp fragment_op_of(const ptx::Instruction& in, FunctionSlots& slots);

// ---------------------------------------------------------------------------------------------
// What instructions on fragments need of the warp that executes them.

const FragmentOp& fragment_op(const Exec& x, const Inst& in);
// All 32 lanes must take part: stops the warp where they do not.
void require_whole_warp(const Exec& x, const Inst& in);
// Which bits of a product are undefined, from those of its operands, in `undefined`, which is laid
// out as the registers `regs` are.
void follow_undefined(const FragmentOp& op, const std::byte* regs, std::byte* undefined);

// ---------------------------------------------------------------------------------------------
// Where the elements of a sparse A stand (PTX ISA 9.0, 9.7.14.6): the metadata of mma.sp.
//
// A row is made of chunks of 4 places (of tf32: 2, of 4-bit integers: 8), of which half are there.
// Four bits of metadata say which of a chunk: two indices, of 4-bit integers those of pairs; of
// tf32 the index is that of a half of the element, so that the first is 0b0100 and the second
// 0b1110. The lanes of group g hold those of rows g and g + 8, eight chunks each; which of the four
// lanes do where fewer are needed, the selector says. The ISA shows it in figures; an H200 was
// asked (2026-11-26), one chunk at a time.

// How many selectors there are for the form of `op`.
int selectors_of(const FragmentOp& op);

constexpr int kMaxSparseElements = 16 * 64;  // elements of a sparse A
// For each element of A, as multiply_tile wants it, the k at which it stands.
void read_sparsity(const FragmentOp& op, const std::byte* regs, uint16_t* k_index);
// A bit for each row of A of whose metadata some bit is undefined.
uint32_t rows_of_undefined_metadata(const FragmentOp& op, const std::byte* undefined);

}  // namespace lab32::sim
