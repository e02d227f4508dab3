#include "sim/opcode_traits.h"

#include "base/error.h"
#include "ptx/control_flow.h"

namespace lab32::sim {

using ptx::OpId;

namespace {

bool accesses_memory(OpId id) {
  switch (id) {
    case OpId::ld:
    case OpId::ld_nc:
    case OpId::ldu:
    case OpId::st:
    case OpId::atom:
    case OpId::atom_cas:
    case OpId::atom_vector:
    case OpId::red:
    case OpId::red_vector:
    case OpId::cp_async:
    case OpId::ldmatrix:
    case OpId::stmatrix:
      return true;
    default:
      return false;
  }
}

bool is_vector_atomic(OpId id) { return id == OpId::atom_vector || id == OpId::red_vector; }

AccessPlan as_written(const char* why) {
  AccessPlan plan;
  plan.ptx_level = true;
  plan.note = why;
  return plan;
}

}  // namespace

Flow flow_of(OpId id) {
  switch (id) {
    case OpId::bra:
    case OpId::brx:
      return Flow::branch;
    case OpId::call:
      return Flow::call;
    case OpId::ret:
      return Flow::ret;
    case OpId::exit:
      return Flow::exit;
    case OpId::trap:
    case OpId::brkpt:
      return Flow::trap;
    case OpId::shfl:
    case OpId::vote_pred:
    case OpId::vote_ballot:
    case OpId::match_any:
    case OpId::match_all:
    case OpId::redux:
    case OpId::bar_warp_sync:
    case OpId::ldmatrix:
    case OpId::stmatrix:
      return Flow::warp_sync;
    case OpId::bar_sync:
    case OpId::bar_arrive:
    case OpId::bar_red_popc:
    case OpId::bar_red_pred:
    case OpId::barrier_sync:
    case OpId::barrier_arrive:
    case OpId::barrier_red_popc:
    case OpId::barrier_red_pred:
      return Flow::block_sync;
    default:
      return Flow::straight;
  }
}

ExecFn pick(const ptx::Instruction& in) {
  switch (in.op->id) {
#define OP(id, pattern, operands) \
  case OpId::id:                  \
    return pick_##id(in);
#include "ptx/opcodes.def"
#undef OP
    case OpId::count_:
      break;
  }
  throw Error("an instruction without a row");
}

bool is_dynamic_special(ptx::SpecialReg reg) {
  using ptx::SpecialReg;
  switch (reg) {
    case SpecialReg::clock:
    case SpecialReg::clock_hi:
    case SpecialReg::clock64:
    case SpecialReg::globaltimer:
    case SpecialReg::globaltimer_lo:
    case SpecialReg::globaltimer_hi:
      return true;
    default:
      return false;
  }
}

bool is_result_read(const ptx::Function& function, const ptx::Instruction& in) {
  if (in.operands.empty() || in.operands[0].kind != ptx::Operand::Kind::reg) return false;
  const int reg = in.operands[0].reg;
  bool read = false;
  for (const ptx::Instruction& other : function.body)
    ptx::for_each_register(
        function, other, [&](int r, bool is_destination) { read |= r == reg && !is_destination; });
  return read;
}

bool needs_block_order(const ptx::Instruction& in, const Inst& decoded) {
  if (is_vector_atomic(in.op->id)) return true;  // sums of floats
  switch (in.op->id) {
    case OpId::atom:
    case OpId::atom_cas:
    case OpId::red:
      break;
    default:
      return false;
  }
  if (in.has(ptx::Mod::shared) || in.has(ptx::Mod::shared_cta)) return false;
  return is_order_sensitive(in, decoded.dst_count > 0 && decoded.dst[0].bytes != 0);
}

AccessPlan plan_for(const ptx::Instruction& in, const FunctionPlans* own, size_t index) {
  if (!accesses_memory(in.op->id)) return {};
  if (is_vector_atomic(in.op->id))
    return as_written("how the hardware counts vector atomics is not known here");
  if (own && index < own->size()) return (*own)[index];
  return as_written("no machine code at hand");
}

}  // namespace lab32::sim
