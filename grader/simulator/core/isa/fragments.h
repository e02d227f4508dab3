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
  std::vector<uint16_t> places;  // of each register, lane, element: see fragments.cpp
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
  Slot metadata;            // of a sparse A: where its elements stand; fragment_sparsity.h
  int selector = 0;         // of the lanes whose metadata count
  Fragment moved;           // load, store
  bool by_columns = false;  // load, store: the matrix in memory
  Slot stride;              // load, store: in elements; bytes 0: as wide as the matrix
};

constexpr int kMostElements = 4096;  // of a matrix: 16 x 256 bits
// The elements of a matrix in registers, ordered as multiply_tile wants them.
void gather(const Fragment& fragment, const std::byte* regs, uint64_t* to);
void scatter(const Fragment& fragment, const uint64_t* from, std::byte* regs);

}  // namespace lab32::sim
