// What all host threads of a launch share: its program, memory and shape, the meter of what it may
// use, and the launches that its kernels ask for.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/grid.h"
#include "base/memory.h"
#include "base/work_time.h"
#include "simulator/core/memory/memory.h"
#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

// What all warps of a launch may issue together, how long it may take, and how much of the host's
// memory the stacks of its threads.

class LaunchMeter {
 public:
  // 0: no limit. Seconds are those of a usual machine (base/work_time.h).
  LaunchMeter(uint64_t most_instructions, double most_seconds, uint64_t most_local_bytes)
      : most_(most_instructions), seconds_(most_seconds), local_(most_local_bytes) {}

  uint64_t issued() const { return issued_; }
  // What was issued since then has not happened, and is done again; the time goes on.
  void go_back(uint64_t issued) { issued_ = issued; }
  // Several host threads may add at once.
  enum class Over : uint8_t { nothing, instructions, time };
  Over add(uint64_t instructions) {
    const uint64_t issued = issued_ += instructions;
    if (most_ != 0 && issued > most_) return Over::instructions;
    return late(slowness()) && late(measure_slowness()) ? Over::time : Over::nothing;
  }
  uint64_t most_instructions() const { return most_; }
  double most_seconds() const { return seconds_; }
  // Local memory of a block's threads together.
  bool allows_local(uint64_t bytes_of_block) const {
    return local_ == 0 || bytes_of_block <= local_;
  }
  // Of blocks that wait for each other.
  bool allows_local_of_all(uint64_t bytes) const {
    return local_ == 0 || bytes <= kBlocksAtOnce * local_;
  }
  uint64_t most_local_bytes() const { return local_; }

 private:
  static constexpr uint64_t kBlocksAtOnce = 8;
  bool late(double slowness) const {
    const double most = seconds_ * slowness;
    return most > 0 && watch_.passed() > most && watch_.seconds() > most;
  }
  const uint64_t most_;
  const double seconds_;
  const uint64_t local_;
  const WorkTimer watch_;
  // In cache lines of its own, also on the stack beside the launch: all host threads add to it.
  alignas(128) std::atomic<uint64_t> issued_{0};
};

// ---------------------------------------------------------------------------------------------
// Launches that kernels ask for (dynamic parallelism). They run when the grid that asked has ended,
// which counts as complete when they are (device/sim_device.cpp).

// A copy or a fill in the place of a kernel.
struct DeviceCopy {
  uint64_t to = 0, from = 0, bytes = 0;
  int value = -1;  // of each byte; -1: a copy
};

struct DeviceLaunch {
  uint64_t function = 0;    // code_address() of the kernel; 0: a copy
  uint64_t parameters = 0;  // where they lie in device memory
  DeviceCopy copy;
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;
  bool tail = false;  // behind all others of its grid
};

struct DeviceLaunches {
  std::map<uint64_t, DeviceLaunch> prepared;  // by where their parameters lie
  std::vector<DeviceLaunch> launched;         // in their order
  // Streams and events that kernels make are numbers from the first on; the next one's.
  static constexpr uint64_t kFirstHandle = 0x1000;
  uint64_t handles = kFirstHandle;
  // What a launch says that is impossible (cudaError_t; 0: it is not), and what an error is called
  // and means.
  std::function<uint32_t(const DeviceLaunch&)> error_of;
  std::function<std::string(uint32_t error, bool name)> text_of;
  int32_t devices = 1;
  // Each thread's last error, by block and thread; and texts, where they lie in device memory.
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> last_errors;
  std::map<std::pair<uint32_t, bool>, uint64_t> texts;
};

// ---------------------------------------------------------------------------------------------
// What all blocks of a launch share.

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
  // Blocks run on several host threads, and are known to keep to bytes of their own
  // (prove_independent_blocks()).
  bool independent_blocks = false;

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
