// Follows what is undefined through a warp's registers: a value that comes from memory which nobody
// has written may be copied and computed with, and is a fault only where it matters: as an address,
// for a branch, in an atomic, or stored in device memory. Valgrind's memcheck is the model
// (Seward, Nethercote: Using Valgrind to detect undefined value errors with bit-precision, 2005).
//
// A warp has a Definedness from its first undefined value on, and is slower from then on; all
// others know nothing of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "simulator/core/execute/events.h"
#include "simulator/core/execute/instruction.h"
#include "simulator/core/execute/origins.h"

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

class Definedness {
 public:
  explicit Definedness(Warp& warp) : warp_(warp) {}

  // Does what the instruction does for these lanes, and follows what is undefined.
  void execute(Frame& frame, uint32_t mask, const Inst& in);
  // Before the warp's loop acts upon an instruction that says where lanes go, or who waits.
  void decide(Frame& frame, uint32_t mask, const Inst& in);
  // The guard let none of the lanes in `mask` execute it.
  void skip(Frame& frame, uint32_t mask, const Inst& in) { doubt(frame, mask, in); }

  // A load has found undefined bytes of these lanes: what to write their bits with.
  Exec loaded(const Exec& x, const Inst& in, uint32_t lanes, const UndefinedBits::OfLanes& origin);
  // Arguments, or results: `bytes` from the parameters of one activation to those of another.
  static void pass(const Frame& from, uint32_t from_offset, Frame& to, uint32_t to_offset,
                   uint32_t bytes, uint32_t lanes);

 private:
  UndefinedBits& bits_of(Frame& frame);
  uint32_t undefined_lanes(const UndefinedBits& u, const Slot& slot, uint32_t mask) const;
  // Lanes whose guard has no value.
  uint32_t doubted(const UndefinedBits& u, const Inst& in, uint32_t mask) const;
  // What such an instruction may have written is undefined; a fault, where that is not all it does.
  void doubt(Frame& frame, uint32_t mask, const Inst& in);
  void demand(UndefinedBits& u, const Slot& slot, uint32_t mask, ValueUse use);
  void matters(UndefinedBits& u, const Slot& slot, uint32_t lanes, ValueUse use);
  void demand_operands(UndefinedBits& u, uint32_t mask, const Inst& in);
  void define_results(UndefinedBits& u, uint32_t mask, const Inst& in);
  void store_bits(Frame& frame, const UndefinedBits& u, uint32_t mask, const Inst& in);
  void store_params(UndefinedBits& u, const Frame& frame, uint32_t mask, const Inst& in);
  void load_params(UndefinedBits& u, const Frame& frame, uint32_t mask, const Inst& in);

  Warp& warp_;
};

}  // namespace lab32::sim
