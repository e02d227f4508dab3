// Binds the rows of packed integers to the functions of semantics_packed.h, in table order.
#include "simulator/core/semantics/packed.h"

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {
namespace {

using ptx::Instruction;
using ptx::Type;

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

}  // namespace lab32::sim
