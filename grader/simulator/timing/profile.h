// The description of a GPU: data/devices/NAME.toml, read and checked. It has the limits of
// launches, the sizes of the caches, and the constants of the time model; each line of the file
// states its source.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lab32::model {

// [multiprocessor]
struct SmLimits {
  uint32_t max_threads = 0, max_blocks = 0;
  uint32_t registers = 0;  // 32-bit
  // The registers of a warp are rounded up to a multiple of this number.
  uint32_t register_allocation_unit = 0;
  uint32_t shared_bytes = 0;  // the most that all blocks on a multiprocessor can have together
  // The shared memory of a block is rounded up to a multiple of this number.
  uint32_t shared_allocation_unit = 0;
  uint32_t reserved_shared_bytes_per_block = 0;  // the system's reserve per block
  // One memory serves as both; L1 gets the part that shared memory does not use.
  uint32_t l1_and_shared_bytes = 0;
  std::vector<uint32_t> shared_splits;  // possible sizes of shared memory, in bytes, ascending
};

// [caches]: the parameters of the cache model (simulator/observers/caches/caches.h).
struct CacheParameters {
  uint32_t l1_ways = 0;
  uint64_t l2_bytes = 0;
  uint32_t l2_ways = 0;
  // L2 may have two sides, each of which serves half of the device memory. Data of the far side are
  // looked up, and cached, on both sides.
  uint32_t l2_sides = 1;
  uint32_t l2_slices = 0;  // the atomics of one slice are serialised
  // Limits of dirty data in L2, in bytes. Beyond them, the oldest lines are written back.
  uint64_t dirty_limit = 0, partial_dirty_limit = 0;
  uint32_t dram_access_bytes = 0, dram_page_bytes = 0, dram_banks = 0;
  double float_atomic = 1;  // cost of a float atomic in L2, relative to an integer atomic
};

// [time]: the parameters of the time model (time.h), in seconds, bytes, and warp instructions per
// clock and multiprocessor. README.md explains them.
struct TimeParameters {
  double sm_hz = 0;
  double dram_bytes_per_second = 0;  // rate of a streaming access
  double dram_pages_per_second = 0;  // page openings
  double l2_sectors_per_second = 0;  // lookups of both sides together
  // The rate of line lookups for loads (a lookup is of a line or a part of it), and the costs of a
  // store and of a line that is fetched from device memory, in such lookups.
  double l2_lines_per_second = 0, l2_write_line = 1, l2_fill_line = 1;
  double l1_per_clock =
      0;  // cycles of L1 work (simulator/observers/caches/cache_record.h) per clock
  double shared_wavefronts_per_clock = 0;
  double issue_per_clock = 0, fp32_per_clock = 0, alu_per_clock = 0, multiply_per_clock = 0;
  double half_per_clock = 0, fp64_per_clock = 0, special_per_clock = 0, memory_per_clock = 0;
  double atomic_seconds = 0;     // duration of one atomic in a slice of L2
  double blocks_per_second = 0;  // rate at which the launcher distributes blocks
  double warps_per_clock = 0;    // rate at which a multiprocessor starts warps
  double block_seconds = 0;      // from a block's end to its successor's first instruction
  // launch_seconds: the time of an empty kernel. event_seconds: what events around a launch add to
  // it. warm_launch_seconds: the time per launch if many launches follow each other.
  double launch_seconds = 0, event_seconds = 0, warm_launch_seconds = 0;
  double l1_latency = 0, l2_latency = 0, dram_latency = 0, shared_latency = 0;  // seconds
  double barrier_latency = 0;                                                   // seconds
  double ramp_seconds = 0;  // time in which memory is not fully busy at the start and the end
  double first_access_seconds = 0;  // additional time of a multiprocessor's first memory access
  // memory_queue: the relative increase of a load's latency when L2 or device memory is half busy.
  // memory_turn: the additional increase if device memory is written as much as read.
  double memory_queue = 0, memory_turn = 0;
  double code_seconds =
      0;  // from one line of instructions to the next if no warp has fetched that line yet
  double split_seconds = 0;  // the time for which lanes wait that took a different path
  double split_slots = 0;    // issue slots that a warp loses when its lanes diverge
  double softness = 0;       // how much equally busy resources slow each other down
  // The mean absolute relative error of predicted times, for programs from which no parameter was
  // derived: for kernels of up to 5 us, of up to 50 us, and longer ones.
  std::array<double, 3> error{};
};

struct DeviceProfile {
  std::string id;    // "h200": the file's name
  std::string name;  // "NVIDIA H200"
  std::string arch;  // "sm_90"
  uint32_t multiprocessors = 0;
  // The sizes of the groups of multiprocessors within which a cluster must fit; empty: not known.
  std::vector<uint32_t> cluster_groups;
  uint32_t max_threads_per_block = 0;
  uint32_t shared_bytes_per_block = 0;  // without opting in to more
  uint32_t shared_bytes_opt_in = 0;     // the most shared memory that a block can have
  std::array<uint32_t, 3> max_grid{}, max_block{};
  uint64_t dram_bytes = 0;
  uint32_t dram_bus_bits = 0;
  uint64_t dram_clock_hz = 0;
  SmLimits multiprocessor;
  CacheParameters caches;
  TimeParameters time;
};

// Reads data/devices/ID.toml. Throws Error, which names the file and the key if a value is missing,
// or lists the profiles if there is none with this name.
DeviceProfile read_device_profile(const std::string& id);
std::vector<std::string> device_profile_ids();

}  // namespace lab32::model
