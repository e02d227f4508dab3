// What the simulator tells its observers. The core executes and checks; it counts nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/memory/access.h"
#include "simulator/core/memory/descriptors.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/trap.h"

namespace lab32::sim {

// Shared atomics that the banks serve in another way than the plain ones (simulator/sass/README.md
// has the rules and where they were measured).
enum class AtomicForm : uint8_t {
  plain,
  increment,     // ATOMS.POPC.INC: lanes that hit one word are served together
  compare_swap,  // ATOMS.CAS: two operands per lane, so twice the wavefronts
  spin_swap,     // ATOMS.CAST.SPIN: one lane per bank gets through, whatever the others wanted
};

// One warp-wide access as the memory pipeline sees it, that is, as ptxas grouped it (AccessPlan).
struct Access {
  uint32_t site;  // instruction (Program::sites)
  AccessSpace space;
  AccessKind kind;
  uint8_t bytes;   // per lane: 1, 2, 4, 8, 16
  bool ptx_level;  // could not be reconciled with the SASS: never decides points
  AtomicForm form = AtomicForm::plain;
  bool matrix = false;        // ldmatrix/stmatrix: lanes' addresses are 16-byte rows, 8 per matrix
  uint32_t mask;              // lanes that take part
  const uint64_t* address;    // [32]; shared: offset in the block's shared window; global: device
                              // address. Lanes outside mask hold anything.
  uint32_t remote_lanes = 0;  // lanes of the same instruction that reach another block's memory
  // An asynchronous copy (cp.async: LDGSTS) is a load and a store: the addresses of the other one;
  // else null. bypass_l1: cp.async.cg, LDGSTS.BYPASS.
  const uint64_t* peer = nullptr;
  bool bypass_l1 = false;
  bool again = false;  // spin_swap: a further round, by lanes that have not got through yet
};

// The same access at PTX level, for checks that concern single bytes (races, initialisation).
// Every store's values are readable, so that stores of one value by several lanes differ from
// stores of several values.
struct RawAccess {
  uint32_t site;
  AccessKind kind;
  uint8_t bytes;  // per lane and element 1..16; vectors: total
  uint32_t mask;
  const uint64_t* address;  // [32] offsets in the shared window
  const std::byte* values;  // stores: lane l's bytes at values + l * 16; null for loads
  // Of a whole warp, in place of `address`, which is null: where each half's lanes lie equally far
  // apart.
  const WarpRow* row = nullptr;
};

// An access to device memory, in a run that looks for races there: of lanes that are strong, or
// touch a suspect word (race_filter.h). It is told before it is carried out.
struct OrderedAccess {
  uint32_t site;
  AccessKind kind;
  uint8_t bytes;  // per lane, 1..16
  ptx::MemoryOrder order;
  uint32_t mask, suspect;   // lanes; those of them that touch a suspect word
  const uint64_t* address;  // [32] device addresses
  const std::byte* values;  // stores: lane l's bytes at values + l * 16; else null
};

// What a warp's instruction reads or writes through a texture or surface object.
struct TexelAccess {
  static constexpr unsigned kMostTexels = 16;  // of a lane: two levels of a cube of texels
  enum class Kind : uint8_t { index, fetch, gather, gradient, load, store, reduce };

  uint32_t site;
  Kind kind;
  bool ptx_level;               // as Access::ptx_level
  uint8_t bytes;                // of an element: a texel, or what a surface's lane moves
  uint32_t mask;                // lanes that take part
  const TextureObject* object;  // null: not all lanes name the same
  // Lane l's elements: address[l * kMostTexels] and on, as TexelGrid has them; 0: outside.
  const uint64_t* address;
  const uint8_t* count;  // [32]
};

// A run of bytes that the copy engine moves between device memory and shared memory: a whole copy,
// or a row of a box.
struct BulkMove {
  enum class Kind : uint8_t { load, store, to_block, reduce };

  uint32_t site;
  Kind kind;
  uint32_t blocks = 0;  // multicast: how many get it; 0: it is none
  uint64_t shared = 0;  // offset in shared memory of its first byte
  uint32_t bytes = 0;
  // So many of them lie before the tensor, then in it; the rest beyond. Where those in it are.
  uint32_t before = 0, inside = 0;
  uint64_t global = 0;
  bool steps = false;  // leaves out elements, or rows
  bool begins = true;  // the first of its copy
};

// What concerns the copy engine's own way to the block's shared memory.
struct EngineEvent {
  // A copy reads these bytes, or has written them; lanes end a group of their copies, wait until no
  // more than `pending` of their groups are read, or make what they wrote visible to the engine.
  enum class Kind : uint8_t { reads, writes, commits, waits, fences };

  Kind kind;
  uint32_t site = 0;
  uint32_t mask = 0;  // lanes; of a copy, the one that issued it
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t pending = 0;
};

// A shuffle, as the lanes ask for it: whose register each of them wants, itself where the lane that
// it computes is out of range. `absent`: lanes that are asked and do not take part.
struct ShuffleEvent {
  uint32_t site;
  uint32_t mask;        // lanes that take part
  const uint8_t* from;  // [32], lanes outside mask hold anything
  uint32_t in_range;
  uint32_t absent;
};

struct BlockInfo {
  uint64_t index;  // linear block index in the grid
  uint32_t x, y, z;
  uint32_t threads;
  uint32_t shared_bytes;
  uint32_t dim_x = 0, dim_y = 1, dim_z = 1;  // threads along x, y, z; dim_x 0: not told
  uint32_t grid_x = 1, grid_y = 1;           // blocks along x, y
  // In a cluster: of so many blocks (0: in none), its number there, and that of the cluster.
  // Addresses in shared memory are then those of memory/access.h.
  uint32_t cluster_blocks = 0, rank = 0;
  uint64_t cluster = 0;
};

// What would have ended the launch, had it not been told to go on (LaunchContext::keep_going).
struct FaultEvent {
  // shared_value: what was read of shared memory that the block had not written has mattered.
  enum class Kind : uint8_t { memory, uninitialised, barrier, shared_value } kind;
  uint32_t site;   // of the read, where a value mattered
  uint32_t lanes;  // how many did it
  // Of the first lane; absent where this Block has told of the site and kind before.
  std::optional<TrapFacts> facts;
  ValueUse used_as = ValueUse::none;  // of an undefined value
};

// One observer instance belongs to one host thread and sees whole blocks, one after the other;
// merge() folds another's findings in. Blocks reach each instance in increasing order, and results
// must not depend on how blocks were dealt to instances.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual std::unique_ptr<Observer> fork() const = 0;  // an empty one of the same kind
  virtual void merge(Observer& other) = 0;

  virtual void block_begin(const BlockInfo&) {}
  virtual void block_end() {}
  virtual void access(uint32_t /*warp*/, const Access&) {}
  virtual void raw_shared(uint32_t /*warp*/, const RawAccess&) {}
  // The lanes of an access that reach another block's shared memory; not told as an access.
  // `alone`: no lane of it reaches its own block's.
  virtual void remote_access(uint32_t /*warp*/, const Access&, bool /*alone*/) {}
  virtual void texels(uint32_t /*warp*/, const TexelAccess&) {}
  virtual void bulk(uint32_t /*warp*/, const BulkMove&) {}
  // All threads of the block passed a block barrier (or, named barriers: those in warp_masks[w]).
  virtual void block_barrier(const uint32_t* /*lane_mask_of_warp*/, uint32_t /*warps*/,
                             bool /*whole_block*/) {}
  // Lanes `mask` of the warp arrived at the mbarrier at `key`, the last of them in the phase if
  // `completes`; or saw that the phase before the present one is complete.
  virtual void mbarrier_arrive(uint32_t /*warp*/, uint32_t /*mask*/, uint64_t /*key*/,
                               bool /*completes*/) {}
  virtual void mbarrier_wait(uint32_t /*warp*/, uint32_t /*mask*/, uint64_t /*key*/) {}
  // Lanes `mask` of the warp arrived at the cluster's barrier, in that phase of it; or saw its end.
  virtual void cluster_arrive(uint32_t /*warp*/, uint32_t /*mask*/, uint64_t /*phase*/,
                              bool /*releases*/, bool /*completes*/) {}
  virtual void cluster_wait(uint32_t /*warp*/, uint32_t /*mask*/, uint64_t /*phase*/) {}
  // This instance sees the blocks of one rank in their clusters, `first` those of rank 0; once, and
  // before all of them. They are told of a cluster on one host thread.
  virtual void join_cluster(Observer& /*first*/) {}
  // Lanes `mask` of the warp passed bar.warp.sync together.
  virtual void warp_barrier(uint32_t /*warp*/, uint32_t /*mask*/) {}
  // A shuffle, vote or match whose mask names lanes that do not take part, or a shuffle that reads
  // from such a lane: `bad` are the lanes that are absent.
  virtual void bad_warp_op(uint32_t /*warp*/, uint32_t /*site*/, uint32_t /*mask*/,
                           uint32_t /*bad*/) {}

  // Told to those that want raw accesses to shared memory; a copy's are told besides.
  virtual void engine(uint32_t /*warp*/, const EngineEvent&) {}

  virtual void shuffle(uint32_t /*warp*/, const ShuffleEvent&) {}

  virtual void fault(const FaultEvent&) {}

  virtual void ordered(uint32_t /*warp*/, const OrderedAccess&) {}
  virtual void fence(uint32_t /*warp*/, uint32_t /*mask*/, const ptx::MemoryOrder&) {}

  // Which of the above it wants; asked once a launch.
  virtual bool wants_accesses() const { return false; }
  virtual bool wants_raw_shared() const { return false; }
  virtual bool wants_shuffles() const { return false; }
  // Its forks share what they learn as they go, so those of one attempt must see the whole launch:
  // it is not run in rounds (order_guard.h).
  virtual bool wants_whole_launch() const { return false; }
  // Looks for races in device memory. Where words are suspect, the launch is run again, on one host
  // thread: in the reverse order of its blocks and warps, then in their own, which is the one that
  // counts. This instance is told when each begins, and its forks before they are told of ordered
  // accesses and fences.
  virtual bool wants_order() const { return false; }
  virtual void begin_order() {}
  virtual void follow_order() {}
};

// Issue counts, kept for every observer set: how often each instruction was issued by a warp with
// at least one lane, with how many lanes in all, and, of a branch, how often the lanes of a warp
// diverged. Filled by the warp loop because a virtual
// call for each instruction would cost more than most instructions.
struct IssueTally {
  uint64_t warps = 0;
  uint64_t lanes = 0;
  uint64_t splits = 0;
  uint64_t peer = 0;  // accesses to another device's memory
};

}  // namespace lab32::sim
