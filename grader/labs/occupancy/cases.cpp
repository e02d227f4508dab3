#include "labs/occupancy/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/grid.h"
#include "base/random.h"
#include "base/text.h"
#include "simulator/timing/occupancy.h"

namespace lab32::checks::occupancy {
namespace {

constexpr int32_t kQuarters = 4;

int32_t rounded_up(int32_t n, int32_t unit) { return (n + unit - 1) / unit * unit; }

// Rules that a student's calculator may ignore; each field is true if it does. With the default
// values the calculation is right, as a test shows.
struct OmittedOccupancyRules {
  bool warp = false;           // count single threads
  bool register_unit = false;  // a warp gets exactly the registers it asks for
  bool quarters = false;       // treat the registers as one pool
  bool reserved = false;       // ignore the shared memory that the system reserves per block
  bool shared_unit = false;
  bool blocks = false;  // ignore the limit on blocks
};

// The number of blocks per multiprocessor that each resource alone would allow.
struct BlocksByResource {
  int32_t threads, blocks, registers, shared;

  int32_t all() const { return std::min({threads, blocks, registers, shared}); }
  int32_t limiting_resource_bits() const {
    const int32_t least = all();
    return (threads == least ? kThreads : 0) | (blocks == least ? kBlocks : 0) |
           (registers == least ? kRegisters : 0) | (shared == least ? kShared : 0);
  }
};

BlocksByResource blocks_by_resource(const MultiprocessorLimits& sm, const BlockUsage& usage,
                                    const OmittedOccupancyRules& f) {
  const int32_t warps = (usage.threads + kWarpSize - 1) / kWarpSize;
  const int32_t threads =
      f.warp ? sm.threads / usage.threads : sm.threads / kWarpSize / std::max(warps, 1);
  int32_t of_warp = usage.registers * kWarpSize;
  if (!f.register_unit) of_warp = rounded_up(of_warp, sm.register_unit);
  int32_t registers = sm.registers / std::max(1, usage.registers * usage.threads);
  if (!f.warp)
    registers = f.quarters ? sm.registers / of_warp / warps
                           : sm.registers / kQuarters / of_warp * kQuarters / warps;
  int32_t of_block = usage.shared + (f.reserved ? 0 : sm.shared_reserved);
  if (!f.shared_unit) of_block = rounded_up(of_block, sm.shared_unit);
  // A block without shared memory is not limited by it: the number returned is more than a
  // multiprocessor can hold.
  const int32_t shared = of_block > 0 ? sm.shared / of_block : sm.threads + 1;
  return {threads, f.blocks ? sm.threads : sm.blocks, registers, shared};
}

int32_t bits_of_limiter(const std::string& limiter) {
  int32_t limits = 0;
  const std::array<std::pair<const char*, int32_t>, 4> words{{{"warps", kThreads},
                                                              {"blocks", kBlocks},
                                                              {"registers", kRegisters},
                                                              {"shared memory", kShared}}};
  for (const auto& [word, limit] : words)
    if (limiter.find(word) != std::string::npos) limits |= limit;
  return limits;
}

// Adds the case if at least one block fits on a multiprocessor.
void add_case_if_block_fits(std::vector<OccupancyCase>& cases, const model::DeviceProfile& gpu,
                            const BlockUsage& usage) {
  try {
    const model::Occupancy o = model::occupancy(gpu, static_cast<uint32_t>(usage.threads),
                                                static_cast<uint32_t>(usage.registers), 0,
                                                static_cast<uint32_t>(usage.shared));
    cases.push_back({gpu, usage, static_cast<int32_t>(o.blocks), bits_of_limiter(o.limiter)});
  } catch (const Error&) {
  }
}

// Adds a case on a GPU that does not exist, with the number of blocks by the rules of the handout.
void add_case_on_fictitious_gpu(std::vector<OccupancyCase>& cases, const model::DeviceProfile& gpu,
                                const BlockUsage& usage) {
  OccupancyCase one{gpu, usage};
  one.drawn = true;
  const BlocksByResource blocks = blocks_by_resource(one.limits_of_gpu(), usage, {});
  one.blocks = blocks.all();
  one.limits = blocks.limiting_resource_bits();
  if (one.blocks > 0) cases.push_back(one);
}

int32_t random_between(Random& random, int32_t least, int32_t most) {
  return least + static_cast<int32_t>(random.below(static_cast<uint32_t>(most - least + 1)));
}

// A GPU whose limits are drawn one by one, so that no calculator knows them beforehand.
model::DeviceProfile random_gpu(Random& random) {
  const auto drawn = [&random](int32_t unit, int32_t least, int32_t most) {
    return static_cast<uint32_t>(unit * random_between(random, least, most));
  };
  model::DeviceProfile gpu;
  gpu.name = "GPU that is drawn";
  model::SmLimits& m = gpu.multiprocessor;
  m.max_threads = drawn(128, 8, 24);
  m.max_blocks = drawn(1, 8, 40);
  m.registers = drawn(4096, 8, 32);
  m.register_allocation_unit = drawn(128, 1, 4);
  m.shared_bytes = drawn(1024, 48, 256);
  m.shared_allocation_unit = drawn(128, 1, 4);
  m.reserved_shared_bytes_per_block = drawn(256, 0, 8);
  gpu.shared_bytes_opt_in = m.shared_bytes - m.reserved_shared_bytes_per_block;
  return gpu;
}

// A random kernel, of four kinds in turn: limited by registers, with blocks so small that the units
// of a warp's registers matter; at the edge of the shared memory for a number of blocks; with small
// blocks; and arbitrary.
BlockUsage random_block_usage(Random& random, const model::DeviceProfile& gpu, size_t kind) {
  const model::SmLimits& m = gpu.multiprocessor;
  BlockUsage usage{random_between(random, 1, 1024), random_between(random, 16, 32), 0};
  if (random.below(2) == 0) usage.threads = rounded_up(usage.threads, kWarpSize);
  if (kind % 4 == 0) {
    usage.threads = random_between(random, 1, 256);
    usage.registers = random_between(random, 33, 168);
  }
  if (kind % 4 == 1) {
    usage.threads = random_between(random, 1, 96);
    const int32_t share = static_cast<int32_t>(m.shared_bytes) / random_between(random, 2, 14);
    const int32_t slack = static_cast<int32_t>(m.reserved_shared_bytes_per_block) + 512;
    usage.shared = std::max(0, share - random_between(random, 0, slack));
  }
  if (kind % 4 == 2) usage.threads = random_between(random, 1, 64);
  if (kind % 4 == 3) {
    usage.registers = random_between(random, 16, 128);
    usage.shared = random_between(random, 0, static_cast<int32_t>(gpu.shared_bytes_opt_in) / 4);
  }
  return usage;
}

}  // namespace

MultiprocessorLimits OccupancyCase::limits_of_gpu() const {
  const model::SmLimits& m = gpu.multiprocessor;
  const auto number = [](uint32_t n) { return static_cast<int32_t>(n); };
  return {number(m.max_threads),
          number(m.max_blocks),
          number(m.registers),
          number(m.register_allocation_unit),
          number(m.shared_bytes),
          number(m.shared_allocation_unit),
          number(m.reserved_shared_bytes_per_block)};
}

std::string OccupancyCase::show() const {
  const MultiprocessorLimits sm = limits_of_gpu();
  return fmt::format(
      "a block of {} threads, {} registers per thread, {} bytes of shared memory\n"
      "on the {}: {} threads, {} blocks, {} registers (units of {}), {} bytes of shared memory "
      "(units of {}, {} reserved for each block)",
      grouped_digits(static_cast<uint64_t>(usage.threads)), usage.registers,
      grouped_digits(static_cast<uint64_t>(usage.shared)), gpu.name,
      grouped_digits(static_cast<uint64_t>(sm.threads)), sm.blocks,
      grouped_digits(static_cast<uint64_t>(sm.registers)), sm.register_unit,
      grouped_digits(static_cast<uint64_t>(sm.shared)), sm.shared_unit,
      grouped_digits(static_cast<uint64_t>(sm.shared_reserved)));
}

int OccupancyCase::hand_check_effort() const {
  return (usage.shared > 0 ? 2 : 0) + (usage.registers > 32 ? 1 : 0) +
         (usage.threads % kWarpSize != 0 ? 1 : 0) + (drawn ? 4 : 0);
}

std::vector<OccupancyCase> occupancy_cases(Random& random, uint32_t random_cases) {
  std::vector<OccupancyCase> cases;
  for (const char* id : {"h200", "rtx4060", "t4"}) {
    const model::DeviceProfile gpu = model::read_device_profile(id);
    const model::SmLimits& m = gpu.multiprocessor;
    // The shared memory of a block of which exactly eight fit; the cases have it, and one byte
    // more.
    const int32_t eighth = static_cast<int32_t>(m.shared_bytes / 8 / m.shared_allocation_unit *
                                                    m.shared_allocation_unit -
                                                m.reserved_shared_bytes_per_block);
    for (const BlockUsage& usage :
         {BlockUsage{1024, 32, 0}, BlockUsage{1024, 33, 0}, BlockUsage{512, 64, 0},
          BlockUsage{512, 65, 0}, BlockUsage{32, 16, 0}, BlockUsage{33, 16, 0},
          BlockUsage{1, 16, 0}, BlockUsage{96, 40, 0}, BlockUsage{192, 72, 0},
          BlockUsage{160, 80, 0}, BlockUsage{768, 24, 0}, BlockUsage{64, 32, eighth},
          BlockUsage{64, 32, eighth + 1}, BlockUsage{128, 128, 0}, BlockUsage{128, 255, 0},
          BlockUsage{32, 255, 1000}, BlockUsage{256, 32, 100}})
      add_case_if_block_fits(cases, gpu, usage);
    for (size_t wanted = cases.size() + random_cases, kind = 0; cases.size() < wanted; ++kind)
      add_case_if_block_fits(cases, gpu, random_block_usage(random, gpu, kind));
  }
  for (size_t wanted = cases.size() + random_cases, kind = 0; cases.size() < wanted; ++kind) {
    const model::DeviceProfile gpu = random_gpu(random);
    add_case_on_fictitious_gpu(cases, gpu, random_block_usage(random, gpu, kind));
  }
  return cases;
}

std::string limit_names(int32_t limits) {
  std::vector<std::string> names;
  if (limits & kThreads) names.emplace_back("threads");
  if (limits & kBlocks) names.emplace_back("blocks");
  if (limits & kRegisters) names.emplace_back("registers");
  if (limits & kShared) names.emplace_back("shared memory");
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, " and "));
}

std::string misconception_hint(const std::vector<OccupancyCase>& cases,
                               const std::vector<int>& blocks) {
  struct Misconception {
    const char* words;
    OmittedOccupancyRules ignored;
  };
  std::array<Misconception, 6> misconceptions{};
  misconceptions[0].words =
      "It seems to count single threads. The last warp of a block may have few "
      "threads: how many thread slots does it take?";
  misconceptions[0].ignored.warp = true;
  misconceptions[1].words =
      "It seems to give a warp exactly the registers it asks for. In which units "
      "are they given?";
  misconceptions[1].ignored.register_unit = true;
  misconceptions[2].words =
      "It seems to treat the registers as one pool. They lie in four quarters, and "
      "a warp takes its registers from one of them: how many are left over in each?";
  misconceptions[2].ignored.quarters = true;
  misconceptions[3].words =
      "It seems to ignore the shared memory that the system reserves in each block.";
  misconceptions[3].ignored.reserved = true;
  misconceptions[4].words =
      "It seems to give a block exactly the shared memory it asks for. In which "
      "units is it given?";
  misconceptions[4].ignored.shared_unit = true;
  misconceptions[5].words =
      "It seems to ignore the limit on the number of resident blocks, which holds "
      "for small blocks, too.";
  misconceptions[5].ignored.blocks = true;
  for (const Misconception& idea : misconceptions) {
    bool all = true;
    for (size_t i = 0; i < cases.size() && all; ++i)
      all = blocks[i] ==
            blocks_by_resource(cases[i].limits_of_gpu(), cases[i].usage, idea.ignored).all();
    if (all) return idea.words;
  }
  return "";
}

std::vector<WaveCase> wave_cases(Random& random, uint32_t random_cases) {
  std::vector<WaveCase> cases = {{1, 1},       {1, 1056},    {1056, 1056}, {1057, 1056},
                                 {2112, 1056}, {2111, 1056}, {139, 132},   {1000003, 792}};
  for (uint32_t i = 0; i < random_cases; ++i) {
    WaveCase c;
    c.resident = random_between(random, 1, 4224);
    // In every fourth case the last wave is full.
    c.grid =
        i % 4 == 0 ? c.resident * random_between(random, 1, 9) : random_between(random, 1, 20000);
    cases.push_back(c);
  }
  return cases;
}

// ---- inputs of part B and their expected results ----

std::vector<int32_t> random_next_nodes_by_sector(uint32_t nodes) {
  Random random(nodes);
  std::vector<int32_t> next(nodes);
  for (uint32_t i = 0; i < nodes; i += 8) {
    const uint32_t to = random.below(nodes / 8) * 8;
    for (uint32_t k = 0; k < 8; ++k) next[i + k] = static_cast<int32_t>(to + k);
  }
  return next;
}

// Positions in quarters of cells, so that their sums are exact.
std::vector<FieldCellStepAndValue> random_vector_field(uint64_t seed) {
  Random random(seed);
  std::vector<FieldCellStepAndValue> cells(size_t{kSide} * kSide * kSide);
  const auto quarters = [&] { return static_cast<float>(random.below(64)) / 4; };
  for (FieldCellStepAndValue& c : cells)
    c = {quarters(), quarters(), quarters(), static_cast<float>(1 + random.below(16384)) / 16384};
  return cells;
}

std::vector<float> clustered_particle_positions(uint32_t n, uint32_t first_start_cell) {
  std::vector<float> start(size_t{3} * n);
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t cell = first_start_cell + i / 16;  // 16 neighbours start in one cell
    start[i] = static_cast<float>(cell % kSide) + static_cast<float>(i % 16) / 16;
    start[size_t{n} + i] = static_cast<float>(cell / kSide % kSide);
    start[size_t{2} * n + i] = static_cast<float>(cell / kSide / kSide % kSide);
  }
  return start;
}

std::vector<float> expected_path_statistics(const std::vector<FieldCellStepAndValue>& field,
                                            const std::vector<float>& start, uint32_t n,
                                            uint32_t steps) {
  std::vector<float> out(size_t{kTraced} * n);
  for (size_t i = 0; i < n; ++i) {
    double at[3] = {start[i], start[n + i], start[2 * size_t{n} + i]};
    double sums[kTraced] = {};
    sums[4] = 1e30, sums[5] = -1e30;
    for (uint32_t k = 0; k < steps; ++k) {
      const auto side = [](double v) { return static_cast<uint32_t>(v) % kSide; };
      const FieldCellStepAndValue& f =
          field[side(at[0]) + size_t{kSide} * (side(at[1]) + kSide * side(at[2]))];
      const double step[3] = {f.x, f.y, f.z};
      sums[4] = std::min(sums[4], double{f.w}), sums[5] = std::max(sums[5], double{f.w});
      sums[6] += f.w, sums[7] += double{f.w} * f.w;
      for (int axis = 0; axis < 3; ++axis) {
        at[axis] += step[axis];
        sums[3] += step[axis];
        sums[8 + axis] += at[axis];
        sums[11 + axis] += at[axis] * f.w;
      }
    }
    for (int axis = 0; axis < 3; ++axis) sums[axis] = at[axis];
    for (size_t k = 0; k < kTraced; ++k) out[k * n + i] = static_cast<float>(sums[k]);
  }
  return out;
}

int32_t record_block_usage(Check& check, const BlockUsage& usage) {
  check.figure("threads", usage.threads);
  check.figure("registers", usage.registers);
  check.figure("shared_bytes", usage.shared);
  const std::string device = check.device().name(), simulated = "sim:";
  if (device.rfind(simulated, 0) != 0) return 0;
  const OccupancyCase block{model::read_device_profile(device.substr(simulated.size())), usage};
  const BlocksByResource allowed = blocks_by_resource(block.limits_of_gpu(), usage, {});
  check.figure("threads_allow", allowed.threads);
  check.figure("blocks_allow", allowed.blocks);
  check.figure("registers_allow", allowed.registers);
  check.figure("shared_allows", allowed.shared);
  return allowed.all();
}

int32_t record_block_usage(Check& check, const device::Kernel& kernel,
                           const device::LaunchShape& shape) {
  const device::KernelInfo& info = kernel.info();
  return record_block_usage(check,
                            {static_cast<int32_t>(shape.block.count()),
                             std::max(1, static_cast<int32_t>(info.registers.value_or(0))),
                             static_cast<int32_t>(info.static_shared + shape.dynamic_shared)});
}

}  // namespace lab32::checks::occupancy
