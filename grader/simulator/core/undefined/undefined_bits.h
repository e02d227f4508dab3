// What a warp keeps and asks of where values are undefined; definedness.h follows them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "simulator/core/undefined/origins.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

struct Frame;

// Of one activation: the undefined bits of its registers and parameters, laid out as these are.
struct UndefinedBits {
  UndefinedBits(size_t register_bytes, size_t param_bytes);
  std::vector<std::byte> registers, params;
  // By the offset of a register, of a parameter: of each lane that has undefined bits there.
  using OfLanes = std::array<Origins::Id, kWarpSize>;
  std::unordered_map<uint32_t, OfLanes> origin;
  std::map<uint32_t, OfLanes> param_origin;
};

class ValueTracker {
 public:
  virtual ~ValueTracker() = default;
  // Does what the instruction does for these lanes, and follows what is undefined.
  virtual void execute(Frame& frame, uint32_t mask, const Inst& in) = 0;
  // Before the warp's loop acts upon an instruction that says where lanes go, or who waits.
  virtual void decide(Frame& frame, uint32_t mask, const Inst& in) = 0;
  // The guard let none of the lanes in `mask` execute it.
  virtual void skip(Frame& frame, uint32_t mask, const Inst& in) = 0;
  // A load has found undefined bytes of these lanes: what to write their bits with.
  virtual Exec loaded(const Exec& x, const Inst& in, uint32_t lanes,
                      const UndefinedBits::OfLanes& origin) = 0;
};

}  // namespace lab32::sim
