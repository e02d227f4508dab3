#include "simulator/model/copy.h"

#include <algorithm>

#include "simulator/model/occupancy.h"

namespace lab32::model {
namespace {

// copy_quad of grader/measure/model/kernels.cu, blocks of 256: what a warp issues, and waits for.
constexpr uint32_t kWarpsPerBlock = 8, kRegisters = 14;
constexpr double kBytesPerWarp = 512, kSectors = 16, kLines = 4;
constexpr double kIssued = 17, kFloat = 3, kInteger = 1, kMultiply = 3, kChainCycles = 33.5;

}  // namespace

Work copy_work(const Profile& profile, uint64_t bytes) {
  const double half = static_cast<double>(bytes) / 2;
  Work work;
  work.warps_per_block = kWarpsPerBlock;
  work.blocks = static_cast<uint64_t>(half / kBytesPerWarp / kWarpsPerBlock) + 1;
  const double warps = half / kBytesPerWarp;
  work.occupancy = occupancy(profile, 32 * kWarpsPerBlock, kRegisters, 0, 0);
  work.issue.all = kIssued * warps;
  work.issue.fp32 = kFloat * warps;
  work.issue.alu = kInteger * warps;
  work.issue.multiply = kMultiply * warps;
  work.issue.memory = 2 * warps;
  work.global_rounds = work.global_loads = warps;
  work.global_requests = 2 * warps;
  work.chain_cycles = kChainCycles * warps;
  // A load is looked up, and each line that misses costs one more; a store leaves sector by sector.
  work.l1_load_cycles = 2 * kLines * warps;
  work.l1_store_cycles = (kSectors + kLines - 1) * warps;
  // What lies on the far side of L2 is looked up on both.
  const double sides = profile.caches.l2_sides > 1 ? 1.5 : 1;
  work.l2_sectors = 2 * kSectors * sides * warps;
  work.l2_read_lines = work.l2_write_lines = kLines * sides * warps;
  work.l2_fills = kLines * warps;
  work.dram_read = half;
  work.dram_written = std::max(0.0, half - static_cast<double>(profile.caches.dirty_limit));
  work.dram_accesses = (work.dram_read + work.dram_written) / profile.caches.dram_access_bytes;
  // A page is opened once by each of some blocks that read it side by side (copy_quad).
  work.dram_pages = 0.2 * work.dram_accesses;
  return work;
}

}  // namespace lab32::model
