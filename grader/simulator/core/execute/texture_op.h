// Fetches through texture objects (tex, tld4), loads and stores through surface objects (suld,
// sust).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulator/core/execute/instruction.h"
#include "simulator/core/memory/texture_table.h"

namespace lab32::sim {

struct TextureOp {
  enum class Kind : uint8_t { fetch, level, gradient, gather, load, store };
  enum class Outside : uint8_t { trap, clamp, zero };
  Kind kind = Kind::fetch;
  uint8_t dimensions = 1;
  bool layered = false, cube = false;
  bool by_index = false;            // coordinates are integers
  uint8_t component = 0;            // gather
  Outside outside = Outside::trap;  // load, store
  uint8_t element_bytes = 4;        // load, store: of each register
  Slot object, layer;
  std::array<Slot, 3> coordinate;
  Slot level;
  std::array<Slot, 4> value;  // results, or what is stored
  uint8_t values = 4;
  Slot resident;  // whether memory is behind it: always
};

// What an instruction says, without slots.
TextureOp texture_op_of(const ptx::Instruction& in);

// The registers that it reads, the object's first.
std::vector<Slot> sources_of(const TextureOp& op);

}  // namespace lab32::sim
