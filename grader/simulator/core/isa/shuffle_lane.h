// Computes the lane from which each lane of a shuffle reads (PTX ISA 9.7.9.6). Operand c of the
// instruction packs a clamp value and a segment mask.
#pragma once

#include <cstdint>

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {

enum class ShuffleMode : uint8_t { up, down, bfly, idx };

struct ShuffleSource {
  uint32_t lane;  // the lane itself if the source is out of range
  bool in_range;
};

inline ShuffleSource shuffle_source(ShuffleMode mode, uint32_t l, uint32_t b, uint32_t c) {
  const uint32_t distance = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const uint32_t max_lane = (l & segment) | (clamp & ~segment), min_lane = l & segment;
  // All numbers fit 32 bits, so the compiler vectorises a loop over lanes.
  int32_t j = 0;
  bool valid = false;
  switch (mode) {
    case ShuffleMode::up:
      j = static_cast<int32_t>(l - distance);
      valid = j >= static_cast<int32_t>(max_lane);
      break;
    case ShuffleMode::down:
      j = static_cast<int32_t>(l + distance);
      valid = j <= static_cast<int32_t>(max_lane);
      break;
    case ShuffleMode::bfly:
      j = static_cast<int32_t>(l ^ distance);
      valid = j <= static_cast<int32_t>(max_lane);
      break;
    case ShuffleMode::idx:
      j = static_cast<int32_t>(min_lane | (distance & ~segment));
      valid = j <= static_cast<int32_t>(max_lane);
      break;
  }
  return {valid ? static_cast<uint32_t>(j) : l, valid};
}

inline ShuffleMode shuffle_mode_of(const ptx::Instruction& in) {
  using ptx::Modifier;
  return in.has(Modifier::up)     ? ShuffleMode::up
         : in.has(Modifier::down) ? ShuffleMode::down
         : in.has(Modifier::bfly) ? ShuffleMode::bfly
                                  : ShuffleMode::idx;
}

// src: a, b, c, mask.
inline ShuffleSource shuffle_source(ShuffleMode mode, const Inst& in, const ExecContext& x,
                                    int lane) {
  return shuffle_source(mode, static_cast<uint32_t>(lane),
                        load_lane<uint32_t>(x.regs + in.src[1].offset, lane),
                        load_lane<uint32_t>(x.regs + in.src[2].offset, lane));
}

}  // namespace lab32::sim
