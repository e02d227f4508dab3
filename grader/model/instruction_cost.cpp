#include "model/instruction_cost.h"

namespace lab32::model {
namespace {

using ptx::Mod;
using ptx::OpId;
using ptx::Type;
using Waits = InstructionCost::Waits;

// Cycles from issue to a dependent one, on all cards since Volta (microbenchmarks fma_one,
// shared_chase and chase of data/measured/model; Jia et al., "Dissecting the NVIDIA Volta GPU
// Architecture via Microbenchmarking", 2018, table 4.1).
constexpr double kAlu = 4.5, kDouble = 8, kSpecial = 18;

InstructionCost on(double Issue::*pipe, double slots, double latency) {
  InstructionCost c;
  c.issue.all = slots;
  c.issue.*pipe = slots;
  c.latency = latency;
  return c;
}

InstructionCost logic(double slots) { return on(&Issue::alu, slots, slots > 0 ? kAlu : 0); }

// Additions, moves, shifts to the left: ptxas gives them to the integer and to the multiply-add
// pipeline in turn.
InstructionCost add(double slots) {
  InstructionCost c = logic(slots);
  c.issue.alu = slots / 2;
  c.issue.multiply = slots / 4;
  return c;
}

InstructionCost branch() {
  InstructionCost c;
  c.issue.all = 1;
  return c;
}

InstructionCost multiply(double slots) { return on(&Issue::multiply, slots, kAlu * slots); }

// One pass through the special unit with `around` ordinary instructions before and after.
InstructionCost special(double around) {
  InstructionCost c = on(&Issue::special, 1, kSpecial + kAlu * around);
  c.issue.all += around;
  c.issue.fp32 += around;
  return c;
}

// A subroutine or a long inline sequence: `fused` multiply-adds, `other` integer instructions.
InstructionCost sequence(double fused, double other, double specials) {
  InstructionCost c;
  c.issue.all = fused + other + specials;
  c.issue.fp32 = fused;
  c.issue.alu = other;
  c.issue.special = specials;
  c.latency = kAlu * (fused + other) + kSpecial * specials;
  return c;
}

InstructionCost memory(Waits waits, bool store) {
  InstructionCost c = on(&Issue::memory, 1, 0);
  c.waits = waits;
  c.is_store = store;
  return c;
}

bool is_wide(Type type) { return ptx::bits_of(type) == 64; }

Waits where(const ptx::Instruction& in) {
  if (in.has(Mod::shared) || in.has(Mod::shared_cta)) return Waits::shared;
  if (in.has(Mod::constant) || in.has(Mod::param)) return Waits::no;
  return Waits::global;  // generic: most often global
}

InstructionCost floating(const ptx::Instruction& in) {
  if (in.type() == Type::f64) return on(&Issue::fp64, 1, kDouble);
  return on(&Issue::fp32, 1, kAlu);
}

// Subnormals: without .ftz the argument is scaled before and the result after.
double scaling(const ptx::Instruction& in) { return in.has(Mod::ftz) ? 0 : 3; }

InstructionCost convert(const ptx::Instruction& in) {
  const Type to = in.type(0), from = in.type(1);
  if (to == Type::f64 || from == Type::f64) return special(0);
  if (ptx::is_float(to) != ptx::is_float(from)) return special(0);
  if (ptx::is_float(to)) return on(&Issue::alu, 1, kAlu);
  return logic(ptx::bits_of(to) > ptx::bits_of(from) && !ptx::is_signed(from) ? 0.5 : 1);
}

}  // namespace

void Issue::add(const Issue& other, double times) {
  for (double Issue::*pipe : {&Issue::all, &Issue::fp32, &Issue::alu, &Issue::multiply,
                              &Issue::half, &Issue::fp64, &Issue::special, &Issue::memory})
    this->*pipe += times * (other.*pipe);
}

InstructionCost cost_of(const ptx::Instruction& in) {
  const bool wide = in.type_count > 0 && is_wide(in.type());
  switch (in.op->id) {
    // Parameters are operands in constant memory; conversions of pointers are nothing.
    case OpId::ld_param:
    case OpId::st_param:
    case OpId::cvta:
    case OpId::cvta_to:
    case OpId::nop:
      return {};
    case OpId::mov:
    case OpId::mov_pred:
      if (in.has_operand(1) && in.operands[1].kind == ptx::Operand::Kind::special)
        return on(&Issue::alu, 1, 20);
      return add(0.25);

    case OpId::mul_lo:
    case OpId::mad_lo:
      return multiply(wide ? 4 : 1);
    case OpId::mul_hi:
    case OpId::mad_hi:
      return multiply(wide ? 8 : 2);
    case OpId::mul_wide:
    case OpId::mad_wide:
    case OpId::mul24:
    case OpId::mad24:
    case OpId::dp4a:
    case OpId::dp2a:
      return multiply(1);
    case OpId::div_int:
    case OpId::rem_int:
      return wide ? sequence(10, 60, 2) : sequence(4, 14, 2);
    case OpId::popc:
    case OpId::clz:
    case OpId::bfind:
    case OpId::brev:
      return special(0);

    case OpId::add_float:
    case OpId::sub_float:
    case OpId::mul_float:
    case OpId::fma_float:
    case OpId::mad_float:
      return floating(in);
    case OpId::div_float:
      return in.type() == Type::f64 ? on(&Issue::fp64, 14, kDouble * 10) : sequence(6, 3, 1);
    case OpId::div_approx:
      return special(in.has(Mod::full) ? 5 : 1);
    case OpId::rcp_rounded:
    case OpId::sqrt_rounded:
      return in.type() == Type::f64 ? on(&Issue::fp64, 12, kDouble * 9) : sequence(5, 4, 1);
    case OpId::rcp_approx:
      return special(0);
    case OpId::sqrt_approx:
    case OpId::rsqrt_approx:
    case OpId::lg2_approx:
    case OpId::ex2_approx:
      return special(scaling(in));
    case OpId::sin_approx:
    case OpId::cos_approx:
      return special(1);
    case OpId::tanh_approx:
      return special(0);

    case OpId::add_half:
    case OpId::sub_half:
    case OpId::mul_half:
    case OpId::fma_half:
    case OpId::neg_half:
    case OpId::abs_half:
    case OpId::min_half:
    case OpId::max_half:
    case OpId::set_half:
    case OpId::setp_half:
      return on(&Issue::half, 1, kAlu);
    case OpId::cvt:
      return convert(in);

    case OpId::ld_nc:
    case OpId::ldu: {
      InstructionCost c = memory(Waits::global, false);
      c.reads_only = true;
      return c;
    }
    case OpId::ld:
      return memory(where(in), false);
    case OpId::red:
    case OpId::red_vector: {
      InstructionCost c = memory(Waits::no, true);
      c.is_atomic = true;
      return c;
    }
    case OpId::st:
    case OpId::cp_async:
    case OpId::stmatrix:
      return memory(Waits::no, true);
    case OpId::ldmatrix:
      return memory(Waits::shared, false);
    case OpId::cp_async_wait:
    case OpId::cp_async_wait_all:
      return memory(Waits::global, true);
    case OpId::atom:
    case OpId::atom_cas:
    case OpId::atom_vector: {
      InstructionCost c = memory(where(in), false);
      c.is_atomic = true;
      return c;
    }
    case OpId::shfl:
      return memory(Waits::shuffle, false);
    case OpId::bar_sync:
    case OpId::barrier_sync:
    case OpId::bar_red_popc:
    case OpId::bar_red_pred:
    case OpId::barrier_red_popc:
    case OpId::barrier_red_pred: {
      InstructionCost c = memory(Waits::barrier, true);
      c.issue.memory = 0;  // a pipeline of its own: Work::barriers
      return c;
    }

    case OpId::vote_pred:
    case OpId::vote_ballot:
    case OpId::redux:
      return logic(2);
    case OpId::match_any:
    case OpId::match_all:
      return logic(8);
    case OpId::bra:
    case OpId::brx:
    case OpId::call:
    case OpId::ret:
    case OpId::exit:
      return branch();
    // Sums of 64 bits are addresses most of the time, and part of a multiply-add or of the access.
    case OpId::add_int:
    case OpId::sub_int:
      return add(1);
    case OpId::shl:  // a product by a power of two, where that suits ptxas
      return add(wide ? 2 : 1);
    default:
      return logic(wide ? 2 : 1);  // logic, shifts, comparison, selection
  }
}

}  // namespace lab32::model
