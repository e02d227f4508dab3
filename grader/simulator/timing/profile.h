// What the simulator needs to know of a GPU: data/devices/NAME.toml, read and checked.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lab32::model {

// [multiprocessor]
struct Multiprocessor {
  uint32_t max_threads = 0, max_blocks = 0;
  uint32_t registers = 0;                        // 32-bit
  uint32_t register_allocation_unit = 0;         // a warp's registers are a multiple of it
  uint32_t shared_bytes = 0;                     // the most that its blocks can have together
  uint32_t shared_allocation_unit = 0;           // a block's bytes are a multiple of it
  uint32_t reserved_shared_bytes_per_block = 0;  // the system's own part of each block
  uint32_t l1_and_shared_bytes = 0;              // one memory: what shared memory leaves is L1
  std::vector<uint32_t> shared_splits;  // bytes, ascending: shared memory takes one of these
};

// [caches]: what the model of L1 and L2 needs (simulator/observers/caches/caches.h).
struct Caches {
  uint32_t l1_ways = 0;
  uint64_t l2_bytes = 0;
  uint32_t l2_ways = 0;
  // L2 may be in two sides, each before half of the device memory. Data of the far side are looked
  // up, and kept, in both.
  uint32_t l2_sides = 1;
  uint32_t l2_slices = 0;  // atomics of one slice are done one after the other
  uint64_t dirty_limit = 0, partial_dirty_limit = 0;  // bytes; above, the oldest are written back
  uint32_t dram_access_bytes = 0, dram_page_bytes = 0, dram_banks = 0;
  double float_atomic = 1;  // what an atomic on a float costs L2, in atomics on an integer
};

// [time]: what the time model needs (time.h); seconds, bytes, and warp instructions a clock and
// multiprocessor. README.md says what each stands for.
struct Time {
  double sm_hz = 0;
  double dram_bytes_per_second = 0;  // reached by a stream
  double dram_pages_per_second = 0;  // opened
  double l2_sectors_per_second = 0;  // looked up, both sides together
  // Lines, or parts of them, looked up for loads; one for a store, and one fetched from device
  // memory, cost so many.
  double l2_lines_per_second = 0, l2_write_line = 1, l2_fill_line = 1;
  double l1_per_clock =
      0;  // cycles' work of L1 (simulator/observers/caches/cache_record.h) a clock
  double shared_wavefronts_per_clock = 0;
  double issue_per_clock = 0, fp32_per_clock = 0, alu_per_clock = 0, multiply_per_clock = 0;
  double half_per_clock = 0, fp64_per_clock = 0, special_per_clock = 0, memory_per_clock = 0;
  double atomic_seconds = 0;     // one after the other in one slice of L2
  double blocks_per_second = 0;  // that the launcher hands out
  double warps_per_clock = 0;    // that a multiprocessor starts
  double block_seconds = 0;      // from a block's end to its successor's first instruction
  // Of a kernel that does nothing, and what events around a launch add; of launches in a row, from
  // one to the next.
  double launch_seconds = 0, event_seconds = 0, warm_launch_seconds = 0;
  double l1_latency = 0, l2_latency = 0, dram_latency = 0, shared_latency = 0;  // seconds
  double barrier_latency = 0;                                                   // seconds
  double ramp_seconds = 0;          // that memory needs to get busy, and is not busy at the end
  double first_access_seconds = 0;  // that a multiprocessor's first access to memory takes longer
  // How much longer a load takes where L2 or device memory are half busy: of one that all read; and
  // besides, where device memory is written as much as read.
  double memory_queue = 0, memory_turn = 0;
  double code_seconds =
      0;  // from one line of instructions to the next that no warp has fetched yet
  double split_seconds = 0;  // that lanes wait which took another way than others
  double split_slots = 0;    // issue slots that a warp loses where its lanes diverge
  double softness = 0;  // how much resources that are nearly equally busy get in each other's way
  // Mean absolute error of predicted times, relative: of kernels under 5 us, to 50 us, and longer.
  std::array<double, 3> error{};
};

struct Profile {
  std::string id;    // "h200": the file's name
  std::string name;  // "NVIDIA H200"
  std::string arch;  // "sm_90"
  uint32_t multiprocessors = 0;
  // So many multiprocessors each can hold a cluster together; empty: not known.
  std::vector<uint32_t> cluster_groups;
  uint32_t max_threads_per_block = 0;
  uint32_t shared_bytes_per_block = 0;  // without asking for more
  uint32_t shared_bytes_opt_in = 0;     // the most shared memory a block can have
  std::array<uint32_t, 3> max_grid{}, max_block{};
  uint64_t dram_bytes = 0;
  uint32_t dram_bus_bits = 0;
  uint64_t dram_clock_hz = 0;
  Multiprocessor multiprocessor;
  Caches caches;
  Time time;
};

// Throws Error naming the file and the key when something is missing, or the profiles that there
// are when there is none of this name.
Profile read_profile(const std::string& id);
std::vector<std::string> profile_ids();

}  // namespace lab32::model
