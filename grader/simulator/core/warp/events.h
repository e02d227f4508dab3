// The events that the simulator reports to its observers. The core executes and checks, but counts
// nothing except issued instructions. An observer overrides the functions of Observer for the
// events that it needs and enables them by its wants_...() functions.
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

// Shared atomics that the banks serve in a special way (simulator/sass/README.md has the rules and
// where they were measured).
enum class SharedAtomicForm : uint8_t {
  plain,
  increment,     // ATOMS.POPC.INC: lanes that hit one word are served together
  compare_swap,  // ATOMS.CAS: two operands per lane, so twice the wavefronts
  spin_swap,     // ATOMS.CAST.SPIN: one lane per bank succeeds, whichever words the others access
};

// One access by a warp as the memory pipeline sees it: the PTX access, grouped into machine
// instructions as ptxas issues it (AccessPlan).
struct IssuedWarpAccess {
  uint32_t site;  // instruction (Program::sites)
  AccessSpace space;
  AccessKind kind;
  uint8_t bytes;   // per lane: 1, 2, 4, 8, 16
  bool ptx_level;  // not reconciled with the SASS
  SharedAtomicForm form = SharedAtomicForm::plain;
  bool matrix = false;        // ldmatrix/stmatrix: lanes' addresses are 16-byte rows, 8 per matrix
  uint32_t mask;              // lanes that take part
  const uint64_t* address;    // [32]; shared: offset in the block's shared window; global: device
                              // address. Lanes outside mask hold anything.
  uint32_t remote_lanes = 0;  // lanes of the same instruction that access another block's memory
  // An asynchronous copy (cp.async: LDGSTS) is reported as a load and a store. `peer` then has the
  // addresses of the other side; it is null for other accesses. bypass_l1: cp.async.cg,
  // LDGSTS.BYPASS.
  const uint64_t* peer = nullptr;
  bool bypass_l1 = false;
  // If ptx_level is set: bytes per lane of the widest machine instruction that may serve the
  // access; 0: not known.
  uint8_t widest = 0;
  bool again = false;  // spin_swap: a further round, by lanes that have not succeeded yet
};

// An access at PTX level, for checks of single bytes (races, initialisation). It includes the
// stored values, so that an observer can tell stores of equal values by several lanes from stores
// of different values.
struct PtxSharedAccessEvent {
  uint32_t site;
  AccessKind kind;
  uint8_t bytes;  // per lane and element 1..16; vectors: total
  uint32_t mask;
  const uint64_t* address;  // [32] offsets in the shared window
  const std::byte* values;  // stores: lane l's bytes at values + l * 16; null: a load, or not known
  // For a whole warp whose addresses have one stride in each half-warp: replaces `address`, which
  // is then null.
  const StridedHalfWarpPair* row = nullptr;
  // For the end of a copy that an mbarrier counts: the mbarrier's offset plus one. The bytes may
  // not be used before a thread has waited for the mbarrier. 0: the copying thread itself has
  // waited.
  uint32_t mbarrier = 0;
};

// An access to device memory in a run with race detection, by lanes whose access is strong or goes
// to a suspect word (race_filter.h). It is reported before it is carried out.
struct StrongOrSuspectAccess {
  uint32_t site;
  AccessKind kind;
  uint8_t bytes;    // per lane, 1..16
  uint8_t element;  // bytes of one element, of which a vector has several; 0: unknown
  ptx::MemoryOrder order;
  uint32_t mask, suspect;   // the lanes, and those of them that access a suspect word
  const uint64_t* address;  // [32] device addresses
  const std::byte* values;  // stores: lane l's bytes at values + l * 16; else null
};

// The texels that an instruction of a warp reads or writes through a texture or surface object.
struct WarpTexelAccess {
  static constexpr unsigned kMostTexels = 16;  // per lane: two mipmap levels of 2 x 2 x 2 texels
  enum class Kind : uint8_t { index, fetch, gather, gradient, load, store, reduce };

  uint32_t site;
  Kind kind;
  bool ptx_level;               // as IssuedWarpAccess::ptx_level
  uint8_t bytes;                // per element: a texel, or the element of a surface access
  uint32_t mask;                // lanes that take part
  const TextureObject* object;  // null: the lanes name different objects
  // The elements of lane l start at address[l * kMostTexels]. Each is a device address as in
  // MipmapLevel; 0: the element is outside the array.
  const uint64_t* address;
  const uint8_t* count;  // [32]
};

// A contiguous range of bytes that the copy engine moves between device memory and shared memory: a
// whole copy, or a row of a box.
struct ContiguousBulkMove {
  enum class Kind : uint8_t { load, store, to_block, reduce };

  uint32_t site;
  Kind kind;
  uint32_t blocks = 0;  // multicast: number of destination blocks; 0: no multicast
  uint64_t shared = 0;  // offset in shared memory of the row's first byte
  uint32_t bytes = 0;
  // The bytes of the row that are before the beginning of the tensor, and those that are inside it;
  // all others are beyond its end. `global`: the address of the bytes inside.
  uint32_t before = 0, inside = 0;
  uint64_t global = 0;
  bool steps = false;  // the map's element strides skip elements or rows
  bool begins = true;  // this is the first move of its copy
};

// An event of the async proxy, through which the copy engine accesses the block's shared memory.
struct CopyEngineEvent {
  // reads, writes: a copy reads these bytes, or has written them. commits: lanes end a group of
  // their copies. waits: lanes wait until at most `pending` of their groups are unread. fences:
  // lanes make their writes visible to the engine.
  enum class Kind : uint8_t { reads, writes, commits, waits, fences };

  Kind kind;
  uint32_t site = 0;
  uint32_t mask = 0;  // lanes; for reads and writes, the lane that issued the copy
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t pending = 0;
};

// A shuffle. `from` has the source lane of each lane; it is the lane itself if the computed source
// is out of range. `absent`: source lanes that do not execute the shuffle.
struct ShuffleEvent {
  uint32_t site;
  uint32_t mask;        // lanes that take part
  const uint8_t* from;  // [32], lanes outside mask hold anything
  uint32_t in_range;
  uint32_t absent;
};

struct BlockInfo {
  uint64_t index;  // the linear index of the block in the grid
  uint32_t x, y, z;
  uint32_t threads;
  uint32_t shared_bytes;
  uint32_t dim_x = 0, dim_y = 1, dim_z = 1;  // threads along x, y, z; dim_x 0: unknown
  uint32_t grid_x = 1, grid_y = 1;           // blocks along x, y
  // For a block of a cluster: the number of blocks in the cluster (0: no cluster), the block's rank
  // in it, and the cluster's index. Addresses in shared memory then have the layout of
  // memory/access.h.
  uint32_t cluster_blocks = 0, rank = 0;
  uint64_t cluster = 0;
};

// A fault that would have ended the launch without LaunchContext::keep_going.
struct FaultEvent {
  // shared_value: a value had an effect that came from shared memory which the block had not
  // written.
  enum class Kind : uint8_t { memory, uninitialised, barrier, shared_value } kind;
  uint32_t site;   // the site of the read if the fault is the effect of an undefined value
  uint32_t lanes;  // number of faulty lanes
  // The facts of the first faulty lane; absent if this Block has already reported a fault of this
  // kind at this site.
  std::optional<TrapFacts> facts;
  ValueUse used_as = ValueUse::none;  // how the undefined value was used
};

// The interface of observers. Each host thread has its own instance, which sees whole blocks, one
// after the other in increasing order. merge() adds another instance's findings. The results must
// not depend on how the blocks were distributed over the instances.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual std::unique_ptr<Observer> fork() const = 0;  // an empty instance of the same kind
  virtual void merge(Observer& other) = 0;

  virtual void block_begin(const BlockInfo&) {}
  virtual void block_end() {}
  virtual void access(uint32_t /*warp*/, const IssuedWarpAccess&) {}
  virtual void shared_ptx_access(uint32_t /*warp*/, const PtxSharedAccessEvent&) {}
  // Reports an asynchronous copy (cp.async) to shared memory twice: when it begins, before its
  // values are known, and when a thread has waited for it.
  virtual void async_copy_begins(uint32_t /*warp*/, const PtxSharedAccessEvent&) {}
  virtual void async_copy_ends(uint32_t warp, const PtxSharedAccessEvent& access) {
    shared_ptx_access(warp, access);
  }
  // Reports an access to another block's shared memory; access() does not include these lanes.
  // `alone`: no lane of the instruction accesses its own block's memory.
  virtual void remote_shared_access(uint32_t /*warp*/, const IssuedWarpAccess&, bool /*alone*/) {}
  virtual void texel_access(uint32_t /*warp*/, const WarpTexelAccess&) {}
  virtual void bulk_move(uint32_t /*warp*/, const ContiguousBulkMove&) {}
  // All threads of the block passed a block barrier (for named barriers: the lanes in
  // lane_mask_of_warp[w]).
  virtual void block_barrier(const uint32_t* /*lane_mask_of_warp*/, uint32_t /*warps*/,
                             bool /*whole_block*/) {}
  // mbarrier_arrive: lanes `mask` of the warp arrived at the mbarrier at `key`, and completed its
  // phase if `completes`. mbarrier_wait: the lanes saw that the previous phase is complete.
  virtual void mbarrier_arrive(uint32_t /*warp*/, uint32_t /*mask*/, uint64_t /*key*/,
                               bool /*completes*/) {}
  virtual void mbarrier_wait(uint32_t /*warp*/, uint32_t /*mask*/, uint64_t /*key*/) {}
  // Lanes `mask` of the warp arrived at the cluster's barrier in phase `phase`, or saw that the
  // phase ended.
  virtual void cluster_arrive(uint32_t /*warp*/, uint32_t /*mask*/, uint64_t /*phase*/,
                              bool /*releases*/, bool /*completes*/) {}
  virtual void cluster_wait(uint32_t /*warp*/, uint32_t /*mask*/, uint64_t /*phase*/) {}
  // Called once, before all blocks. This instance sees the blocks of one rank in each cluster, and
  // `first` sees those of rank 0. All events of a cluster come from one host thread.
  virtual void join_cluster(Observer& /*first*/) {}
  // Lanes `mask` of the warp passed bar.warp.sync together.
  virtual void warp_barrier(uint32_t /*warp*/, uint32_t /*mask*/) {}
  // A shuffle read a value from lanes that do not execute it, and the value had an effect. `bad`:
  // these lanes.
  virtual void missing_lanes_used(uint32_t /*warp*/, uint32_t /*site*/, uint32_t /*mask*/,
                                  uint32_t /*bad*/) {}

  // For observers of raw accesses to shared memory. The accesses of a copy are reported in
  // addition.
  virtual void copy_engine_event(uint32_t /*warp*/, const CopyEngineEvent&) {}

  virtual void shuffle(uint32_t /*warp*/, const ShuffleEvent&) {}

  virtual void fault(const FaultEvent&) {}

  virtual void strong_or_suspect_access(uint32_t /*warp*/, const StrongOrSuspectAccess&) {}
  virtual void fence(uint32_t /*warp*/, uint32_t /*mask*/, uint32_t /*site*/,
                     const ptx::MemoryOrder&) {}

  // Called for a strong load of device memory by an observer that replaces_loaded_values(). Lane
  // l's bytes are at values + l * 16; the observer may replace them by older ones of the same
  // words.
  virtual void replace_loaded_values(uint32_t /*warp*/, const StrongOrSuspectAccess&,
                                     std::byte* /*values*/) {}

  // The events that the observer wants. The simulator asks once for each launch.
  virtual bool wants_accesses() const { return false; }
  virtual bool wants_shared_ptx_accesses() const { return false; }
  virtual bool wants_shuffles() const { return false; }
  // The forks share state during the launch, so the forks of one attempt together must see the
  // whole launch, which therefore does not run in rounds (order_guard.h).
  virtual bool wants_whole_launch() const { return false; }
  // Looks for races in device memory. If words are suspect, the launch runs again on one host
  // thread: once in the reverse order of its blocks and warps, then in the normal order, whose
  // results count. begin_ordered_run() announces each run to this instance; begin_ordered_reports()
  // announces ordered accesses and fences to its forks.
  virtual bool wants_order() const { return false; }
  // Decides what strong loads of device memory return (races/stale_values.h). It sees all strong
  // accesses and all stores in their order, from one host thread.
  virtual bool replaces_loaded_values() const { return false; }
  virtual void begin_ordered_run() {}
  virtual void begin_ordered_reports() {}
};

// Issue counts of one instruction, counted in every launch: how often a warp issued it with at
// least one lane, with how many lanes in total, and how often a branch diverged. The warp loop
// counts them, because a virtual call for each instruction would cost more than most instructions.
struct StaticInstructionIssueCounts {
  uint64_t warps = 0;
  uint64_t lanes = 0;
  uint64_t splits = 0;
  uint64_t peer = 0;  // accesses to another device's memory
};

}  // namespace lab32::sim
