// mma.sync and wmma.mma.
#include "simulator/core/execute/fragment_product.h"

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

static void multiply(const Exec& x, const Inst& in) {
  require_whole_warp(x, in);
  const FragmentOp& op = fragment_op(x, in);
  uint64_t a[kMostElements], b[kMostElements], c[kMostElements], d[kMostElements];
  gather(op.a, x.regs, a);
  gather(op.b, x.regs, b);
  gather(op.c, x.regs, c);
  multiply_tile(op.form, a, b, c, d);
  scatter(op.d, d, x.regs);
}

static ExecFn pick_product(const ptx::Instruction& in) {
  fragment_op_of(in);  // refuses what it does not know
  return multiply;
}

ExecFn pick_mma(const ptx::Instruction& in) { return pick_product(in); }
ExecFn pick_wmma_mma_half(const ptx::Instruction& in) { return pick_product(in); }
ExecFn pick_wmma_mma(const ptx::Instruction& in) { return pick_product(in); }
ExecFn pick_wmma_bmma(const ptx::Instruction& in) { return pick_product(in); }

}  // namespace lab32::sim
