// What ends a kernel early, as facts. Thrown by instructions, caught by the launch; and the words
// for them.
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

// Is it one that a launch told to go on tells its observers of? The others end every launch.
bool is_finding(TrapKind kind);

struct ThreadId {
  std::array<uint32_t, 3> block{}, thread{};
};

struct MemoryAccess {
  AccessSpace space = AccessSpace::global;
  AccessUse use = AccessUse::read;
  uint32_t bytes = 0;
  uint64_t address = 0;  // global memory
  // Where it lies: in an allocation, which has a name, or in the block's shared (a variable of it,
  // where that is known) or the thread's local memory. Negative: before its start.
  std::string object;
  int64_t offset = 0;
  uint64_t size = 0;     // of the object, bytes
  uint32_t element = 0;  // of it, bytes; 0: not known
  // Shared memory of another block: its rank in the cluster.
  static constexpr uint32_t kOwn = 0xffffffff;
  uint32_t rank = kOwn;
  // "s[64].mass" and the last there is, where the types of variables are known.
  std::string place = {}, last_place = {};
};

// Where a value that nobody has defined mattered.
enum class ValueUse : uint8_t { none, address, branch, atomic, output };

struct WarpLanes {
  uint32_t warp = 0;   // in its block
  uint32_t lanes = 0;  // that execute the instruction
  uint32_t mask = 0;   // that the instruction names
  uint32_t lane = 0;   // that is missing
};

// traps.def says which of the facts belong to which reason.
struct TrapFacts {
  TrapReason reason = TrapReason::trap_instruction;
  uint64_t block = 0;              // linear index
  std::optional<ThreadId> thread;  // that did it; of several the first
  std::optional<ThreadId> waiting;
  std::optional<MemoryAccess> access;
  std::optional<WarpLanes> warp;
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
// Words for faults. The only place where those of a running kernel become English.

// "shuffle", as JSON and records have it: by kind.
inline constexpr std::array kTrapKinds{
#define KIND(id, name, words) name,
#include "simulator/core/warp/traps.def"
};
const char* to_string(TrapKind kind);
// "missing lane", as people see it.
const char* words(TrapKind kind);
// "past_end", as JSON has it.
const char* to_string(TrapReason reason);

// "; the value becomes an address", behind what is said of a read; "": none.
const char* use_of_value(ValueUse use);

// "thread (32,0,0) of block (0,0,0) reads 4 bytes at offset 128 of `in`: 4 bytes past its end (128
// bytes)". One sentence, without its full stop.
std::string describe(const TrapFacts& facts);

}  // namespace lab32::sim
