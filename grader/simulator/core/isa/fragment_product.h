// What instructions on fragments need of the warp that executes them.
#pragma once

#include "simulator/core/isa/fragments.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

const FragmentOp& fragment_op(const Exec& x, const Inst& in);
// All 32 lanes must take part: stops the warp where they do not.
void require_whole_warp(const Exec& x, const Inst& in);
// Which bits of a product are undefined, from those of its operands, in `undefined`, which is laid
// out as the registers `regs` are.
void follow_undefined(const FragmentOp& op, const std::byte* regs, std::byte* undefined);

}  // namespace lab32::sim
