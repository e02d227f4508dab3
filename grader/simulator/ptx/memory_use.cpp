#include "simulator/ptx/memory_use.h"

namespace lab32::ptx {

Space memory_space(const Instruction& in, size_t use) {
  const Space of_row = in.op->traits.memory[use].space;
  if (of_row != Space::generic) return of_row;
  if (in.has(Mod::shared) || in.has(Mod::shared_cta)) return Space::shared;
  if (in.has(Mod::global)) return Space::global;
  if (in.has(Mod::local)) return Space::local;
  if (in.has(Mod::constant)) return Space::constant;
  return Space::generic;
}

unsigned element_bytes(const Instruction& in) {
  if (in.op->traits.matrix) return 16;
  // A copy from memory to memory has no type: an operand says how much.
  if (in.op->traits.memory_count == 2) return static_cast<unsigned>(in.operands[2].value);
  return bytes_of(in.type());
}

}  // namespace lab32::ptx
