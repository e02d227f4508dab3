// The positions of elements in fragments, the metadata of sparse ones, and products of fragments.
#include <algorithm>
#include <cstring>

#include "simulator/core/isa/fragments.h"
#include "simulator/core/semantics/lanes.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

namespace {

using Role = MatrixFragment::Role;

constexpr int kPiece = 8;  // rows of a piece

// Calls f(element's index in a[row * k + i], b[column * k + i] or c[row * n + column], register of
// all lanes, lane, position of its lowest bit).
template <class F>
void for_each_element(const MatrixFragment& fragment, F f) {
  const int per = fragment.per_register();
  const uint16_t* place = fragment.places.data();
  for (int r = 0; r < fragment.registers(); ++r)
    for (int lane = 0; lane < kWarpSize; ++lane)
      for (int e = 0; e < per; ++e) f(*place++, r, lane, e * fragment.bits());
}

uint64_t bit_mask_of_element(const MatrixFragment& fragment) {
  return fragment.bits() == 64 ? ~uint64_t{0} : (uint64_t{1} << fragment.bits()) - 1;
}

uint64_t register_value(const std::byte* regs, const RegisterSlot& slot, int lane) {
  const std::byte* const from = regs + slot.offset;
  return slot.bytes == 8 ? load_lane<uint64_t>(from, lane) : load_lane<uint32_t>(from, lane);
}

}  // namespace

void gather_elements(const MatrixFragment& fragment, const std::byte* regs, uint64_t* to) {
  const uint64_t mask = bit_mask_of_element(fragment);
  for_each_element(fragment, [&](int index, int r, int lane, int bit) {
    to[index] = register_value(regs, fragment.slots[static_cast<size_t>(r)], lane) >> bit & mask;
  });
}

void scatter_elements(const MatrixFragment& fragment, const uint64_t* from, std::byte* regs) {
  uint64_t values[32][kWarpSize] = {};
  for_each_element(fragment, [&](int index, int r, int lane, int bit) {
    values[r][lane] |= from[index] << bit;
  });
  for (int r = 0; r < fragment.registers(); ++r) {
    const RegisterSlot& slot = fragment.slots[static_cast<size_t>(r)];
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if (slot.bytes == 8)
        store_lane<uint64_t>(regs + slot.offset, lane, values[r][lane]);
      else
        store_lane<uint32_t>(regs + slot.offset, lane, static_cast<uint32_t>(values[r][lane]));
    }
  }
}

void MatrixFragment::compute_positions() {
  for (int r = 0; r < registers(); ++r)
    for (int lane = 0; lane < kWarpSize; ++lane)
      for (int e = 0; e < per_register(); ++e) {
        const MatrixPosition at = position_of_element(r, lane, e);
        const int index =
            role == Role::right ? at.column * rows + at.row : at.row * columns + at.column;
        places.push_back(static_cast<uint16_t>(index));
      }
}

MatrixPosition MatrixFragment::position_of_element(int r, int lane, int e) const {
  if (in_quad_pairs) return position_in_quad_pairs(r, lane, e);
  if (transposed) {
    MatrixFragment other;
    other.role = role == Role::left ? Role::right : role == Role::right ? Role::left : Role::sum;
    other.rows = columns, other.columns = rows, other.type = type;
    const MatrixPosition at = other.position_of_element(r, lane, e);
    return {at.column, at.row};
  }
  const int group = lane / 4, own = lane % 4, per = per_register();
  if (role == Role::sum) {
    const int pieces = rows / kPiece, piece = (r * per + e) / 2;
    return {piece % pieces * kPiece + group, piece / pieces * kPiece + own * 2 + (r * per + e) % 2};
  }
  const int depth = 4 * per, along = (role == Role::left ? columns : rows) / depth;
  if (role == Role::right) {
    return {r % along * depth + own * per + e, r / along * kPiece + group};
  }
  // The order of pieces: two pieces of rows, then along k, then the next two pieces of rows.
  const int beside = std::min(rows / kPiece, 2), chunk = r / (beside * along),
            rest = r % (beside * along);
  return {(chunk * beside + rest % beside) * kPiece + group, rest / beside * depth + own * per + e};
}

// The matrices of quad q belong to lanes 4q … 4q + 3 and to the lanes 16 higher. The latter have
// the rows of A, columns of B and rows of the sum from 4 on.
MatrixPosition MatrixFragment::position_in_quad_pairs(int r, int lane, int e) const {
  const int i = r * per_register() + e, own = lane % 4, half = lane / 16 * 4;
  const int before = lane % 16 / 4 * 8;  // rows (columns for B) of the matrices before this quad's
  switch (role) {
    case Role::left:
      return by_columns ? MatrixPosition{before + half + i, own}
                        : MatrixPosition{before + half + own, i};
    case Role::right:
      return by_columns ? MatrixPosition{own, before + half + i}
                        : MatrixPosition{i, before + half + own};
    default:
      if (bits() == 16) return {before + half + own, i};
      return {before + half + (own & 1) + (i & 2), (i & 4) + (own & 2) + (i & 1)};
  }
}

// ---------------------------------------------------------------------------------------------

namespace {

constexpr int kRowsOfA = 16, kLanesOfGroup = 4;
constexpr int kChunksOfLane = 8;

// Stored elements of a chunk.
int nonzeros_per_sparse_chunk(const FragmentOp& op) {
  if (op.form.a == ptx::DataType::tf32) return 1;
  return op.a.bits() == 4 ? 4 : 2;
}
int sparse_chunks_per_row(const FragmentOp& op) {
  return op.form.stored_columns() / nonzeros_per_sparse_chunk(op);
}

// Whether a lane has metadata of both of its rows (four chunks each), as for elements of 16 bits
// and more.
bool has_both_rows(const FragmentOp& op) { return op.a.bits() >= 16; }

int metadata_lanes_needed(const FragmentOp& op) {
  const int of_row = kChunksOfLane / (has_both_rows(op) ? 2 : 1);
  return sparse_chunks_per_row(op) / of_row * (has_both_rows(op) ? 1 : 2);
}

uint32_t sparse_metadata_of(const FragmentOp& op, const std::byte* regs, int row, int chunk) {
  const int below = row / (kRowsOfA / 2), first = op.selector * metadata_lanes_needed(op);
  const bool both = has_both_rows(op);
  const int own = both ? chunk / 4 : chunk / kChunksOfLane * 2 + below;
  const int place = both ? below * 4 + chunk % 4 : chunk % kChunksOfLane;
  const int lane = row % (kRowsOfA / 2) * kLanesOfGroup + first + own;
  return load_lane<uint32_t>(regs + op.metadata.offset, lane) >> (4 * place) & 0xf;
}

}  // namespace

int selectors_of(const FragmentOp& op) { return kLanesOfGroup / metadata_lanes_needed(op); }

void read_sparse_k_indices(const FragmentOp& op, const std::byte* regs, uint16_t* k_index) {
  const int kept = nonzeros_per_sparse_chunk(op);
  for (int row = 0; row < kRowsOfA; ++row)
    for (int chunk = 0; chunk < sparse_chunks_per_row(op); ++chunk) {
      const uint32_t indices = sparse_metadata_of(op, regs, row, chunk);
      for (int i = 0; i < kept; ++i) {
        const auto first = static_cast<int>(indices & 3), second = static_cast<int>(indices >> 2);
        const int place = kept == 1   ? first / 2
                          : kept == 2 ? (i == 0 ? first : second)
                                      : (i < 2 ? first : second) * 2 + i % 2;
        *k_index++ = static_cast<uint16_t>(chunk * kept * 2 + place);
      }
    }
}

uint32_t rows_with_undefined_metadata(const FragmentOp& op, const std::byte* undefined) {
  uint32_t rows = 0;
  for (int row = 0; row < kRowsOfA; ++row)
    for (int chunk = 0; chunk < sparse_chunks_per_row(op); ++chunk)
      if (sparse_metadata_of(op, undefined, row, chunk) != 0) rows |= 1u << row;
  return rows;
}

// ---------------------------------------------------------------------------------------------
// mma.sync, mma.sp and wmma.mma.

const FragmentOp& fragment_op(const ExecContext& x, const Inst& in) {
  return x.warp->program().fragment_ops[in.target];
}

void require_whole_warp(const ExecContext& x, const Inst& in) {
  if (x.mask == kFullMask) return;
  TrapFacts facts = x.warp->facts(TrapReason::warp_divided);
  facts.name = in.ptx->op->base;
  facts.warp->lanes = x.mask;
  x.warp->trap(in, std::move(facts));
}

namespace {

// The matrices of a product in the layout of multiply_tile; several tiles are consecutive.
struct MmaMatricesABCD {
  uint64_t a[kMostElements], b[kMostElements], c[kMostElements], d[kMostElements];
  uint16_t k_index[kMaxSparseElements];

  // Reads the elements from `elements`, a register file of values or of undefined bits, and the
  // metadata from the values in `regs`.
  MmaMatricesABCD(const FragmentOp& op, const std::byte* elements, const std::byte* regs) {
    gather_elements(op.a, elements, a);
    gather_elements(op.b, elements, b);
    gather_elements(op.c, elements, c);
    if (op.form.sparse) read_sparse_k_indices(op, regs, k_index);
  }
};

}  // namespace

static void multiply_fragments(const ExecContext& x, const Inst& in) {
  require_whole_warp(x, in);
  const FragmentOp& op = fragment_op(x, in);
  const MmaForm& f = op.form;
  MmaMatricesABCD all(op, x.regs, x.regs);
  for (int t = 0; t < op.tiles; ++t)
    multiply_tile(f, all.a + t * f.m * f.stored_columns(), all.b + t * f.n * f.k,
                  all.c + t * f.m * f.n, all.d + t * f.m * f.n, all.k_index);
  scatter_elements(op.d, all.d, x.regs);
}

void propagate_undefined_bits(const FragmentOp& op, const std::byte* regs, std::byte* undefined) {
  MmaMatricesABCD all(op, undefined, regs);
  const MmaForm& f = op.form;
  const uint32_t unsure = f.sparse ? rows_with_undefined_metadata(op, undefined) : 0;
  const uint64_t every_bit = op.d.bits() == 64 ? ~uint64_t{0} : (uint64_t{1} << op.d.bits()) - 1;
  for (int row = 0; row < op.tiles * f.m; ++row)
    for (int column = 0; column < f.n; ++column) {
      uint64_t any = all.c[row * f.n + column] | (unsure >> (row % f.m) & 1);
      const uint64_t* const left = all.a + row * f.stored_columns();
      const uint64_t* const right = all.b + (row / f.m * f.n + column) * f.k;
      for (int i = 0; i < f.stored_columns(); ++i)
        any |= left[i] | right[f.sparse ? all.k_index[row * f.stored_columns() + i] : i];
      all.d[row * f.n + column] = any != 0 ? every_bit : 0;
    }
  scatter_elements(op.d, all.d, undefined);
}

static ExecFn pick_fragment_product(const ptx::Instruction& in) {
  fragment_op_of(in);  // throws if the form is not supported
  return multiply_fragments;
}

ExecFn pick_mma(const ptx::Instruction& in) { return pick_fragment_product(in); }
ExecFn pick_mma_sparse(const ptx::Instruction& in) { return pick_fragment_product(in); }
ExecFn pick_wmma_mma_half(const ptx::Instruction& in) { return pick_fragment_product(in); }
ExecFn pick_wmma_mma(const ptx::Instruction& in) { return pick_fragment_product(in); }
ExecFn pick_wmma_bmma(const ptx::Instruction& in) { return pick_fragment_product(in); }

}  // namespace lab32::sim
