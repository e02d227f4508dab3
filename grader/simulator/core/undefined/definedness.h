// Follows what is undefined through a warp's registers: a value that comes from memory which nobody
// has written may be copied and computed with, and is a fault only where it matters: as an address,
// for a branch, in an atomic, or stored in device memory. Valgrind's memcheck is the model
// (Seward, Nethercote: Using Valgrind to detect undefined value errors with bit-precision, 2005).
//
// A warp has a Definedness from its first undefined value on, and is slower from then on; all
// others know nothing of it.
#pragma once

#include <cstdint>

#include "simulator/core/undefined/undefined_bits.h"
#include "simulator/core/warp/events.h"

namespace lab32::sim {

struct BulkOp;

class Definedness final : public ValueTracker {
 public:
  explicit Definedness(Warp& warp) : warp_(warp) {}

  void execute(Frame& frame, uint32_t mask, const Inst& in) override;
  void decide(Frame& frame, uint32_t mask, const Inst& in) override;
  void skip(Frame& frame, uint32_t mask, const Inst& in) override {
    execute_with_undefined_guard(frame, mask, in);
  }
  Exec loaded(const Exec& x, const Inst& in, uint32_t lanes,
              const UndefinedBits::OfLanes& origin) override;
  // Arguments, or results: `bytes` from the parameters of one activation to those of another.
  static void pass(const Frame& from, uint32_t from_offset, Frame& to, uint32_t to_offset,
                   uint32_t bytes, uint32_t lanes);

 private:
  UndefinedBits& bits_of(Frame& frame);
  uint32_t undefined_lanes(const UndefinedBits& u, const Slot& slot, uint32_t mask) const;
  // Lanes whose guard has no value.
  uint32_t lanes_with_undefined_guard(const UndefinedBits& u, const Inst& in, uint32_t mask) const;
  // What such an instruction may have written is undefined; a fault, where that is not all it does.
  void execute_with_undefined_guard(Frame& frame, uint32_t mask, const Inst& in);
  void require_defined(UndefinedBits& u, const Slot& slot, uint32_t mask, ValueUse use);
  void report_use(UndefinedBits& u, const Slot& slot, uint32_t lanes, ValueUse use);
  void require_defined_operands(UndefinedBits& u, uint32_t mask, const Inst& in);
  // The lanes that store to device memory.
  uint32_t device_lanes(uint32_t mask, const Inst& in) const;
  void execute_on_fragments(UndefinedBits& u, const Exec& x, const Inst& in);
  void execute_sending(UndefinedBits& u, const Exec& x, const Inst& in, const BulkOp& op);
  void define_results(UndefinedBits& u, uint32_t mask, const Inst& in);
  void store_bits(Frame& frame, const UndefinedBits& u, uint32_t mask, const Inst& in);
  void store_params(UndefinedBits& u, const Frame& frame, uint32_t mask, const Inst& in);
  void load_params(UndefinedBits& u, const Frame& frame, uint32_t mask, const Inst& in);

  Warp& warp_;
};

}  // namespace lab32::sim
