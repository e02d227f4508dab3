// The decoded operands of fetches through texture objects (tex, tld4) and of loads, stores and
// reductions through surface objects (suld, sust, sured).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulator/core/memory/descriptors.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

struct TextureOp {
  enum class Kind : uint8_t { fetch, level, gradient, gather, load, store, reduce };
  enum class Outside : uint8_t { trap, clamp, zero };
  Kind kind = Kind::fetch;
  uint8_t dimensions = 1;
  bool layered = false, cube = false;
  bool by_index = false;            // coordinates are integers
  uint8_t component = 0;            // gather
  Outside outside = Outside::trap;  // surfaces: what an access outside does
  uint8_t element_bytes = 4;        // surfaces: bytes of each register
  Reduction reduction;
  Slot object, layer;
  std::array<Slot, 3> coordinate;
  Slot level;
  // The derivatives of the coordinates along x and y of the screen.
  std::array<std::array<Slot, 3>, 2> derivative;
  std::array<Slot, 4> value;  // results, or the values to store
  uint8_t values = 4;
  Slot resident;  // predicate that says whether memory backs the texel: always true

  bool is_of_surface() const {
    return kind == Kind::load || kind == Kind::store || kind == Kind::reduce;
  }
};

class FunctionSlots;

// Decodes an instruction, without slots in the first form. Both throw lab32::Error for unsupported
// forms.
TextureOp texture_op_of(const ptx::Instruction& in);
TextureOp texture_op_of(const ptx::Instruction& in, FunctionSlots& slots);

// The registers that the operation reads, the object's first.
std::vector<Slot> sources_of(const TextureOp& op);

}  // namespace lab32::sim
