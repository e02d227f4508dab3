// Analyses of one PTX function: its basic blocks, where diverged lanes reconverge, which registers
// are live, and which registers may share storage. sim::decode uses all of them when it loads a
// kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/ptx/graph.h"
#include "simulator/ptx/module.h"

namespace lab32::ptx {

// ---------------------------------------------------------------------------------------------
// Where the diverged lanes of a warp reconverge, as ptxas would decide. The simulator's warps wait
// at these points, so that counters of divergent code agree with the hardware. reconvergence.cpp
// has the rules and their sources.

// A point at which lanes reconverge after a branch.
struct ReconvergencePoint {
  int block = 0;  // lanes reconverge at the beginning of this block
  // For each block: whether lanes in it may still reach the point. The warp does not wait for lanes
  // in other blocks.
  NodeSet from;
};

struct ReconvergencePoints {
  std::vector<ReconvergencePoint> reconvergence_points;
  // For the branch at the end of each block: the index in reconvergence_points at which lanes of
  // two of its successors first reconverge, and the one at which lanes of all successors do; -1:
  // nowhere, since paths leave the function separately or never end.
  std::vector<int> reconvergence_of, full_reconvergence_of;
};
ReconvergencePoints find_reconvergence_points(const std::vector<BasicBlock>& blocks);

// ---------------------------------------------------------------------------------------------

constexpr uint32_t kNoReconverge = 0xffffffffu;

struct ControlFlow : BasicBlocks, ReconvergencePoints {
  // The block at which the lanes of a branch reconverge, given as its first instruction.
  // kNoReconverge for instructions that are no branch, and for a branch whose lanes do not
  // reconverge.
  uint32_t reconvergence_instruction(int instruction) const;
};
ControlFlow analyse_control_flow(const Function& function);

// A set of registers, with one bit for each.
class RegisterSet {
 public:
  explicit RegisterSet(size_t registers = 0) : words_((registers + 63) / 64) {}
  bool contains(int reg) const { return (words_[word(reg)] >> (reg & 63)) & 1; }
  void insert(int reg) { words_[word(reg)] |= uint64_t{1} << (reg & 63); }
  void erase(int reg) { words_[word(reg)] &= ~(uint64_t{1} << (reg & 63)); }
  // Adds the members of `other` that are not in `without`. True: this added a register.
  bool insert_all(const RegisterSet& other, const RegisterSet* without = nullptr);
  std::vector<int> members() const;

 private:
  static size_t word(int reg) { return static_cast<size_t>(reg) / 64; }
  std::vector<uint64_t> words_;
};

// Liveness: the registers whose values may still be read, at both ends of each basic block. Lanes
// are independent threads, so this is the liveness of one thread's path: a guarded instruction does
// not end the life of the register that it overwrites.
struct BasicBlockLiveness {
  std::vector<RegisterSet> live_in, live_out;
};
BasicBlockLiveness analyse_liveness(const Function& function, const ControlFlow& flow);

// Storage for registers: slots of one width each, shared by registers that are never live together.
// A destination never shares its slot with a source or with another destination of the same
// instruction, so an instruction may write lane by lane.
struct RegisterSlotAssignment {
  std::vector<int> slot_of_register;  // -1: never used
  std::vector<uint16_t> slot_bits;    // width of each slot: 1, 8, 16, 32, 64, 128
  // Registers that some path reads before it writes them. On hardware they hold garbage; the
  // simulator zeroes their slots on entry to the function, so that runs are repeatable.
  std::vector<int> live_into_entry;
};
RegisterSlotAssignment assign_register_slots(const Function& function, const ControlFlow& flow);

// ---------------------------------------------------------------------------------------------
// Finds polls: strong loads, and atomics with a result, that a loop repeats at one address until
// they return the awaited value. `while (!ready[b]) {}` has one. What a poll returns first depends
// on time, but what it has returned when the loop ends does not.

// For each instruction: whether it is a poll. nvcc copies a poll in front of its loop when it
// rotates the loop; the copy is a poll, too.
std::vector<bool> find_polling_loads(const Module& module, const Function& function,
                                     const BasicBlocks& blocks);

}  // namespace lab32::ptx
