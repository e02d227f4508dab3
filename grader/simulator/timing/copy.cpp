#include "simulator/timing/copy.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "simulator/timing/machine_issue.h"
#include "simulator/timing/multiprocessor.h"
#include "simulator/timing/occupancy.h"
#include "simulator/timing/time.h"

namespace lab32::model {
namespace {

// copy_quad of grader/tools/calibration/streams.cu, blocks of 256: what a warp issues, and waits
// for.
constexpr uint32_t kWarpsPerBlock = 8, kRegisters = 14;
constexpr double kBytesPerWarp = 512, kSectors = 16, kLines = 4;
constexpr double kIssued = 17, kFloat = 3, kInteger = 1, kMultiply = 3;

// Its machine code: an index, a bound, a load, a store.
WarpTrace copy_trace() {
  WarpTrace trace;
  trace.registers = 8;
  TraceBlock& block = trace.blocks.emplace_back();
  block.runs = 1;
  const auto add = [&](const char* opcode, std::vector<uint16_t> reads,
                       std::vector<uint16_t> writes) {
    TraceInstruction in = machine_instruction(opcode);
    in.reads = std::move(reads);
    in.writes = std::move(writes);
    block.code.push_back(std::move(in));
    return &block.code.back();
  };
  add("S2R", {}, {0});
  add("S2UR", {}, {1});
  add("LDC", {}, {2});
  add("IMAD", {0, 1, 2}, {0});
  add("ISETP", {0}, {3});
  add("EXIT", {3}, {});
  add("LDC.64", {}, {4});
  add("IMAD.WIDE", {0, 4}, {4});
  TraceInstruction* access = add("LDG.E.128", {4}, {5});
  access->busy = 2 * kLines;
  access->first_misses = access->first_late = access->misses = access->late = 1;
  access->weight = kSectors;
  add("LDC.64", {}, {6});
  add("IMAD.WIDE", {0, 6}, {6});
  access = add("STG.E.128", {6, 5}, {});
  access->busy = kSectors + kLines - 1;
  access->weight = kSectors;
  add("EXIT", {}, {});
  return trace;
}

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
  work.global_loads = warps;
  work.global_requests = 2 * warps;
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
  work.dram_pages = (work.dram_read + work.dram_written) / profile.caches.dram_page_bytes;
  BlocksAtWork at;
  at.blocks = work.blocks;
  at.warps = kWarpsPerBlock;
  at.resident = work.occupancy.blocks;
  at.memory_cycles = memory_seconds(profile, work) * profile.time.sm_hz *
                     static_cast<double>(std::min<uint64_t>(profile.multiprocessors, work.blocks)) /
                     (2 * kSectors * warps);
  at.both_ways = both_ways(work);
  work.cycles = run_multiprocessor(profile, copy_trace(), at).cycles;
  at.memory_cycles = 0;
  work.cycles_alone = run_multiprocessor(profile, copy_trace(), at).cycles;
  return work;
}

}  // namespace lab32::model
