#include "simulator/core/schedule/independent_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "simulator/core/isa/memory_lanes.h"

namespace lab32::sim {

namespace {

using ptx::Modifier;
using ptx::Operand;
using ptx::OpId;
using Kind = ptx::Operand::Kind;

// Finds the registers of a kernel whose values are affine, and its accesses to device memory.
class AffineAnalysis {
 public:
  AffineAnalysis(const LaunchContext& launch, const LaunchIndexRanges& ranges)
      : launch_(launch),
        ranges_(ranges),
        function_(*launch.program->functions[0].ptx),
        params_(ptx::parameter_offsets(function_.params, nullptr)),
        value_(function_.registers.size()),
        writer_(function_.registers.size(), kNobody) {}

  // False: the analysis failed.
  bool analyse_kernel() {
    find_writers();
    for (size_t i = 0; i < function_.body.size(); ++i) {
      const ptx::Instruction& in = function_.body[i];
      if (!is_of_supported_kind(in)) return false;
      if (in.op->traits.has_counted_memory_access() && !record_access_of(i)) return false;
      record_value(i);
    }
    return true;
  }
  std::vector<AffineAccess> accesses() && { return std::move(accesses_); }

 private:
  static constexpr int kNobody = -1, kSeveral = -2;

  void find_writers() {
    for (size_t i = 0; i < function_.body.size(); ++i) {
      const ptx::Instruction& in = function_.body[i];
      for (size_t o = 0; o < in.operands.size(); ++o)
        if (in.op->operands[o].is_dest) record_writer(in.operands[o], static_cast<int>(i));
    }
  }
  void record_writer(const Operand& op, int by) {
    if (op.kind == Kind::reg) {
      int& writer = writer_[static_cast<size_t>(op.reg)];
      writer = writer == kNobody ? by : kSeveral;
    }
    for (const Operand& e : op.elements) record_writer(e, by);
  }

  static bool is_of_supported_kind(const ptx::Instruction& in) {
    const ptx::InstructionTraits& t = in.op->traits;
    return t.transfer != ptx::ControlTransfer::call &&
           t.transfer != ptx::ControlTransfer::table_branch && !t.bulk && !t.is_texture() &&
           !t.is_cluster_barrier() && !t.is_mbarrier();
  }

  // ---- values ----

  void record_value(size_t i) {
    const ptx::Instruction& in = function_.body[i];
    if (in.operands.empty() || in.operands[0].kind != Kind::reg || in.guard >= 0) return;
    const auto to = static_cast<size_t>(in.operands[0].reg);
    if (writer_[to] != static_cast<int>(i)) return;
    // A wider register gets the sign-extended or the zero-extended value, depending on the type.
    if (in.op->traits.allows_wider_registers && bits_of(in.operands[0]) != ptx::bits_of(in.type()))
      return;
    value_[to] = result_of_instruction(in);
  }
  unsigned bits_of(const Operand& reg) const {
    return function_.registers[static_cast<size_t>(reg.reg)].bits;
  }

  std::optional<AffineExpression> result_of_instruction(const ptx::Instruction& in) const {
    const auto source = [&](size_t o) { return value_of_operand(in.operands[o]); };
    switch (in.op->id) {
      case OpId::ld_param:
        return value_of_parameter(in);
      case OpId::mov:
      case OpId::cvta:
      case OpId::cvta_to:
        return ptx::bits_of(in.type()) < 32 ? std::nullopt : source(1);
      case OpId::add_int:
        return is_wide(in) ? add_affine(source(1), source(2)) : std::nullopt;
      case OpId::sub_int:
        return is_wide(in) && source(1) && source(2) ? subtract_checked(*source(1), *source(2))
                                                     : std::nullopt;
      case OpId::mul_lo:
        return is_wide(in) ? multiply_affine(source(1), source(2)) : std::nullopt;
      case OpId::mad_lo:
        return is_wide(in) ? add_affine(multiply_affine(source(1), source(2)), source(3))
                           : std::nullopt;
      case OpId::mul_wide:
        return multiply_affine(converted_to_type(in.type(), source(1)),
                               converted_to_type(in.type(), source(2)));
      case OpId::mad_wide:
        return add_affine(multiply_affine(converted_to_type(in.type(), source(1)),
                                          converted_to_type(in.type(), source(2))),
                          source(3));
      case OpId::shl:
        return shift_affine(in, source(1), source(2));
      case OpId::cvt:
        return convert_affine(in, source(1));
      default:
        return {};
    }
  }

  // The value of an n-bit register is known modulo 2^n, which is enough for sums and products. A
  // conversion to a wider type needs the exact range (converted_to_type()).
  static bool is_wide(const ptx::Instruction& in) { return ptx::bits_of(in.type()) >= 32; }

  std::optional<AffineExpression> converted_to_type(
      ptx::DataType type, const std::optional<AffineExpression>& a) const {
    if (!a || ptx::bits_of(type) < 32) return {};
    const ValueRange r = ranges_.range(*a);
    const unsigned bits = ptx::bits_of(type);
    const bool with_sign = ptx::is_signed(type);
    const Exact end = Exact{1} << (with_sign ? bits - 1 : bits);
    return r.low >= (with_sign ? -end : 0) && r.high < end ? a : std::nullopt;
  }
  static std::optional<AffineExpression> add_affine(const std::optional<AffineExpression>& a,
                                                    const std::optional<AffineExpression>& b) {
    return a && b ? add_checked(*a, *b) : std::nullopt;
  }
  static std::optional<AffineExpression> multiply_affine(const std::optional<AffineExpression>& a,
                                                         const std::optional<AffineExpression>& b) {
    if (!a || !b) return {};
    if (a->is_constant()) return multiply_checked(*b, a->constant);
    return b->is_constant() ? multiply_checked(*a, b->constant) : std::nullopt;
  }
  static std::optional<AffineExpression> shift_affine(const ptx::Instruction& in,
                                                      const std::optional<AffineExpression>& a,
                                                      const std::optional<AffineExpression>& by) {
    if (!is_wide(in) || !a || !by || !by->is_constant()) return {};
    if (by->constant < 0 || by->constant >= static_cast<int>(ptx::bits_of(in.type())) - 1)
      return {};
    return multiply_checked(*a, int64_t{1} << by->constant);
  }
  std::optional<AffineExpression> convert_affine(const ptx::Instruction& in,
                                                 const std::optional<AffineExpression>& a) const {
    const ptx::DataType to = in.type(0), from = in.type(1);
    if (ptx::is_float(to) || ptx::is_float(from) || in.has(Modifier::sat)) return {};
    if (ptx::bits_of(to) < 32 || ptx::bits_of(from) < 32) return {};
    return ptx::bits_of(to) > ptx::bits_of(from) ? converted_to_type(from, a) : a;
  }

  std::optional<AffineExpression> value_of_parameter(const ptx::Instruction& in) const {
    const Operand& from = in.operands[1];
    if (from.reg >= 0 || ptx::is_float(in.type()) || ptx::bits_of(in.type()) < 32) return {};
    for (size_t p = 0; p < function_.params.size(); ++p) {
      if (function_.params[p].name != from.name) continue;
      const uint64_t at = launch_.param_address + params_[p] + static_cast<uint64_t>(from.value);
      AffineExpression a;
      if (ptx::bits_of(in.type()) == 64) {
        std::memcpy(&a.constant, launch_.memory->host(at), 8);
        return a;
      }
      int32_t value;
      std::memcpy(&value, launch_.memory->host(at), 4);
      a.constant = value;
      return a;
    }
    return {};
  }
  std::optional<AffineExpression> value_of_operand(const Operand& op) const {
    AffineExpression a;
    switch (op.kind) {
      case Kind::reg:
        return value_[static_cast<size_t>(op.reg)];
      case Kind::integer:
        a.constant = op.value;
        return a;
      case Kind::special:
        return value_of_special(op.special);
      default:
        return {};
    }
  }
  std::optional<AffineExpression> value_of_special(ptx::SpecialReg reg) const {
    using ptx::SpecialReg;
    // The component of the special register in the vector that begins with `x`: 0 to 2 for .x to
    // .z. 3: it is a register of another vector.
    const auto side = [&](SpecialReg x) {
      return std::min<size_t>(static_cast<size_t>(reg) - static_cast<size_t>(x), 3);
    };
    AffineExpression a;
    if (const size_t i = side(SpecialReg::tid_x); i < 3)
      a.factor[i] = 1;
    else if (const size_t j = side(SpecialReg::ctaid_x); j < 3)
      a.factor[3 + j] = 1;
    else if (const size_t k = side(SpecialReg::ntid_x); k < 3)
      a.constant = ranges_.last(k) + 1;
    else if (const size_t l = side(SpecialReg::nctaid_x); l < 3)
      a.constant = ranges_.last(3 + l) + 1;
    else
      return {};
    return a;
  }

  // ---- accesses ----

  bool record_access_of(size_t i) {
    const ptx::Instruction& in = function_.body[i];
    const ptx::InstructionTraits& traits = in.op->traits;
    if (traits.memory_count != 1) return false;
    const ptx::Space own = traits.memory[0].space;
    const ptx::Space space = own == ptx::Space::generic ? space_of(in) : own;
    if (space != ptx::Space::global && space != ptx::Space::generic)
      return true;  // shared and local memory belong to the block
    if (traits.is_atomic() || traits.of_whole_warp()) return false;
    const bool store = traits.has_address_used_as(ptx::AddressUse::Kind::store);
    if (!store && is_in_loop(i)) return false;
    const Operand& at = in.operands[store ? 0 : 1];
    if (at.kind != Kind::address || at.reg < 0 || bits_of(at) != 64) return false;
    AffineExpression offset;
    offset.constant = at.value;
    const std::optional<AffineExpression> address =
        add_affine(value_[static_cast<size_t>(at.reg)], offset);
    if (!address) return false;
    AffineAccess access{*address, ptx::bytes_of(in.type()) * element_count(in), store, {}};
    if (in.guard >= 0) add_bounds_of_predicate(in.guard, !in.guard_negated, access.bounds);
    add_bounds_of_branches(i, access.bounds);
    const ValueRange r = ranges_.range(access.address, access.bounds);
    // An address outside of this range is not in device memory, or is invalid.
    if (r.low < kGlobalBase || r.high >= (Exact{1} << 63)) return false;
    accesses_.push_back(std::move(access));
    return true;
  }
  static unsigned element_count(const ptx::Instruction& in) {
    return in.has(Modifier::v4) ? 4 : in.has(Modifier::v2) ? 2 : 1;
  }

  static bool is_branch(const ptx::Instruction& in) {
    return in.op->traits.transfer == ptx::ControlTransfer::branch;
  }
  static size_t branch_target(const ptx::Instruction& in) {
    return static_cast<size_t>(in.operands[0].value);
  }
  bool is_in_loop(size_t i) const {
    for (size_t j = i; j < function_.body.size(); ++j)
      if (is_branch(function_.body[j]) && branch_target(function_.body[j]) <= i) return true;
    return false;
  }

  // Adds the bounds from branches that jump over the instruction.
  void add_bounds_of_branches(size_t i, std::vector<AffineInequality>& bounds) const {
    for (size_t j = 0; j < i; ++j) {
      const ptx::Instruction& in = function_.body[j];
      if (!is_branch(in) || in.guard < 0 || branch_target(in) <= i ||
          is_entered_from_outside(j, branch_target(in)))
        continue;
      add_bounds_of_predicate(in.guard, in.guard_negated, bounds);
    }
  }
  // Whether a branch from outside enters the code between the two instructions.
  bool is_entered_from_outside(size_t after, size_t before) const {
    for (size_t j = 0; j < function_.body.size(); ++j) {
      if (!is_branch(function_.body[j]) || (j > after && j < before)) continue;
      const size_t to = branch_target(function_.body[j]);
      if (to > after && to < before) return true;
    }
    return false;
  }

  // Adds the bounds that hold if the predicate has the value `is`.
  void add_bounds_of_predicate(int predicate, bool is,
                               std::vector<AffineInequality>& bounds) const {
    const int by = writer_[static_cast<size_t>(predicate)];
    if (by < 0) return;
    const ptx::Instruction& in = function_.body[static_cast<size_t>(by)];
    if (in.guard >= 0 || in.operands[0].kind != Kind::reg) return;
    const auto each = [&](bool value) {
      for (size_t o : {1, 2})
        if (in.operands[o].kind == Kind::reg)
          add_bounds_of_predicate(in.operands[o].reg, value != in.operands[o].negated, bounds);
    };
    if (in.op->id == OpId::or_pred && !is) each(false);
    if (in.op->id == OpId::and_pred && is) each(true);
    if (in.op->id == OpId::setp) add_bounds_of_comparison(in, is, bounds);
  }
  void add_bounds_of_comparison(const ptx::Instruction& in, bool is,
                                std::vector<AffineInequality>& bounds) const {
    if (ptx::is_float(in.type())) return;
    const std::optional<AffineExpression> a = converted_to_type(in.type(),
                                                                value_of_operand(in.operands[1])),
                                          b = converted_to_type(in.type(),
                                                                value_of_operand(in.operands[2]));
    if (!a || !b) return;
    const bool less = in.has(Modifier::lt) || in.has(Modifier::lo),
               up_to = in.has(Modifier::le) || in.has(Modifier::ls),
               more = in.has(Modifier::gt) || in.has(Modifier::hi),
               from = in.has(Modifier::ge) || in.has(Modifier::hs);
    if (!less && !up_to && !more && !from) return;
    const bool a_is_lower = (less || up_to) == is;
    const std::optional<AffineExpression> form =
        a_is_lower ? subtract_checked(*a, *b) : subtract_checked(*b, *a);
    const bool strictly = is ? less || more : up_to || from;
    if (form) bounds.push_back({*form, strictly ? -1 : 0});
  }

  const LaunchContext& launch_;
  const LaunchIndexRanges& ranges_;
  const ptx::Function& function_;
  const std::vector<uint32_t> params_;
  // The value of each register; only for registers that are written once.
  std::vector<std::optional<AffineExpression>> value_;
  std::vector<int> writer_;  // by register: the index of the writing instruction
  std::vector<AffineAccess> accesses_;
};

}  // namespace

std::optional<std::vector<AffineAccess>> affine_accesses(const LaunchContext& launch,
                                                         const LaunchIndexRanges& ranges) {
  AffineAnalysis analysis(launch, ranges);
  if (!analysis.analyse_kernel()) return {};
  return std::move(analysis).accesses();
}

// ---------------------------------------------------------------------------------------------

namespace {

// Longer kernels hardly ever qualify, and the analysis runs before each launch.
constexpr size_t kMostInstructions = 1000;

// Whether two accesses whose addresses differ only in the constant, by less than `reach` bytes, can
// overlap only within one block. The coordinates act as digits of a number: if the step of each
// coordinate exceeds the largest sum of all smaller ones, no two sums are equal.
bool can_overlap_only_within_block(const AffineExpression& address,
                                   const std::vector<AffineInequality>& bounds, Exact reach,
                                   const LaunchIndexRanges& ranges) {
  std::vector<size_t> order;
  for (size_t i = 0; i < kCoordinates; ++i) {
    if (ranges.last(i) == 0) continue;
    if (address.factor[i] != 0)
      order.push_back(i);
    else if (is_of_block(i))
      return false;
  }
  const auto step = [&](size_t i) { return Exact{std::abs(address.factor[i])}; };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return step(a) < step(b); });
  Exact span = reach;
  bool blocks = false;
  AffineExpression below;  // the sum of the terms with smaller steps
  for (const size_t i : order) {
    blocks |= is_of_block(i);
    if (blocks && step(i) < span) return false;
    span += step(i) * ranges.last(i);
    below.factor[i] = address.factor[i];
    const ValueRange bounded = ranges.range(below, bounds);
    span = std::min(span, reach + bounded.high - bounded.low);
  }
  return true;
}

bool are_independent(const AffineAccess& store, const AffineAccess& other,
                     const LaunchIndexRanges& ranges) {
  const ValueRange a = ranges.range(store.address, store.bounds),
                   b = ranges.range(other.address, other.bounds);
  if (a.high + store.bytes <= b.low || b.high + other.bytes <= a.low) return true;
  if (store.address.factor != other.address.factor) return false;
  // A bound is kept only if it holds for both accesses.
  std::vector<AffineInequality> both;
  for (const AffineInequality& bound : store.bounds)
    if (std::any_of(other.bounds.begin(), other.bounds.end(), [&](const AffineInequality& o) {
          return o.most == bound.most && o.form.constant == bound.form.constant &&
                 o.form.factor == bound.form.factor;
        }))
      both.push_back(bound);
  const Exact off = Exact{store.address.constant} - other.address.constant;
  return can_overlap_only_within_block(
      store.address, both, (off < 0 ? -off : off) + std::max(store.bytes, other.bytes), ranges);
}

}  // namespace

IndependenceProof prove_independent_blocks(const LaunchContext& launch) {
  const KernelProgram& program = *launch.program;
  if (program.functions.size() != 1 || program.order_sensitive || program.uses_heap ||
      program.launches_kernels || program.reads_clock || launch.has_clusters() ||
      launch.keep_going || launch.grid_workspace != 0)
    return {};
  // A register that is read before it is written has an unknown value.
  if (!program.functions[0].undefined.empty() ||
      program.functions[0].ptx->body.size() > kMostInstructions)
    return {};
  const LaunchIndexRanges ranges(launch.grid, launch.block);
  const auto accesses = affine_accesses(launch, ranges);
  if (!accesses) return {};
  IndependenceProof result;
  for (const AffineAccess& store : *accesses) {
    if (!store.store) continue;
    for (const AffineAccess& other : *accesses)
      if (!are_independent(store, other, ranges)) return {};
    const ValueRange r = ranges.range(store.address, store.bounds);
    result.written.emplace_back(static_cast<uint64_t>(r.low),
                                static_cast<uint64_t>(r.high) + store.bytes);
  }
  result.proven = true;
  return result;
}

}  // namespace lab32::sim
