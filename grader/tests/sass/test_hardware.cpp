// The simulator with the plans of the reconciliation, compared with an H200: all memory counters of
// every launch of data/measured/sass.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <set>

#include "base/files.h"
#include "device/device.h"
#include "device/run_text.h"
#include "toolchain/nvcc.h"
#include "toolchain/toolchain.h"
#include "tools/measure/sass/launches.inc"

using namespace lab32;

namespace {

// A module of this test on the simulated H200.
struct LoadedKernels {
  std::unique_ptr<device::Device> device = device::open_device("sim:h200");
  std::unique_ptr<device::LoadedModule> module;

  explicit LoadedKernels(const char* source) {
    const auto artifact =
        toolchain::compile(toolchain::checkout_directory() / source, "sm_90", source);
    REQUIRE_MESSAGE(!artifact.sass.empty(), "there is no nvdisasm: run make test");
    module = device->load(artifact);
  }

  device::LaunchResult run(const std::string& name, Dim3 grid, Dim3 block, uint32_t shared,
                           const std::vector<device::KernelArgument>& args) {
    device::Kernel* kernel = module->find(name);
    REQUIRE_MESSAGE(kernel != nullptr, name);
    device::LaunchShape shape;
    shape.grid = grid;
    shape.block = block;
    shape.dynamic_shared = shared;
    device::LaunchOptions options;
    options.check_hazards = false;
    device::LaunchResult run = device->launch(*kernel, shape, args, options);
    REQUIRE_MESSAGE(!run.fault, name << ": " << (run.fault ? describe(*run.fault) : ""));
    REQUIRE(run.counters);
    return run;
  }
};

struct Launched {
  std::string kernel;
  device::LaunchResult run;
};

std::vector<Launched> launch_all() {
  using namespace inputs;
  LoadedKernels loaded("grader/tests/fixtures/sass/kernels.cu");
  // cudaMalloc aligns large buffers to 2 MB. L1 looks up several lines of scattered atomics at
  // once, and which ones depends on their addresses.
  constexpr uint64_t kAlign = 2 << 20;
  auto buffer = [&](const char* name, auto value) {
    using T = decltype(value(0u));
    std::vector<T> host(kBytes / sizeof(T));
    for (unsigned i = 0; i < host.size(); ++i) host[i] = value(i);
    device::DeviceAddressRange b = loaded.device->allocate(kBytes + kAlign, name);
    b.address = (b.address + kAlign - 1) / kAlign * kAlign;
    b.bytes = kBytes;
    loaded.device->upload(b, host.data(), kBytes);
    return b;
  };
  const auto bytes = buffer("bytes", byte_at);
  const auto shorts = buffer("shorts", short_at);
  const auto ints = buffer("ints", int_at);
  const auto floats = buffer("floats", float_at);
  const auto doubles = buffer("doubles", double_at);
  const auto longs = buffer("longs", long_at);
  const auto out = buffer("out", zero_at);
  const auto out2 = buffer("out2", zero_at);
  auto at = [](device::DeviceAddressRange b, uint64_t skip) {
    return device::DeviceAddressRange{b.address + skip, b.bytes - skip};
  };
  // Like CUDA's dim3, also made from plain numbers, which the list contains.
  struct dim3 : Dim3 {
    dim3(uint32_t x, uint32_t y = 1) : Dim3{x, y, 1} {}  // NOLINT: implicit on purpose
  };
  const std::vector<char> zeros(64, 0);

  std::vector<Launched> all;
  auto launch = [&](const char* name, dim3 grid, dim3 block, uint32_t shared,
                    const std::vector<device::KernelArgument>& args) {
    all.push_back({name, loaded.run(name, grid, block, shared, args)});
  };
#define LAUNCH(kernel, grid, block, shared, ...) \
  launch(#kernel, grid, block, shared, {__VA_ARGS__});
#define CLEAR(buffer, count) loaded.device->upload(buffer, zeros.data(), count);
#include "tools/measure/sass/launches.inc"
#undef LAUNCH
#undef CLEAR
  return all;
}

std::string path_of(const char* table) {
  return (toolchain::checkout_directory() / "data/measured/sass" / table).string();
}

uint64_t number(const TableRow& row, const std::string& metric) {
  REQUIRE_MESSAGE(row.count(metric) == 1, metric);
  return std::stoull(row.at(metric));
}

// Counters that vary between runs of the GPU itself.
enum class Free { nothing, addresses, global_atomics, rounds };

Free freedom(const std::string& kernel, const std::string& block) {
  // The thread that draws a ticket determines where it stores.
  if (kernel == "tickets" || kernel == "shared_tickets") return Free::addresses;
  // The number of failed attempts to take a lock varies.
  if (kernel == "locked") return Free::global_atomics;
  // The number of compare-and-swaps that fail because of another warp varies.
  if (block != "32x1x1") {
    for (const char* adder : {"shared_float_add", "shared_float_total", "shared_double_add"}) {
      if (kernel == adder) return Free::rounds;
    }
  }
  return Free::nothing;
}

}  // namespace

TEST_SUITE("sass: hardware") {
  TEST_CASE("sass: all memory counters of all test kernels equal an H200's") {
    const auto rows = read_csv_table(path_of("launch_all.csv"));
    const auto launches = launch_all();
    REQUIRE(rows.size() == launches.size());
    std::set<std::string> doubted;
    for (size_t i = 0; i < rows.size(); ++i) {
      const TableRow& row = rows[i];
      const device::LaunchResult& run = launches[i].run;
      const counters::Counters& c = *run.counters;
      CAPTURE(i);
      CAPTURE(launches[i].kernel);
      if (!run.ptx_level.empty()) {
        doubted.insert(row.at("launch"));
        continue;
      }
      const Free free = freedom(launches[i].kernel, row.at("block"));
      auto global = [&](const std::string& op, const counters::GlobalTraffic& t) {
        CAPTURE(op);
        const std::string tail = "_pipe_lsu_mem_global_op_" + op + ".sum";
        CHECK(t.requests == number(row, "l1tex__t_requests" + tail));
        if (free == Free::addresses && op == "st") return;
        CHECK(t.sectors == number(row, "l1tex__t_sectors" + tail));
      };
      global("ld", c.load);
      global("st", c.store);
      global("red", c.red);
      if (free != Free::global_atomics) global("atom", c.atom);
      // lab32 counts an LDSM as a load, and an LDGSTS as a load and a store.
      CHECK(c.shared_store.requests == number(row, "smsp__sass_inst_executed_op_shared_st.sum") +
                                           number(row, "smsp__sass_inst_executed_op_ldgsts.sum"));
      if (free != Free::rounds) {
        CHECK(c.shared_load.requests == number(row, "smsp__sass_inst_executed_op_shared_ld.sum") +
                                            number(row, "smsp__sass_inst_executed_op_ldsm.sum"));
        CHECK(c.shared_atom.requests == number(row, "smsp__sass_inst_executed_op_shared_atom.sum"));
        CHECK(c.shared_wavefronts() == number(row, "memory_l1_wavefronts_shared"));
        CHECK(c.ideal_shared_wavefronts() == number(row, "memory_l1_wavefronts_shared_ideal"));
      }
      if (free == Free::addresses || free == Free::global_atomics) continue;
      CHECK(c.l2_sectors == number(row, "memory_l2_theoretical_sectors_global"));
      CHECK(c.l2_sectors_ideal == number(row, "memory_l2_theoretical_sectors_global_ideal"));
    }
    // Lanes of one warp leave these unrolled loops at different times: 1003 is no multiple of 32.
    std::set<std::string> expected;
    for (const TableRow& row : rows) {
      const bool softmax = row.at("kernel") == "softmax_row";
      const bool halves = row.at("kernel") == "halves_in_a_loop";
      if ((softmax || halves) && expected.size() < 4) expected.insert(row.at("launch"));
    }
    REQUIRE(expected.size() == 4);
    CHECK(doubted.size() == 2);
    for (const std::string& launch : doubted) CHECK(expected.count(launch) == 1);
  }

  TEST_CASE("sass: every form of a shared atomic has an H200's counters for 44 address patterns") {
    LoadedKernels loaded("grader/tools/measure/sass/shared_atomics.cu");
    const auto rows = read_csv_table(path_of("shared_atomics.csv"));
    REQUIRE(rows.size() == 396);
    for (size_t i = 0; i < rows.size(); ++i) {
      const TableRow& row = rows[i];
      const auto pattern = static_cast<uint32_t>(i / 9);
      CAPTURE(pattern);
      CAPTURE(row.at("kernel"));
      const device::LaunchResult run = loaded.run(row.at("kernel"), {}, {32, 1, 1}, 0, {pattern});
      CHECK(run.ptx_level.empty());
      const counters::Counters& c = *run.counters;
      CHECK(c.shared_load.requests == number(row, "smsp__sass_inst_executed_op_shared_ld.sum"));
      CHECK(c.shared_atom.requests == number(row, "smsp__sass_inst_executed_op_shared_atom.sum"));
      CHECK(c.shared_load.wavefronts ==
            number(row, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"));
      CHECK(c.shared_atom.wavefronts ==
            number(row, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"));
      CHECK(c.ideal_shared_wavefronts() == number(row, "memory_l1_wavefronts_shared_ideal"));
      // For the 64-bit loops this metric, which the profiler derives from addresses, sometimes has
      // a wavefront more than the sum of the two above, which the hardware counts.
      const uint64_t derived = number(row, "memory_l1_wavefronts_shared");
      const bool wide_loop = row.at("kernel") == "add_double" || row.at("kernel") == "add_long";
      if (wide_loop)
        CHECK(c.shared_wavefronts() <= derived);
      else
        CHECK(c.shared_wavefronts() == derived);
    }
  }
}
