// Binds the rows of packed integers to the functions of semantics_packed.h, in table order.
#include "simulator/core/semantics/packed.h"

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Type;

template <int N>
ExecFn pick_absolute_difference(const Instruction& in) {
  return with_bool(in.type(1) == Type::s32, [&](auto a) {
    return with_bool(in.type(2) == Type::s32, [&](auto b) {
      return with_bool(in.has(Mod::add), [](auto add) {
        return ternary<AbsDiff<N, decltype(a)::value, decltype(b)::value, decltype(add)::value>,
                       uint32_t>();
      });
    });
  });
}

template <Secondary secondary>
ExecFn pick_add_bytes(const Instruction& in) {
  return with_bool(in.type(0) == Type::s32, [&](auto d) {
    return with_bool(in.type(1) == Type::s32, [&](auto a) {
      return with_bool(in.type(2) == Type::s32, [](auto b) {
        return ternary<AddX4<secondary, decltype(d)::value, decltype(a)::value, decltype(b)::value>,
                       uint32_t>();
      });
    });
  });
}

}  // namespace

ExecFn pick_add_x2(const Instruction&) { return binary<AddX2, uint32_t>(); }
ExecFn pick_min_x2(const Instruction& in) {
  return in.type() == Type::s16x2 ? binary<MinX2<true, false>, uint32_t>()
                                  : binary<MinX2<false, false>, uint32_t>();
}
ExecFn pick_max_x2(const Instruction& in) {
  return in.type() == Type::s16x2 ? binary<MaxX2<true, false>, uint32_t>()
                                  : binary<MaxX2<false, false>, uint32_t>();
}
ExecFn pick_min_relu(const Instruction& in) {
  return in.type() == Type::s32 ? binary<MinRelu, int32_t>()
                                : binary<MinX2<true, true>, uint32_t>();
}
ExecFn pick_max_relu(const Instruction& in) {
  return in.type() == Type::s32 ? binary<MaxRelu, int32_t>()
                                : binary<MaxX2<true, true>, uint32_t>();
}

ExecFn pick_cvt_pack_x2(const Instruction& in) {
  return in.type(0) == Type::s16 ? binary<NarrowX2<int16_t>, uint32_t>()
                                 : binary<NarrowX2<uint16_t>, uint32_t>();
}
ExecFn pick_cvt_pack_x4(const Instruction& in) {
  return in.type(0) == Type::s8 ? ternary<NarrowX4<int8_t>, uint32_t>()
                                : ternary<NarrowX4<uint8_t>, uint32_t>();
}

ExecFn pick_vadd4(const Instruction& in) {
  if (in.has(Mod::sat)) return pick_add_bytes<Secondary::saturate>(in);
  return in.has(Mod::add) ? pick_add_bytes<Secondary::add>(in)
                          : pick_add_bytes<Secondary::none>(in);
}
ExecFn pick_vabsdiff2(const Instruction& in) { return pick_absolute_difference<2>(in); }
ExecFn pick_vabsdiff4(const Instruction& in) { return pick_absolute_difference<4>(in); }

}  // namespace lab32::sim
