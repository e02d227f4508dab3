// Decodes products and moves of fragments, and refuses forms that the PTX ISA lacks.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "simulator/core/isa/fragments.h"
#include "simulator/core/warp/function_slots.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {
namespace {

using ptx::Mod;
using ptx::Type;
using Role = Fragment::Role;

struct MatrixShape {
  Mod mod;
  int m, n, k;
};
constexpr MatrixShape kShapes[] = {
    {Mod::m8n8k4, 8, 8, 4},       {Mod::m8n8k16, 8, 8, 16},     {Mod::m8n8k32, 8, 8, 32},
    {Mod::m8n8k128, 8, 8, 128},   {Mod::m16n8k4, 16, 8, 4},     {Mod::m16n8k8, 16, 8, 8},
    {Mod::m16n8k16, 16, 8, 16},   {Mod::m16n8k32, 16, 8, 32},   {Mod::m16n8k64, 16, 8, 64},
    {Mod::m16n8k128, 16, 8, 128}, {Mod::m16n8k256, 16, 8, 256}, {Mod::m16n16k16, 16, 16, 16},
    {Mod::m32n8k16, 32, 8, 16},   {Mod::m8n32k16, 8, 32, 16},   {Mod::m16n16k8, 16, 16, 8},
};

MatrixShape shape_of(const ptx::Instruction& in) {
  for (const MatrixShape& shape : kShapes)
    if (in.has(shape.mod)) return shape;
  refuse(in);
}

bool is_wmma(const ptx::Instruction& in) { return in.op->base == "wmma"; }
bool is_sparse(const ptx::Instruction& in) { return in.has(Mod::sp) || in.has(Mod::sp_ordered); }
bool is_byte(Type type) { return type == Type::s8 || type == Type::u8; }
bool is_nibble(Type type) { return type == Type::s4 || type == Type::u4; }
bool is_float8(Type type) { return type == Type::e4m3 || type == Type::e5m2; }

bool has_sparse_shape(int k, Type type) {
  if (type == Type::tf32) return k == 8 || k == 16;
  if (type == Type::f16 || type == Type::bf16) return k == 16 || k == 32;
  if (is_byte(type)) return k == 32 || k == 64;
  return is_nibble(type) ? k == 64 || k == 128 : k == 64;
}

// Whether the ISA has the shape for factors of that type.
bool has_shape(const ptx::Instruction& in, const MatrixShape& s, Type type) {
  const auto k_is = [&](std::initializer_list<int> all) {
    return std::count(all.begin(), all.end(), s.k) != 0;
  };
  if (is_wmma(in)) {
    if (type == Type::tf32) return s.n == 16 && s.k == 8;
    if (type == Type::f64) return s.k == 4;
    if (type == Type::u4 || type == Type::s4) return s.k == 32;
    if (type == Type::b1) return s.k == 128;
    return s.k == 16 && s.m * s.n == 256;
  }
  if (is_sparse(in)) return has_sparse_shape(s.k, type);
  const bool small = s.m == 8;
  switch (type) {
    case Type::f16:
      return small ? s.k == 4 : k_is({8, 16});
    case Type::bf16:
      return !small && k_is({8, 16});
    case Type::e4m3:
    case Type::e5m2:
      return !small && k_is({16, 32});
    case Type::tf32:
      return !small && k_is({4, 8});
    case Type::f64:
      return small ? s.k == 4 : k_is({4, 8, 16});
    case Type::s8:
    case Type::u8:
      return small ? s.k == 16 : k_is({16, 32});
    case Type::s4:
    case Type::u4:
      return small ? s.k == 32 : k_is({32, 64});
    default:
      return small ? s.k == 128 : k_is({128, 256});
  }
}

// m8n8k4 of halves computes four independent products.
bool is_in_quads(const TileForm& f) { return f.a == Type::f16 && f.m == 8 && f.k == 4; }

int sparsity_selector_of(const ptx::Instruction& in) {
  const ptx::Operand &metadata = in.operands[4], &selector = in.operands[5];
  if (metadata.kind != ptx::Operand::Kind::reg) refuse(in, "the metadata are those of a register");
  if (selector.kind != ptx::Operand::Kind::integer || selector.value < 0 || selector.value > 3)
    refuse(in, "the sparsity selector is a constant from 0 to 3");
  return static_cast<int>(selector.value);
}

void check_types(const ptx::Instruction& in, const TileForm& f) {
  const bool integers = is_byte(f.a) || is_nibble(f.a) || f.a == Type::b1;
  const auto both = [&](bool (*are)(Type)) { return are(f.a) && are(f.b); };
  const bool pair =
      f.a == f.b || (!is_wmma(in) && (both(is_byte) || both(is_nibble) || both(is_float8)));
  const bool half_sum = f.c == Type::f16 && f.d == Type::f16,
             float_sum = f.c == Type::f32 && f.d == Type::f32;
  const bool sums = f.a == Type::f64 ? f.c == Type::f64 && f.d == Type::f64
                    : integers       ? f.c == Type::s32 && f.d == Type::s32
                    : f.a == Type::f16 && is_wmma(in)
                        ? f.c != Type::s32 && f.d != Type::s32
                        : float_sum || (half_sum && (f.a == Type::f16 || is_float8(f.a))) ||
                              (is_in_quads(f) && f.c == Type::f16 && f.d == Type::f32);
  const bool logic = in.has(Mod::op_xor) || in.has(Mod::op_and) || in.has(Mod::popc);
  const bool bits = f.a == Type::b1;
  const bool other_layouts = !is_wmma(in) && !in.has(Mod::row_col) && !is_in_quads(f);
  if (!pair || !sums || logic != bits || (bits && !in.has(Mod::popc)) || other_layouts ||
      (f.saturates && (!integers || bits)) || (in.has(Mod::rn) && f.a != Type::f64))
    refuse(in);
  if (f.sparse && is_float8(f.a) && half_sum)
    refuse(in, "sparse products of 8-bit floats have sums of floats only on sm_90");
}

Fragment make_fragment(Fragment::Role role, int rows, int columns, Type type, bool transposed) {
  Fragment m;
  m.role = role, m.rows = rows, m.columns = columns, m.type = type, m.transposed = transposed;
  return m;
}

FragmentOp product_of(const ptx::Instruction& in) {
  FragmentOp op;
  TileForm& f = op.form;
  const MatrixShape s = shape_of(in);
  f.m = s.m, f.n = s.n, f.k = s.k;
  const bool short_form = in.type_count == 2;  // wmma of halves names only the types of C and D
  f.d = in.type(0);
  f.a = short_form ? Type::f16 : in.type(1);
  f.b = short_form ? Type::f16 : in.type(2);
  f.c = in.type(short_form ? 1 : 3);
  f.saturates = in.has(Mod::satfinite);
  f.is_and = in.has(Mod::op_and);
  f.sparse = is_sparse(in);
  check_types(in, f);
  if (!has_shape(in, s, f.a)) refuse(in);
  // ptxas compiles wmma's product of tf32 to two consecutive instructions, each of which adds 4
  // products in one step.
  f.block = is_wmma(in) && f.a == Type::tf32 ? 4 : f.stored_columns();
  if (is_float8(f.a)) f.order = TileForm::Order::halves_apart, f.block = f.stored_columns() / 2;
  const bool in_quads = is_in_quads(f), transposed = s.n == 32;
  op.tiles = in_quads ? 4 : 1;
  op.a = make_fragment(Role::left, op.tiles * f.m, f.stored_columns(), f.a, transposed);
  op.b = make_fragment(Role::right, f.k, op.tiles * f.n, f.b, transposed);
  op.c = make_fragment(Role::sum, op.tiles * f.m, f.n, f.c, transposed);
  op.d = make_fragment(Role::sum, op.tiles * f.m, f.n, f.d, transposed);
  if (in_quads) {
    f.order = TileForm::Order::float_chain;
    for (Fragment* m : {&op.a, &op.b, &op.c, &op.d}) m->in_quads = true;
    op.a.by_columns = in.has(Mod::col_row) || in.has(Mod::col_col);
    op.b.by_columns = in.has(Mod::row_row) || in.has(Mod::col_row);
  }
  if (f.sparse) {
    op.selector = sparsity_selector_of(in);
    if (op.selector >= selectors_of(op))
      refuse(in, fmt::format("the sparsity selector is below {} here", selectors_of(op)));
  }
  return op;
}

FragmentOp movmatrix_op(const ptx::Instruction& in) {
  FragmentOp op;
  const MatrixShape s = shape_of(in);
  const Type type = in.type(0);
  op.by_columns = in.has(Mod::col);
  const bool transposed = s.n == 32;
  const bool of_sum = in.has(Mod::c) || in.has(Mod::d);
  const bool is_sum =
      type == Type::f32 || type == Type::s32 || type == Type::f16 || type == Type::f64;
  const bool is_factor = type != Type::f32 && type != Type::s32;
  if (!(of_sum ? is_sum : is_factor)) refuse(in);
  if (of_sum) {
    const bool fits = type == Type::f64   ? s.k == 4
                      : type == Type::s32 ? s.k == 16 || s.k >= 32
                      : type == Type::f32 ? s.k == 16 || s.n == 16
                                          : s.k == 16;
    if (!fits) refuse(in);
    op.moved = make_fragment(Role::sum, s.m, s.n, type, transposed);
    return op;
  }
  if (!has_shape(in, s, type)) refuse(in);
  const bool left = in.has(Mod::a);
  if ((is_nibble(type) || type == Type::b1) && op.by_columns == left) refuse(in);
  op.moved = left ? make_fragment(Role::left, s.m, s.k, type, transposed)
                  : make_fragment(Role::right, s.k, s.n, type, transposed);
  return op;
}

}  // namespace

FragmentOp fragment_op_of(const ptx::Instruction& in) {
  return in.op->traits.memory_count > 0 ? movmatrix_op(in) : product_of(in);
}

FragmentOp fragment_op_of(const ptx::Instruction& in, FunctionSlots& slots) {
  FragmentOp op = fragment_op_of(in);
  const auto fill = [&](Fragment& fragment, const ptx::Operand& registers) {
    const auto differ = static_cast<size_t>(fragment.registers());
    for (const ptx::Operand& r : registers.elements) fragment.slots.push_back(slots.reg(r.reg));
    const size_t count = fragment.slots.size();
    const bool twice =
        is_wmma(in) && fragment.type == Type::f16 && fragment.role != Role::sum && count == 8;
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
    op.parts = parts_of(op);
    if (in.has_operand(2)) op.stride = slots.value(in.operands[2], 4, Type::u32, in);
  }
  return op;
}

}  // namespace lab32::sim
