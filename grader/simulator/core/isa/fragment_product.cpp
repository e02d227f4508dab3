// mma.sync, mma.sp and wmma.mma.
#include "simulator/core/isa/fragment_product.h"

#include "simulator/core/isa/fragment_forms.h"
#include "simulator/core/isa/fragment_sparsity.h"

namespace lab32::sim {

const FragmentOp& fragment_op(const Exec& x, const Inst& in) {
  return x.warp->program().fragment_ops[in.target];
}

void require_whole_warp(const Exec& x, const Inst& in) {
  if (x.mask == kFullMask) return;
  TrapFacts facts = x.warp->facts(TrapReason::warp_divided);
  facts.name = in.ptx->op->base;
  facts.warp->lanes = x.mask;
  x.warp->trap(in, std::move(facts));
}

namespace {

// The matrices of a product, as in multiply_tile; of several tiles one behind the other.
struct Matrices {
  uint64_t a[kMostElements], b[kMostElements], c[kMostElements], d[kMostElements];
  uint16_t meets[kMostMet];

  // The elements from one file of registers, where they meet from that of their values.
  Matrices(const FragmentOp& op, const std::byte* elements, const std::byte* regs) {
    gather(op.a, elements, a);
    gather(op.b, elements, b);
    gather(op.c, elements, c);
    if (op.form.sparse) read_sparsity(op, regs, meets);
  }
};

}  // namespace

static void multiply(const Exec& x, const Inst& in) {
  require_whole_warp(x, in);
  const FragmentOp& op = fragment_op(x, in);
  const TileForm& f = op.form;
  Matrices all(op, x.regs, x.regs);
  for (int t = 0; t < op.tiles; ++t)
    multiply_tile(f, all.a + t * f.m * f.kept(), all.b + t * f.n * f.k, all.c + t * f.m * f.n,
                  all.d + t * f.m * f.n, all.meets);
  scatter(op.d, all.d, x.regs);
}

void follow_undefined(const FragmentOp& op, const std::byte* regs, std::byte* undefined) {
  Matrices all(op, undefined, regs);
  const TileForm& f = op.form;
  const uint32_t unsure = f.sparse ? rows_of_undefined_metadata(op, undefined) : 0;
  const uint64_t every_bit = op.d.bits() == 64 ? ~uint64_t{0} : (uint64_t{1} << op.d.bits()) - 1;
  for (int row = 0; row < op.tiles * f.m; ++row)
    for (int column = 0; column < f.n; ++column) {
      uint64_t any = all.c[row * f.n + column] | (unsure >> (row % f.m) & 1);
      const uint64_t* const left = all.a + row * f.kept();
      const uint64_t* const right = all.b + (row / f.m * f.n + column) * f.k;
      for (int i = 0; i < f.kept(); ++i)
        any |= left[i] | right[f.sparse ? all.meets[row * f.kept() + i] : i];
      all.d[row * f.n + column] = any != 0 ? every_bit : 0;
    }
  scatter(op.d, all.d, undefined);
}

static ExecFn pick_product(const ptx::Instruction& in) {
  fragment_op_of(in);  // refuses what it does not know
  return multiply;
}

ExecFn pick_mma(const ptx::Instruction& in) { return pick_product(in); }
ExecFn pick_mma_sparse(const ptx::Instruction& in) { return pick_product(in); }
ExecFn pick_wmma_mma_half(const ptx::Instruction& in) { return pick_product(in); }
ExecFn pick_wmma_mma(const ptx::Instruction& in) { return pick_product(in); }
ExecFn pick_wmma_bmma(const ptx::Instruction& in) { return pick_product(in); }

}  // namespace lab32::sim
