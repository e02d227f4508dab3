// Fragments: matrices that the lanes of a warp hold together in their registers. This header says
// in which lane, register and bit each element is. The instructions on fragments are products on
// the tensor cores (mma.sync, wmma.mma) and moves (wmma.load, wmma.store).
//
// A register holds `per` neighbouring elements of 32 / per bits (one element of 32 or 64 bits).
// Lane l is number l % 4 of group l / 4. A matrix consists of pieces of 8 rows (of A; columns of B)
// by 4 * per places along k, with one register for each piece: group g holds row g, and its lane t
// holds the places from t * per on. C and D consist of 8x8 pieces: lane t of group g holds (g, 2t)
// and (g, 2t + 1). The PTX ISA documents this for mma.sync. It leaves wmma open; the layout here is
// an H200's.
//
// A sparse A has the layout of a dense matrix of its stored elements. m8n8k4 of halves is four
// independent products and has its own layout (position_in_quad_pairs).
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/core/semantics/tensor_core.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

class RegisterFileLayout;

struct MatrixPosition {
  int row = 0, column = 0;
};

struct MatrixFragment {
  enum class Role : uint8_t { left, right, sum };  // A; B; C and D
  Role role = Role::left;
  int rows = 0, columns = 0;
  ptx::DataType type{};
  bool transposed = false;  // has the layout of the transposed matrix in the other role
  bool in_quad_pairs =
      false;                // four matrices of m8n8k4: A and C stacked vertically, B horizontally
  bool by_columns = false;  // in quads: a lane holds elements of one column of A, or one row of B
  std::vector<RegisterSlot> slots;  // wmma stores some registers twice

  int bits() const { return static_cast<int>(ptx::bits_of(type)); }
  int per_register() const { return bits() >= 32 ? 1 : 32 / bits(); }
  int registers() const { return rows * columns / (kWarpSize * per_register()); }  // distinct ones
  std::vector<uint16_t> places;  // by register, lane and element: see fragment_products.cpp
  void compute_positions();
  // The row and column of element `e` of register `r` of a lane.
  MatrixPosition position_of_element(int r, int lane, int e) const;

 private:
  MatrixPosition position_in_quad_pairs(int r, int lane, int e) const;
};

// A part of a fragment that one access of the warp moves: of `count` registers from `first` on,
// `bytes` of each, beginning with element `element`.
struct FragmentRegisterSlice {
  int first = 0, element = 0;
  unsigned count = 1, bytes = 4;
  bool transposed = false;  // each lane moves two halves that belong to other lanes
};

// One instruction on fragments. A fragment that the instruction lacks has no slots.
struct FragmentOp {
  MmaForm form;
  int tiles = 1;  // products of that form
  MatrixFragment a, b, c, d;
  RegisterSlot metadata;  // positions of the stored elements of a sparse A (read_sparse_k_indices)
  int selector = 0;       // which lanes of each group supply the metadata
  MatrixFragment moved;   // load, store
  bool by_columns = false;  // load, store: the matrix in memory
  RegisterSlot stride;      // load, store: in elements; bytes 0: the matrix's own width
  std::vector<FragmentRegisterSlice> parts;  // load, store: the accesses
};

constexpr int kMostElements = 4096;  // elements of one matrix: 16 rows of 256 bits
// Copies the elements of a fragment out of the registers, in the order of multiply_tile, and back.
void gather(const MatrixFragment& fragment, const std::byte* regs, uint64_t* to);
void scatter(const MatrixFragment& fragment, const uint64_t* from, std::byte* regs);

// ---------------------------------------------------------------------------------------------

// Decodes shape and types of an instruction on fragments, without slots. Throws lab32::Error for a
// form that the ISA lacks or the simulator does not support.
FragmentOp fragment_op_of(const ptx::Instruction& in);
// The accesses of a load or store. `op.moved` must have been placed.
std::vector<FragmentRegisterSlice> access_parts_of(const FragmentOp& op);
// The operation with its slots, except the address of a load or store.
FragmentOp fragment_op_of(const ptx::Instruction& in, RegisterFileLayout& slots);

// ---------------------------------------------------------------------------------------------

const FragmentOp& fragment_op(const ExecContext& x, const Inst& in);
// Traps unless all 32 lanes execute the instruction together.
void require_whole_warp(const ExecContext& x, const Inst& in);
// Computes which bits of a product are undefined from the undefined bits of its operands.
// `undefined` has the layout of the registers `regs`.
void propagate_undefined_bits(const FragmentOp& op, const std::byte* regs, std::byte* undefined);

// ---------------------------------------------------------------------------------------------
// The metadata of mma.sp: the positions of the stored elements of a sparse A (PTX ISA 9.0,
// 9.7.14.6).
//
// A row consists of chunks of 4 places (of tf32: 2; of 4-bit integers: 8), and half of the places
// of each chunk are stored. Four bits of metadata give their two indices; of 4-bit integers these
// are indices of pairs. For tf32 they are indices of halves of the element, so the first element is
// 0b0100 and the second 0b1110. The lanes of group g hold the metadata of rows g and g + 8, eight
// chunks each. If fewer than four lanes are needed, the selector chooses which. The ISA shows this
// in figures; measurements on an H200 (2026-11-26), one chunk at a time, confirm it.

// The number of valid selectors for the form of `op`.
int selectors_of(const FragmentOp& op);

constexpr int kMaxSparseElements = 16 * 64;  // elements of a sparse A
// Writes the k index of each stored element of A, in the order of multiply_tile.
void read_sparse_k_indices(const FragmentOp& op, const std::byte* regs, uint16_t* k_index);
// A mask of the rows of A whose metadata have an undefined bit.
uint32_t rows_with_undefined_metadata(const FragmentOp& op, const std::byte* undefined);

}  // namespace lab32::sim
