#include "sample_records.h"

namespace lab32::tests {
namespace {

report::LaunchRecord on_h200(const std::string& symbol) {
  report::LaunchRecord r;
  r.process_id = 4321;
  r.process_name = "copy";
  r.symbol = symbol;
  r.device_name = "sim:h200";
  r.compute_capability = "9.0";
  r.multiprocessors = 132;
  return r;
}

const std::string kSource = LAB32_ROOT "/grader/tests/sample_source.cu";

}  // namespace

report::LaunchRecord strided_launch() {
  report::LaunchRecord r = on_h200("_Z12strided_copyIfEvPKT_PS0_ji");
  r.shape.grid = {391, 1, 1};
  r.shape.block = {256, 1, 1};
  r.registers = 10;
  observe::Counters c;
  c.warp_instructions = 59408;
  c.lane_instructions = 1900256;
  c.load = {3125, 50000};
  c.store = {3125, 12500};
  c.load_ideal = c.store_ideal = 12500;
  c.l2_sectors = 62500;
  c.l2_sectors_ideal = 25000;
  r.run.counters = c;
  r.run.lines = {{kSource, 5, c}};
  r.run.occupancy = model::Occupancy{8, 64, 1.0, "warps", 229376, 10};
  observe::CacheCounters m;
  m.l1 = {62500, 0};
  m.l2 = {93248, 18432};
  m.dram_read = 1600000;
  r.run.caches = m;
  model::Prediction p;
  p.seconds = 3.51e-6;
  p.error = 0.15;
  p.bottleneck = "bound by L2: 93.2 k sectors";
  p.runner_up = "then by device memory: 1.6 MB read at 4.30 TB/s";
  r.run.predicted = p;
  return r;
}

report::LaunchRecord shared_launch() {
  report::LaunchRecord r = on_h200("_ZN4tile9transposeILi32EEEvPKfPf");
  r.id = 1;
  r.stream = 13;
  r.shape.grid = {32, 32, 1};
  r.shape.block = {32, 8, 1};
  r.static_shared = 4096;
  r.registers = 24;
  observe::Counters store, load, other;
  store.warp_instructions = 40960;
  store.lane_instructions = 1310720;
  store.load = {32768, 131072};
  store.load_ideal = 131072;
  store.l2_sectors = store.l2_sectors_ideal = 131072;
  store.shared_store = {32768, 1048576, 32768, 32768};
  load.warp_instructions = 40960;
  load.lane_instructions = 1310720;
  load.store = {32768, 131072};
  load.store_ideal = 131072;
  load.l2_sectors = load.l2_sectors_ideal = 131072;
  load.shared_load = {32768, 1048576, 1048576, 32768};
  load.ptx_level = true;
  other.warp_instructions = 8192;
  other.lane_instructions = 131072;
  r.run.lines = {{kSource, 15, load}, {kSource, 13, store}, {"/nowhere/tile.cuh", 3, other}};
  observe::Counters all;
  for (const auto& line : r.run.lines) all.add(line.counters);
  r.run.counters = all;
  r.run.ptx_level = {"line 15: ld: lanes of a warp left the unrolled loop at different times"};
  r.run.occupancy = model::Occupancy{8, 64, 1.0, "warps", 163840, 24};
  model::Prediction p;
  p.seconds = 0.000123;
  p.bottleneck = "bound by shared memory: 1.1 M wavefronts where 65.5 k would do";
  r.run.predicted = p;
  return r;
}

report::LaunchRecord faulty_launch() {
  using Kind = observe::Finding::Kind;
  report::LaunchRecord r = on_h200("_Z5shiftPfi");
  r.id = 2;
  r.shape.grid = {1, 1, 1};
  r.shape.block = {1, 1, 1};
  r.run.fault = device::Fault{"out of bounds", kSource, 22, "thread (0,0,0) of block (0,0,0) ..."};
  r.run.hazards = std::vector<observe::Finding>{
      {Kind::memory, false, kSource, 22, 0, 2,
       "line 22: thread (0,0,0) of block (0,0,0) writes 4 bytes past the end of `out`; compare the "
       "index with the number of elements before the access"},
      {Kind::race, true, kSource, 22, 22, 31, "line 22: threads 0 and 1 both store the same value"},
      {Kind::race, false, kSource, 22, 21, 1024,
       "race on kept[17] (shared, block 0): thread 17 wrote it on line 21, thread 46 reads it on "
       "line 22, and no __syncthreads() lies between"}};
  return r;
}

}  // namespace lab32::tests
