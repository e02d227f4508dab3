#include "simulator/core/execute/fragments.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {
namespace {

using ptx::Mod;
using ptx::Type;
using Role = Fragment::Role;

constexpr int kPiece = 8;  // rows of a piece

struct Shape {
  Mod mod;
  int m, n, k;
};
constexpr Shape kShapes[] = {
    {Mod::m8n8k4, 8, 8, 4},       {Mod::m8n8k16, 8, 8, 16},     {Mod::m8n8k32, 8, 8, 32},
    {Mod::m8n8k128, 8, 8, 128},   {Mod::m16n8k4, 16, 8, 4},     {Mod::m16n8k8, 16, 8, 8},
    {Mod::m16n8k16, 16, 8, 16},   {Mod::m16n8k32, 16, 8, 32},   {Mod::m16n8k64, 16, 8, 64},
    {Mod::m16n8k128, 16, 8, 128}, {Mod::m16n8k256, 16, 8, 256}, {Mod::m16n16k16, 16, 16, 16},
    {Mod::m32n8k16, 32, 8, 16},   {Mod::m8n32k16, 8, 32, 16},   {Mod::m16n16k8, 16, 16, 8},
};

Shape shape_of(const ptx::Instruction& in) {
  for (const Shape& shape : kShapes)
    if (in.has(shape.mod)) return shape;
  refuse(in);
}

bool is_wmma(const ptx::Instruction& in) { return in.op->base == "wmma"; }

// The k of the shapes that the ISA has, for factors of that type.
bool has_shape(const ptx::Instruction& in, const Shape& s, Type type) {
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
  const bool small = s.m == 8;
  switch (type) {
    case Type::f16:
    case Type::bf16:
      return !small && k_is({8, 16});
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

bool is_byte(Type type) { return type == Type::s8 || type == Type::u8; }
bool is_nibble(Type type) { return type == Type::s4 || type == Type::u4; }

void check_types(const ptx::Instruction& in, const TileForm& f) {
  const bool integers = is_byte(f.a) || is_nibble(f.a) || f.a == Type::b1;
  const bool pair =
      f.a == f.b ||
      (!is_wmma(in) && ((is_byte(f.a) && is_byte(f.b)) || (is_nibble(f.a) && is_nibble(f.b))));
  const bool half_sum = f.c == Type::f16 && f.d == Type::f16;
  const bool sums = f.a == Type::f64 ? f.c == Type::f64 && f.d == Type::f64
                    : integers       ? f.c == Type::s32 && f.d == Type::s32
                    : f.a == Type::f16 && is_wmma(in)
                        ? f.c != Type::s32 && f.d != Type::s32
                        : (f.a == Type::f16 && half_sum) || (f.c == Type::f32 && f.d == Type::f32);
  const bool logic = in.has(Mod::op_xor) || in.has(Mod::op_and) || in.has(Mod::popc);
  const bool bits = f.a == Type::b1;
  if (!pair || !sums || logic != bits || (bits && !in.has(Mod::popc)) ||
      (f.saturates && (!integers || bits)) || (in.has(Mod::rn) && f.a != Type::f64))
    refuse(in);
}

FragmentOp product_of(const ptx::Instruction& in) {
  FragmentOp op;
  TileForm& f = op.form;
  const Shape s = shape_of(in);
  f.m = s.m, f.n = s.n, f.k = s.k;
  const bool short_form = in.type_count == 2;  // wmma of halves names the sums only
  f.d = in.type(0);
  f.a = short_form ? Type::f16 : in.type(1);
  f.b = short_form ? Type::f16 : in.type(2);
  f.c = in.type(short_form ? 1 : 3);
  f.saturates = in.has(Mod::satfinite);
  f.is_and = in.has(Mod::op_and);
  if (f.a == Type::f16 && s.m == 8 && s.k == 4)
    refuse(in, "the shape m8n8k4 of halves, which is sm_70's, is not simulated");
  check_types(in, f);
  if (!has_shape(in, s, f.a)) refuse(in);
  // wmma's product of tf32 is two instructions of the machine, one behind the other.
  f.block = is_wmma(in) && f.a == Type::tf32 ? 4 : f.k;
  const bool transposed = s.n == 32;
  op.a = {Role::left, f.m, f.k, f.a, transposed, {}, {}};
  op.b = {Role::right, f.k, f.n, f.b, transposed, {}, {}};
  op.c = {Role::sum, f.m, f.n, f.c, transposed, {}, {}};
  op.d = {Role::sum, f.m, f.n, f.d, transposed, {}, {}};
  return op;
}

FragmentOp move_of(const ptx::Instruction& in) {
  FragmentOp op;
  const Shape s = shape_of(in);
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
    op.moved = {Role::sum, s.m, s.n, type, transposed, {}, {}};
    return op;
  }
  if (!has_shape(in, s, type)) refuse(in);
  const bool left = in.has(Mod::a);
  if ((is_nibble(type) || type == Type::b1) && op.by_columns == left) refuse(in);
  op.moved = left ? Fragment{Role::left, s.m, s.k, type, transposed, {}, {}}
                  : Fragment{Role::right, s.k, s.n, type, transposed, {}, {}};
  return op;
}

// Calls f(element's index in a[row * k + i], b[column * k + i] or c[row * n + column], register of
// all lanes, lane, position of its lowest bit).
template <class F>
void each_element(const Fragment& fragment, F f) {
  const int per = fragment.per_register();
  const uint16_t* place = fragment.places.data();
  for (int r = 0; r < fragment.registers(); ++r)
    for (int lane = 0; lane < kWarpSize; ++lane)
      for (int e = 0; e < per; ++e) f(*place++, r, lane, e * fragment.bits());
}

uint64_t mask_of(const Fragment& fragment) {
  return fragment.bits() == 64 ? ~uint64_t{0} : (uint64_t{1} << fragment.bits()) - 1;
}

uint64_t read(const std::byte* regs, const Slot& slot, int lane) {
  const std::byte* const from = regs + slot.offset;
  return slot.bytes == 8 ? load_lane<uint64_t>(from, lane) : load_lane<uint32_t>(from, lane);
}

}  // namespace

void gather(const Fragment& fragment, const std::byte* regs, uint64_t* to) {
  const uint64_t mask = mask_of(fragment);
  each_element(fragment, [&](int index, int r, int lane, int bit) {
    to[index] = read(regs, fragment.slots[static_cast<size_t>(r)], lane) >> bit & mask;
  });
}

void scatter(const Fragment& fragment, const uint64_t* from, std::byte* regs) {
  uint64_t values[32][kWarpSize] = {};
  each_element(fragment,
               [&](int index, int r, int lane, int bit) { values[r][lane] |= from[index] << bit; });
  for (int r = 0; r < fragment.registers(); ++r) {
    const Slot& slot = fragment.slots[static_cast<size_t>(r)];
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if (slot.bytes == 8)
        store_lane<uint64_t>(regs + slot.offset, lane, values[r][lane]);
      else
        store_lane<uint32_t>(regs + slot.offset, lane, static_cast<uint32_t>(values[r][lane]));
    }
  }
}

void Fragment::place() {
  for (int r = 0; r < registers(); ++r)
    for (int lane = 0; lane < kWarpSize; ++lane)
      for (int e = 0; e < per_register(); ++e) {
        const Cell at = cell(r, lane, e);
        const int index =
            role == Role::right ? at.column * rows + at.row : at.row * columns + at.column;
        places.push_back(static_cast<uint16_t>(index));
      }
}

Cell Fragment::cell(int r, int lane, int e) const {
  if (transposed) {
    Fragment other = {role == Role::left    ? Role::right
                      : role == Role::right ? Role::left
                                            : Role::sum,
                      columns,
                      rows,
                      type,
                      false,
                      {},
                      {}};
    const Cell at = other.cell(r, lane, e);
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
  // Two pieces of rows side by side, then along k, then the next two.
  const int beside = std::min(rows / kPiece, 2), chunk = r / (beside * along),
            rest = r % (beside * along);
  return {(chunk * beside + rest % beside) * kPiece + group, rest / beside * depth + own * per + e};
}

FragmentOp fragment_op_of(const ptx::Instruction& in) {
  return in.op->traits.memory_count > 0 ? move_of(in) : product_of(in);
}

void follow_undefined(const FragmentOp& op, std::byte* undefined) {
  uint64_t a[kMostElements], b[kMostElements], c[kMostElements], d[kMostElements];
  gather(op.a, undefined, a);
  gather(op.b, undefined, b);
  gather(op.c, undefined, c);
  const TileForm& f = op.form;
  for (int row = 0; row < f.m; ++row)
    for (int column = 0; column < f.n; ++column) {
      uint64_t any = c[row * f.n + column];
      for (int i = 0; i < f.k; ++i) any |= a[row * f.k + i] | b[column * f.k + i];
      d[row * f.n + column] = any != 0 ? mask_of(op.d) : 0;
    }
  scatter(op.d, d, undefined);
}

}  // namespace lab32::sim
