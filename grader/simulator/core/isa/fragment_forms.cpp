// Decodes products and moves of fragments, and refuses forms that the PTX ISA lacks.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "simulator/core/isa/fragments.h"
#include "simulator/core/warp/function_slots.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {
namespace {

using ptx::DataType;
using ptx::Modifier;
using Role = MatrixFragment::Role;

struct MatrixShape {
  Modifier mod;
  int m, n, k;
};
constexpr MatrixShape kShapes[] = {
    {Modifier::m8n8k4, 8, 8, 4},       {Modifier::m8n8k16, 8, 8, 16},
    {Modifier::m8n8k32, 8, 8, 32},     {Modifier::m8n8k128, 8, 8, 128},
    {Modifier::m16n8k4, 16, 8, 4},     {Modifier::m16n8k8, 16, 8, 8},
    {Modifier::m16n8k16, 16, 8, 16},   {Modifier::m16n8k32, 16, 8, 32},
    {Modifier::m16n8k64, 16, 8, 64},   {Modifier::m16n8k128, 16, 8, 128},
    {Modifier::m16n8k256, 16, 8, 256}, {Modifier::m16n16k16, 16, 16, 16},
    {Modifier::m32n8k16, 32, 8, 16},   {Modifier::m8n32k16, 8, 32, 16},
    {Modifier::m16n16k8, 16, 16, 8},
};

MatrixShape shape_of(const ptx::Instruction& in) {
  for (const MatrixShape& shape : kShapes)
    if (in.has(shape.mod)) return shape;
  refuse(in);
}

bool is_wmma(const ptx::Instruction& in) { return in.op->base == "wmma"; }
bool is_sparse(const ptx::Instruction& in) {
  return in.has(Modifier::sp) || in.has(Modifier::sp_ordered);
}
bool is_byte(DataType type) { return type == DataType::s8 || type == DataType::u8; }
bool is_nibble(DataType type) { return type == DataType::s4 || type == DataType::u4; }
bool is_float8(DataType type) { return type == DataType::e4m3 || type == DataType::e5m2; }

bool isa_has_sparse_shape(int k, DataType type) {
  if (type == DataType::tf32) return k == 8 || k == 16;
  if (type == DataType::f16 || type == DataType::bf16) return k == 16 || k == 32;
  if (is_byte(type)) return k == 32 || k == 64;
  return is_nibble(type) ? k == 64 || k == 128 : k == 64;
}

// Whether the ISA has the shape for factors of that type.
bool isa_has_shape(const ptx::Instruction& in, const MatrixShape& s, DataType type) {
  const auto k_is = [&](std::initializer_list<int> all) {
    return std::count(all.begin(), all.end(), s.k) != 0;
  };
  if (is_wmma(in)) {
    if (type == DataType::tf32) return s.n == 16 && s.k == 8;
    if (type == DataType::f64) return s.k == 4;
    if (type == DataType::u4 || type == DataType::s4) return s.k == 32;
    if (type == DataType::b1) return s.k == 128;
    return s.k == 16 && s.m * s.n == 256;
  }
  if (is_sparse(in)) return isa_has_sparse_shape(s.k, type);
  const bool small = s.m == 8;
  switch (type) {
    case DataType::f16:
      return small ? s.k == 4 : k_is({8, 16});
    case DataType::bf16:
      return !small && k_is({8, 16});
    case DataType::e4m3:
    case DataType::e5m2:
      return !small && k_is({16, 32});
    case DataType::tf32:
      return !small && k_is({4, 8});
    case DataType::f64:
      return small ? s.k == 4 : k_is({4, 8, 16});
    case DataType::s8:
    case DataType::u8:
      return small ? s.k == 16 : k_is({16, 32});
    case DataType::s4:
    case DataType::u4:
      return small ? s.k == 32 : k_is({32, 64});
    default:
      return small ? s.k == 128 : k_is({128, 256});
  }
}

// m8n8k4 of halves computes four independent products.
bool is_in_quad_pairs(const MmaForm& f) { return f.a == DataType::f16 && f.m == 8 && f.k == 4; }

int sparsity_selector_of(const ptx::Instruction& in) {
  const ptx::Operand &metadata = in.operands[4], &selector = in.operands[5];
  if (metadata.kind != ptx::Operand::Kind::reg) refuse(in, "the metadata are those of a register");
  if (selector.kind != ptx::Operand::Kind::integer || selector.value < 0 || selector.value > 3)
    refuse(in, "the sparsity selector is a constant from 0 to 3");
  return static_cast<int>(selector.value);
}

void check_types_of_product(const ptx::Instruction& in, const MmaForm& f) {
  const bool integers = is_byte(f.a) || is_nibble(f.a) || f.a == DataType::b1;
  const auto both = [&](bool (*are)(DataType)) { return are(f.a) && are(f.b); };
  const bool pair =
      f.a == f.b || (!is_wmma(in) && (both(is_byte) || both(is_nibble) || both(is_float8)));
  const bool half_sum = f.c == DataType::f16 && f.d == DataType::f16,
             float_sum = f.c == DataType::f32 && f.d == DataType::f32;
  const bool sums = f.a == DataType::f64 ? f.c == DataType::f64 && f.d == DataType::f64
                    : integers           ? f.c == DataType::s32 && f.d == DataType::s32
                    : f.a == DataType::f16 && is_wmma(in)
                        ? f.c != DataType::s32 && f.d != DataType::s32
                        : float_sum || (half_sum && (f.a == DataType::f16 || is_float8(f.a))) ||
                              (is_in_quad_pairs(f) && f.c == DataType::f16 && f.d == DataType::f32);
  const bool logic = in.has(Modifier::op_xor) || in.has(Modifier::op_and) || in.has(Modifier::popc);
  const bool bits = f.a == DataType::b1;
  const bool other_layouts = !is_wmma(in) && !in.has(Modifier::row_col) && !is_in_quad_pairs(f);
  if (!pair || !sums || logic != bits || (bits && !in.has(Modifier::popc)) || other_layouts ||
      (f.saturates && (!integers || bits)) || (in.has(Modifier::rn) && f.a != DataType::f64))
    refuse(in);
  if (f.sparse && is_float8(f.a) && half_sum)
    refuse(in, "sparse products of 8-bit floats have sums of floats only on sm_90");
}

MatrixFragment make_fragment(MatrixFragment::Role role, int rows, int columns, DataType type,
                             bool transposed) {
  MatrixFragment m;
  m.role = role, m.rows = rows, m.columns = columns, m.type = type, m.transposed = transposed;
  return m;
}

FragmentOp decode_fragment_product(const ptx::Instruction& in) {
  FragmentOp op;
  MmaForm& f = op.form;
  const MatrixShape s = shape_of(in);
  f.m = s.m, f.n = s.n, f.k = s.k;
  const bool short_form = in.type_count == 2;  // wmma of halves names only the types of C and D
  f.d = in.type(0);
  f.a = short_form ? DataType::f16 : in.type(1);
  f.b = short_form ? DataType::f16 : in.type(2);
  f.c = in.type(short_form ? 1 : 3);
  f.saturates = in.has(Modifier::satfinite);
  f.is_and = in.has(Modifier::op_and);
  f.sparse = is_sparse(in);
  check_types_of_product(in, f);
  if (!isa_has_shape(in, s, f.a)) refuse(in);
  // ptxas compiles wmma's product of tf32 to two consecutive instructions, each of which adds 4
  // products in one step.
  f.block = is_wmma(in) && f.a == DataType::tf32 ? 4 : f.stored_columns();
  if (is_float8(f.a)) f.order = MmaForm::Order::halves_apart, f.block = f.stored_columns() / 2;
  const bool in_quad_pairs = is_in_quad_pairs(f), transposed = s.n == 32;
  op.tiles = in_quad_pairs ? 4 : 1;
  op.a = make_fragment(Role::left, op.tiles * f.m, f.stored_columns(), f.a, transposed);
  op.b = make_fragment(Role::right, f.k, op.tiles * f.n, f.b, transposed);
  op.c = make_fragment(Role::sum, op.tiles * f.m, f.n, f.c, transposed);
  op.d = make_fragment(Role::sum, op.tiles * f.m, f.n, f.d, transposed);
  if (in_quad_pairs) {
    f.order = MmaForm::Order::float_chain;
    for (MatrixFragment* m : {&op.a, &op.b, &op.c, &op.d}) m->in_quad_pairs = true;
    op.a.by_columns = in.has(Modifier::col_row) || in.has(Modifier::col_col);
    op.b.by_columns = in.has(Modifier::row_row) || in.has(Modifier::col_row);
  }
  if (f.sparse) {
    op.selector = sparsity_selector_of(in);
    if (op.selector >= selectors_of(op))
      refuse(in, fmt::format("the sparsity selector is below {} here", selectors_of(op)));
  }
  return op;
}

FragmentOp decode_wmma_load_or_store(const ptx::Instruction& in) {
  FragmentOp op;
  const MatrixShape s = shape_of(in);
  const DataType type = in.type(0);
  op.by_columns = in.has(Modifier::col);
  const bool transposed = s.n == 32;
  const bool of_sum = in.has(Modifier::c) || in.has(Modifier::d);
  const bool is_sum = type == DataType::f32 || type == DataType::s32 || type == DataType::f16 ||
                      type == DataType::f64;
  const bool is_factor = type != DataType::f32 && type != DataType::s32;
  if (!(of_sum ? is_sum : is_factor)) refuse(in);
  if (of_sum) {
    const bool fits = type == DataType::f64   ? s.k == 4
                      : type == DataType::s32 ? s.k == 16 || s.k >= 32
                      : type == DataType::f32 ? s.k == 16 || s.n == 16
                                              : s.k == 16;
    if (!fits) refuse(in);
    op.moved = make_fragment(Role::sum, s.m, s.n, type, transposed);
    return op;
  }
  if (!isa_has_shape(in, s, type)) refuse(in);
  const bool left = in.has(Modifier::a);
  if ((is_nibble(type) || type == DataType::b1) && op.by_columns == left) refuse(in);
  op.moved = left ? make_fragment(Role::left, s.m, s.k, type, transposed)
                  : make_fragment(Role::right, s.k, s.n, type, transposed);
  return op;
}

}  // namespace

FragmentOp fragment_op_of(const ptx::Instruction& in) {
  return in.op->traits.memory_count > 0 ? decode_wmma_load_or_store(in)
                                        : decode_fragment_product(in);
}

FragmentOp fragment_op_of(const ptx::Instruction& in, RegisterFileLayout& slots) {
  FragmentOp op = fragment_op_of(in);
  const auto fill = [&](MatrixFragment& fragment, const ptx::Operand& registers) {
    const auto differ = static_cast<size_t>(fragment.registers());
    for (const ptx::Operand& r : registers.elements) fragment.slots.push_back(slots.reg(r.reg));
    const size_t count = fragment.slots.size();
    const bool twice =
        is_wmma(in) && fragment.type == DataType::f16 && fragment.role != Role::sum && count == 8;
    if (count != differ && !twice)
      throw Error(
          fmt::format("`{}` takes {} registers there, not {}", opcode_text_of(in), differ, count));
    fragment.compute_positions();
  };
  if (in.op->traits.memory_count == 0) {
    fill(op.d, in.operands[0]);
    fill(op.a, in.operands[1]);
    fill(op.b, in.operands[2]);
    fill(op.c, in.operands[3]);
    if (op.form.sparse) op.metadata = slots.reg(in.operands[4].reg);
  } else {
    fill(op.moved, in.operands[in.op->operands[0].is_dest ? 0 : 1]);
    op.parts = access_parts_of(op);
    if (in.has_operand(2)) op.stride = slots.value_slot(in.operands[2], 4, DataType::u32, in);
  }
  return op;
}

}  // namespace lab32::sim
