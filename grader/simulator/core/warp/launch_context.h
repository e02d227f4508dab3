// LaunchContext: the state that all host threads of a launch share (program, memory, shape and
// options). LaunchLimitMeter enforces the launch's limits, and DeviceLaunches collects the launches
// that its kernels request.
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
#include "base/work.h"
#include "simulator/core/memory/memory.h"
#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

// The limits of a launch: instructions of all warps together, seconds, and host memory for the
// stacks of its threads.

class LaunchLimitMeter {
 public:
  // Limits of 0 mean no limit. Seconds are those of a reference machine (base/work.h).
  LaunchLimitMeter(uint64_t most_instructions, double most_seconds, uint64_t most_local_bytes)
      : most_(most_instructions), seconds_(most_seconds), local_(most_local_bytes) {}

  uint64_t issued() const { return issued_; }
  // Resets the count of instructions after a rollback, because the blocks run again. The time is
  // not reset.
  void go_back(uint64_t issued) { issued_ = issued; }
  // Several host threads may call add_instructions() concurrently.
  enum class ExceededLimit : uint8_t { nothing, instructions, time };
  ExceededLimit add_instructions(uint64_t instructions) {
    const uint64_t issued = issued_ += instructions;
    if (most_ != 0 && issued > most_) return ExceededLimit::instructions;
    return is_over_time(slowness()) && is_over_time(measure_machine_slowness())
               ? ExceededLimit::time
               : ExceededLimit::nothing;
  }
  uint64_t most_instructions() const { return most_; }
  double most_seconds() const { return seconds_; }
  // Whether the local memory of one block's threads is within the limit.
  bool allows_local_bytes_of_block(uint64_t bytes_of_block) const {
    return local_ == 0 || bytes_of_block <= local_;
  }
  // Whether the local memory of all blocks that wait for each other is within the limit.
  bool allows_local_bytes_of_residents(uint64_t bytes) const {
    return local_ == 0 || bytes <= kBlocksAtOnce * local_;
  }
  uint64_t most_local_bytes() const { return local_; }

 private:
  static constexpr uint64_t kBlocksAtOnce = 8;
  bool is_over_time(double slowness) const {
    const double most = seconds_ * slowness;
    return most > 0 && watch_.wall_seconds() > most && watch_.min_of_wall_and_cpu_seconds() > most;
  }
  const uint64_t most_;
  const double seconds_;
  const uint64_t local_;
  const WorkTimer watch_;
  // This counter has cache lines of its own, because all host threads add to it.
  alignas(128) std::atomic<uint64_t> issued_{0};
};

// ---------------------------------------------------------------------------------------------
// Launches that kernels request (dynamic parallelism). They run after the requesting grid has
// ended. That grid counts as complete when they are complete (device/sim_device.cpp).

// A copy or a fill in place of a kernel launch.
struct DeviceLaunchedCopyOrFill {
  uint64_t to = 0, from = 0, bytes = 0;
  int value = -1;  // byte value of a fill; -1: a copy
};

struct DeviceLaunch {
  uint64_t function = 0;    // code_address() of the kernel; 0: a copy
  uint64_t parameters = 0;  // their address in device memory
  DeviceLaunchedCopyOrFill copy;
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;
  bool tail = false;  // the launch runs after all other launches of its grid
};

struct DeviceLaunches {
  std::map<uint64_t, DeviceLaunch> prepared;  // by the address of the launch's parameters
  std::vector<DeviceLaunch> launched;         // in call order
  // Streams and events that kernels create are numbered from kFirstHandle on; `handles` is the next
  // number.
  static constexpr uint64_t kFirstHandle = 0x1000;
  uint64_t handles = kFirstHandle;
  // error_of: the error of a launch that is impossible (cudaError_t; 0: it is possible). text_of:
  // the name or the description of an error.
  std::function<uint32_t(const DeviceLaunch&)> error_of;
  std::function<std::string(uint32_t error, bool name)> text_of;
  int32_t devices = 1;
  // The last error of each thread, by block and thread; and the device addresses of the texts of
  // errors.
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> last_errors;
  std::map<std::pair<uint32_t, bool>, uint64_t> texts;
};

// ---------------------------------------------------------------------------------------------

// The program, shape and options of a launch. All host threads of the launch share it, and it does
// not change while the launch runs.
struct LaunchContext {
  const KernelProgram* program = nullptr;
  Memory* memory = nullptr;
  Dim3 grid, block;
  // The cluster's dimensions in blocks; the grid is a multiple along each axis. explicit_cluster:
  // the launch or the kernel specifies them, even for clusters of one block.
  Dim3 cluster{1, 1, 1};
  bool explicit_cluster = false;
  uint32_t own_shared_bytes = 0;  // static + dynamic
  uint32_t shared_bytes = 0;   // shared memory of a block, including the reserved bytes at its end
  uint64_t param_address = 0;  // kernel parameters in device memory
  uint32_t multiprocessors = 1;  // %nsmid
  uint64_t warp_budget = 0;
  LaunchLimitMeter* meter = nullptr;  // limits all warps together; null: no limit
  // Blocks that the device holds at once and that may therefore wait for each other
  // (block_group.h).
  uint64_t resident_blocks = 1;
  // The address where grid.sync() counts arrived blocks; 0: not a cooperative launch.
  uint64_t grid_workspace = 0;
  KernelMallocHeap* heap = nullptr;  // set if the program uses_heap
  DeviceLaunches* launches = nullptr;
  bool trap_uninitialised = true;
  // Records the first use of device memory that was never written; the launch then continues, as on
  // a GPU.
  bool note_uninitialised = false;
  bool note_warps = false;  // the caller wants LaunchOutcome::warps
  // The seed of a random schedule of blocks, warps and diverged lanes; nullopt: the normal order.
  std::optional<uint64_t> schedule;
  std::optional<PartialBlockLaunch> part;  // nullopt: all threads run
  // If there is no random schedule: the blocks, and the warps of each block, run from the last to
  // the first.
  bool reversed = false;
  bool keep_going = false;  // report faults to observers instead of trapping
  bool looks_for_races = false;
  // Blocks run on several host threads without a guard (prove_independent_blocks()).
  bool independent_blocks = false;

  // Whether reads of memory that was never written are tracked.
  bool checks_reads() const { return begins_undefined() || note_uninitialised; }
  // Whether shared and local memory count as never written when a block begins.
  bool begins_undefined() const { return trap_uninitialised || keep_going; }

  // Bytes that the system reserves if the program needs them, initially zero. A GPU places them
  // before the block's own, whose addresses then begin at 1024; here the block's own begin at 0.
  static constexpr uint32_t kReservedShared = 288, kReservedAlign = 128;
  bool reserves_shared() const { return program->reserves_shared; }
  uint32_t reserved_at() const { return align_up(own_shared_bytes, kReservedAlign); }
  void set_shared_bytes(uint32_t own) {
    own_shared_bytes = own;
    shared_bytes = reserves_shared() ? reserved_at() + kReservedShared : own;
  }

  // Whether blocks share a cluster's memory and barrier.
  bool has_clusters() const { return cluster.count() > 1 || program->cluster_barriers; }
};

}  // namespace lab32::sim
