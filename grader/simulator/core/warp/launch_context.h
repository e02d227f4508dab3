// What all blocks of a launch share.
#pragma once

#include <cstdint>
#include <optional>

#include "base/grid.h"
#include "base/memory.h"
#include "simulator/core/memory/device_heap.h"
#include "simulator/core/memory/memory.h"
#include "simulator/core/warp/device_launches.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/core/warp/launch_meter.h"

namespace lab32::sim {

// What all host threads of a launch share; constant while it runs.
struct LaunchContext {
  const KernelProgram* program = nullptr;
  Memory* memory = nullptr;
  Dim3 grid, block;
  // Blocks of a cluster; the grid is a multiple of it along each side. explicit: the launch or the
  // kernel says so, be it of one block.
  Dim3 cluster{1, 1, 1};
  bool explicit_cluster = false;
  uint32_t own_shared_bytes = 0;  // static + dynamic
  uint32_t shared_bytes = 0;      // and what is reserved behind them
  uint64_t param_address = 0;     // kernel parameters in device memory
  uint32_t multiprocessors = 1;   // %nsmid
  uint64_t warp_budget = 0;
  LaunchMeter* meter = nullptr;  // of all warps together; none: they have no limit
  // Blocks that the device holds at once: so many may wait for each other (resident_blocks.h).
  uint64_t resident_blocks = 1;
  // Where grid.sync() counts the blocks that came; 0: not a cooperative launch.
  uint64_t grid_workspace = 0;
  DeviceHeap* heap = nullptr;  // where the program uses_heap
  DeviceLaunches* launches = nullptr;
  bool trap_uninitialised = true;
  bool note_warps = false;  // LaunchOutcome::warps is wanted
  // Blocks, warps and the lanes of a warp that took different ways go on in a random order, the
  // same for the same number; none: in theirs.
  std::optional<uint64_t> schedule;
  // Without a schedule: blocks, and the warps of each, take turns from the last to the first.
  bool reversed = false;
  bool keep_going = false;  // tell observers of mistakes instead of trapping
  // Blocks run on several host threads, and are known to keep to bytes of their own (apart.h).
  bool apart = false;

  // Where the program asks for it, bytes that the system has reserved, zero at first. A GPU has
  // them in front of the block's own, whose addresses begin at 1024 there, and at 0 here.
  static constexpr uint32_t kReservedShared = 288, kReservedAlign = 128;
  bool reserves_shared() const { return program->reserves_shared; }
  uint32_t reserved_at() const { return align_up(own_shared_bytes, kReservedAlign); }
  void set_shared_bytes(uint32_t own) {
    own_shared_bytes = own;
    shared_bytes = reserves_shared() ? reserved_at() + kReservedShared : own;
  }

  // Whether blocks share what a cluster has: memory, and a barrier.
  bool has_clusters() const { return cluster.count() > 1 || program->cluster_barriers; }
};

}  // namespace lab32::sim
