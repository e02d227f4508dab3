// Trap: a fault that ends a kernel, as facts. Instructions throw it and the launch catches it.
// describe() turns the facts into the sentence that the student reads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "simulator/core/memory/access.h"

namespace lab32::sim {

enum class TrapKind : uint8_t {
#define KIND(id, name, words) id,
#include "simulator/core/warp/traps.def"
};

enum class TrapReason : uint8_t {
#define REASON(kind, id) id,
#include "simulator/core/warp/traps.def"
};

TrapKind kind_of(TrapReason reason);

// Whether a launch that keeps going reports this kind as a finding. The other kinds end every
// launch.
bool is_nonfatal_trap(TrapKind kind);

struct BlockAndThreadIndex {
  std::array<uint32_t, 3> block{}, thread{};
};

struct FaultyMemoryAccess {
  AccessSpace space = AccessSpace::global;
  AccessUse use = AccessUse::read;
  uint32_t bytes = 0;
  uint64_t address = 0;  // global memory
  // The accessed object: an allocation by name, a shared variable (empty if unknown), or the
  // thread's local memory; and the offset in it, negative if before its start.
  std::string object;
  int64_t offset = 0;
  uint64_t size = 0;     // bytes of the object
  uint32_t element = 0;  // bytes of an element; 0: unknown
  // The rank in the cluster of the block whose shared memory is accessed. kOwnBlock: the accessing
  // block, or an access to another kind of memory.
  static constexpr uint32_t kOwnBlock = 0xffffffff;
  uint32_t rank = kOwnBlock;
  // The name of the accessed place, "s[64].mass", and that of the last valid place, if the types of
  // variables are known.
  std::string place = {}, last_place = {};
};

// The use that makes an undefined value a fault.
enum class ValueUse : uint8_t { none, address, branch, atomic, output };

struct WarpMaskMismatch {
  uint32_t warp = 0;   // in its block
  uint32_t lanes = 0;  // lanes that execute the instruction
  uint32_t mask = 0;   // lanes that the instruction names
  uint32_t lane = 0;   // the missing lane
};

// The facts of a fault. traps.def says which of them each reason sets.
struct TrapFacts {
  TrapReason reason = TrapReason::trap_instruction;
  uint64_t block = 0;                         // linear index
  std::optional<BlockAndThreadIndex> thread;  // the first faulty thread
  std::optional<BlockAndThreadIndex> waiting;
  std::optional<FaultyMemoryAccess> access;
  std::optional<WarpMaskMismatch> warp;
  ValueUse used_as = ValueUse::none;  // unwritten
  uint32_t barrier = 0;
  uint64_t value = 0, limit = 0;
  std::string name, cause;

  TrapKind kind() const { return kind_of(reason); }
};

struct Trap : TrapFacts {
  Trap(TrapFacts facts, uint32_t site) : TrapFacts(std::move(facts)), site(site) {}
  uint32_t site;  // instruction, index in KernelProgram::sites
  bool has_site = true;
};

// Raised in a parallel run when a result may depend on the order of the blocks: the launch rolls
// back what was written and runs the blocks one after another.
struct OrderMatters {};

// ---------------------------------------------------------------------------------------------
// The texts of faults. No other file phrases the faults of a running kernel.

// The names of the kinds in JSON and records, for example "shuffle".
inline constexpr std::array kTrapKinds{
#define KIND(id, name, words) name,
#include "simulator/core/warp/traps.def"
};
const char* to_string(TrapKind kind);
// The name of a kind in messages, for example "missing lane".
const char* words(TrapKind kind);
// The name of a reason in JSON, for example "past_end".
const char* to_string(TrapReason reason);

// The end of a sentence about a read, for example "; the value becomes an address"; "" for no use.
const char* words_of_value_use(ValueUse use);

// "thread (32,0,0) of block (0,0,0) reads 4 bytes at offset 128 of `in`: 4 bytes past its end (128
// bytes)". One sentence, without its full stop.
std::string describe(const TrapFacts& facts);

}  // namespace lab32::sim
