// Every launch that was measured under Nsight Compute and whose counters are a property of the
// program, run again on the simulator as whole launches of the same source. All must be equal; what
// is not stands in data/measured/counters/equality.csv with the reason, and that table is made
// here.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/files.h"
#include "device/device.h"
#include "device/run_text.h"
#include "runtime/profiler/metrics.h"
#include "runtime/record/recording.h"
#include "tests/fixtures/slow.h"
#include "toolchain/nvcc.h"
#include "toolchain/toolchain.h"

using namespace lab32;

namespace {

const std::string kMeasured = lab32_root().string() + "/data/measured/";

// The result of comparing one metric of one table.
struct Tally {
  uint64_t rows = 0, different = 0;
};
using Tallies = std::map<std::pair<std::string, std::string>, Tally>;  // table, metric

Tallies& tallies() {
  static Tallies all;
  return all;
}

// The table of what is equal is of all cases, or not written and not compared.
int& cases_compared() {
  static int cases = 0;
  return cases;
}

// Notes a comparison; true where the two are equal.
bool compare(const std::string& table, const std::string& metric, const std::string& simulated,
             const std::string& measured) {
  Tally& tally = tallies()[{table, metric}];
  ++tally.rows;
  tally.different += simulated != measured;
  return simulated == measured;
}

struct Loaded {
  std::unique_ptr<device::Device> device = device::open_device("sim:h200");
  std::unique_ptr<device::LoadedModule> module;

  explicit Loaded(const std::string& source) {
    const auto artifact =
        toolchain::compile(toolchain::checkout_directory() / source, device->arch(), source);
    REQUIRE_MESSAGE(!artifact.sass.empty(), "there is no nvdisasm: run make test");
    module = device->load(artifact);
  }

  record::LaunchProfile launch(const std::string& name, const device::LaunchShape& shape,
                               const std::vector<device::KernelArgument>& args) {
    device::Kernel* kernel = module->find(name);
    REQUIRE_MESSAGE(kernel != nullptr, name);
    device::LaunchOptions options;
    options.check_hazards = false;
    record::LaunchProfile r;
    r.shape = shape;
    r.static_shared = kernel->info().static_shared;
    r.registers = kernel->info().registers;
    r.multiprocessors = device->multiprocessors();
    r.device_name = device->name();
    r.run = device->launch(*kernel, shape, args, options);
    REQUIRE_MESSAGE(!r.run.fault, name << ": " << (r.run.fault ? describe(*r.run.fault) : ""));
    REQUIRE(r.run.counters);
    return r;
  }

  device::DeviceAddressRange zeros(uint64_t bytes, const char* name) {
    const device::DeviceAddressRange buffer = device->allocate(bytes, name);
    const std::vector<char> host(bytes, 0);
    device->upload(buffer, host.data(), bytes);
    return buffer;
  }
};

// The argument of the kernels of access_patterns.cu.
struct AccessPattern {
  uint32_t offset[32];
  uint32_t mask;
};

AccessPattern pattern_of(const std::map<std::string, std::string>& row) {
  AccessPattern p{};
  p.mask = static_cast<uint32_t>(std::stoul(row.at("mask"), nullptr, 16));
  std::istringstream offsets(row.at("offsets"));
  for (uint32_t& o : p.offset) offsets >> o;
  REQUIRE(!offsets.fail());
  return p;
}

// ld, st, red or atom: which of the op_* metrics a pattern's instruction is counted by.
std::string kind_of(const std::string& op) {
  const bool shared = op[0] == 's';
  const std::string name = op.substr(2);
  if (name.rfind("copy", 0) == 0 || name.rfind("both", 0) == 0) return shared ? "st" : "ld";
  if (name.rfind("red", 0) == 0) return shared ? "atom" : "red";
  return name.rfind("atom", 0) == 0 ? "atom" : name.substr(0, 2);
}

std::string value_of(const record::LaunchProfile& r, const std::string& metric) {
  const auto value = profiler::parse_metric_list(metric).front()->value(r);
  return value ? fmt::format("{}", *value) : "n/a";
}

// Replays a table of access patterns; returns how many rows it has.
size_t replay(Loaded& loaded, const std::string& table,
              const std::map<std::string, std::string>& metrics) {
  const device::DeviceAddressRange base = loaded.zeros(20 << 20, "base");
  const device::DeviceAddressRange sink = loaded.zeros(4, "sink");
  device::LaunchShape shape;
  shape.block = {32, 1, 1};
  const auto rows = read_csv_table(kMeasured + table);
  for (const auto& row : rows) {
    const std::string& op = row.at("op");
    const record::LaunchProfile r = loaded.launch(op, shape, {pattern_of(row), base, sink});
    // Copies past L1 of half sectors: their wavefronts are an estimate, and said to be.
    const bool estimated = op.find("16cg") != std::string::npos && !r.run.ptx_level.empty();
    CHECK_MESSAGE((estimated || r.run.ptx_level.empty()), op);
    for (const auto& [column, metric] : metrics) {
      std::string name = metric;
      if (const size_t at = name.find("{}"); at != std::string::npos)
        name.replace(at, 2, kind_of(op));
      const bool equal = compare("counters/" + table.substr(table.find('/') + 1), metric,
                                 value_of(r, name), row.at(column));
      // Where Nsight Compute derives a figure by a rule of its own (data/measured/counters).
      const bool wide_load = op.rfind("s_ld8", 0) == 0 || op.rfind("s_ld16", 0) == 0 ||
                             op.rfind("s_ld_v4u16", 0) == 0 || op.rfind("s_ld_v2u64", 0) == 0;
      if (wide_load && (column == "wavefronts" || column == "ideal")) continue;
      if (estimated && column == "wavefronts") continue;
      CHECK_MESSAGE(equal, table << ": " << op << " mask " << row.at("mask") << " " << name << ": "
                                 << value_of(r, name) << " instead of " << row.at(column)
                                 << ", offsets " << row.at("offsets"));
    }
  }
  loaded.device->release(base);
  loaded.device->release(sink);
  return rows.size();
}

const std::map<std::string, std::string> kGlobal{
    {"requests", "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"},
    {"sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"},
    {"theoretical", "memory_l2_theoretical_sectors_global"},
    {"ideal", "memory_l2_theoretical_sectors_global_ideal"}};
const std::map<std::string, std::string> kShared{
    {"hardware", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"},
    {"wavefronts", "memory_l1_wavefronts_shared"},
    {"ideal", "memory_l1_wavefronts_shared_ideal"}};

// What ncu printed of one launch: metric -> unit and value.
struct Printed {
  std::string kernel;
  std::map<std::string, std::pair<std::string, std::string>> metrics;
};

std::vector<Printed> read_printed(const std::string& name) {
  std::vector<Printed> launches;
  for (const auto& row : read_csv_table(kMeasured + name)) {
    const size_t id = std::stoul(row.at("ID"));
    if (id >= launches.size()) launches.resize(id + 1);
    launches[id].kernel = row.at("Kernel Name");
    launches[id].metrics[row.at("Metric Name")] = {row.at("Metric Unit"), row.at("Metric Value")};
  }
  return launches;
}

// On a GPU it counts one or two wavefronts for each warp that are in none of its parts by
// operation.
const char kMoreOnAGpu[] = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";

// All metrics that ncu printed and the simulator gives without a model, as the CSV has them.
void compare_printed(const std::string& table, const Printed& printed,
                     const record::LaunchProfile& r) {
  for (const profiler::Metric& metric : profiler::all_metrics()) {
    const auto measured = printed.metrics.find(metric.name);
    if (measured == printed.metrics.end()) continue;
    CHECK_MESSAGE(metric.unit == measured->second.first, metric.name);
    if (metric.kind == profiler::MetricKind::modelled || metric.name == kMoreOnAGpu) continue;
    const auto value = metric.value(r);
    const std::string text = value ? profiler::metric_text(*value) : "n/a";
    CHECK_MESSAGE(compare(table, metric.name, text, measured->second.second),
                  printed.kernel << " " << metric.name << ": " << text << " instead of "
                                 << measured->second.second);
  }
}

// CUDA's dim3, because the list of launches is also a program's. A test that uses the list gives
// this type that name.
struct LaunchSize : Dim3 {
  LaunchSize(uint32_t x, uint32_t y = 1, uint32_t z = 1) : Dim3{x, y, z} {}  // NOLINT: implicit
};

// Why a figure may differ, by table and metric.
std::string reason(const std::string& table, const std::string& metric) {
  if (table.find("divergence") != std::string::npos)
    return "lanes that leave one loop and others that leave two meet by chance; a choice that "
           "ptxas "
           "turns into guarded instructions; a loop with an atomic, whose YIELD lets waiting lanes "
           "go on";
  if (table.find("shared") == std::string::npos || metric.rfind("memory_l1_", 0) != 0) return "";
  const std::string copies =
      "cp.async.cg of 16-byte pieces that are no pairs: an estimate, and marked PTX-level";
  const std::string loads =
      "ncu's own estimate for loads of 8 and 16 bytes; the hardware's counter is equal";
  if (table.find("copies") != std::string::npos || table.find("vectors") != std::string::npos)
    return copies;
  return table.find("systematic") != std::string::npos ? loads + "; " + copies : loads;
}

}  // namespace

TEST_SUITE("counters: replay") {
  TEST_CASE("counters: every measured access pattern has an H200's counts" * kSlow) {
    Loaded loaded("grader/tools/measure/counters/access_patterns.cu");
    auto with_instructions = kShared;
    with_instructions["instructions"] = "smsp__sass_inst_executed_op_shared_{}.sum";
    CHECK(replay(loaded, "counters/h200-global.csv", kGlobal) == 523);
    CHECK(replay(loaded, "counters/h200-systematic-global.csv", kGlobal) == 664);
    CHECK(replay(loaded, "counters/h200-copies-global.csv", kGlobal) == 104);
    CHECK(replay(loaded, "counters/h200-vectors-global.csv", kGlobal) == 464);
    CHECK(replay(loaded, "counters/h200-shared.csv", kShared) == 549);
    CHECK(replay(loaded, "counters/h200-systematic-shared.csv", with_instructions) == 639);
    CHECK(replay(loaded, "counters/h200-copies-shared.csv", with_instructions) == 92);
    CHECK(replay(loaded, "counters/h200-vectors-shared.csv", with_instructions) == 110);
    ++cases_compared();
  }

  TEST_CASE("counters: launches of many shapes have an H200's counts" * kSlow) {
    Loaded loaded("grader/tools/measure/ncu/shapes.cu");
    const device::DeviceAddressRange p = loaded.zeros(1 << 20, "p");
    const std::vector<Printed> printed = read_printed("ncu/h200-shapes.csv");
    size_t launch = 0;
    using dim3 = LaunchSize;
    const auto shape = [&](const char* name, const dim3& grid, const dim3& block, uint32_t shared) {
      REQUIRE(launch < printed.size());
      CHECK(printed[launch].kernel == std::string(name) + "(float *)");
      compare_printed("ncu/h200-shapes.csv", printed[launch++],
                      loaded.launch(name, {grid, block, shared}, {p}));
    };
#define SHAPE(kernel, grid, block, shared) shape(#kernel, grid, block, shared);
#include "tools/measure/ncu/shapes.inc"
#undef SHAPE
    CHECK(launch == printed.size());
    ++cases_compared();
  }

  TEST_CASE("counters: every metric and unit of a program's launches is ncu's" * kSlow) {
    Loaded loaded("grader/tools/measure/ncu/sample.cu");
    constexpr uint32_t n = 100000;
    std::vector<uint32_t> numbers(n);
    for (uint32_t i = 0; i < n; ++i) numbers[i] = i * 2654435761u >> 7;
    const device::DeviceAddressRange in = loaded.zeros(4 * n, "in"),
                                     bins = loaded.zeros(4 * 64, "bins"),
                                     total = loaded.zeros(4 * 32, "total"),
                                     to = loaded.zeros(4 * n, "to"),
                                     from = loaded.zeros(16 * n, "from");
    loaded.device->upload(in, numbers.data(), 4 * n);
    const std::vector<Printed> printed = read_printed("ncu/h200-sample.csv");
    REQUIRE(printed.size() == 2);
    const std::string table = "ncu/h200-sample.csv";
    compare_printed(
        table, printed[0],
        loaded.launch("strided_copy<float>", {LaunchSize((n + 255) / 256), LaunchSize(256), 0},
                      {from, to, n, 4}));
    compare_printed(table, printed[1],
                    loaded.launch("histogram", {LaunchSize(100), LaunchSize(1000), 0},
                                  {in, bins, total, static_cast<int>(n)}));
    ++cases_compared();
  }

  TEST_CASE("counters: diverged lanes reconverge where an H200 reconverges them" * kSlow) {
    Loaded loaded("grader/tools/measure/divergence/divergence.cu");
    const std::string table = "counters/h200-divergence.csv";
    std::set<std::string> different;
    const auto rows = read_csv_table(kMeasured + table);
    for (const auto& row : rows) {
      const std::string& kernel = row.at("kernel");
      const device::DeviceAddressRange a = loaded.zeros(16384, "a"), c = loaded.zeros(16384, "c");
      const record::LaunchProfile r =
          loaded.launch(kernel, {LaunchSize(1), LaunchSize(64), 0}, {a, c, uint32_t{24}});
      for (const std::string op : {"ld", "st", "red", "atom"}) {
        const std::string metric = "l1tex__t_requests_pipe_lsu_mem_global_op_" + op + ".sum";
        if (!compare(table, metric, value_of(r, metric), row.at(op))) different.insert(kernel);
      }
    }
    CHECK(rows.size() == 65);
    // reason() says why.
    CHECK(fmt::format("{}", fmt::join(different, " ")) ==
          "endless_three_continues endless_with_choice of_two_all of_two_break_done "
          "of_two_next_done probe_until_free three_loops");
    ++cases_compared();
  }

  // Last: of what the cases above have compared.
  TEST_CASE("counters: the table of equal counters is up to date" * kSlow) {
    if (cases_compared() != 4) return;  // a filter left some out
    std::string text =
        "# The number of launches for which the counters of an H200 under Nsight Compute and of "
        "the "
        "simulator\n"
        "# are equal. grader/runtime/tests/test_replay.cpp compares them;\n"
        "# LAB32_UPDATE_GOLDEN=1 writes this table.\n"
        "table,metric,launches,equal,different,why\n";
    for (const auto& [of, tally] : tallies()) {
      const std::string why = tally.different > 0 ? reason(of.first, of.second) : "";
      CHECK_MESSAGE((tally.different == 0 || !why.empty()), of.first << " " << of.second);
      text += fmt::format("{},{},{},{},{},{}\n", of.first, of.second, tally.rows,
                          tally.rows - tally.different, tally.different,
                          why.empty() ? "" : "\"" + why + "\"");
    }
    const std::string path = kMeasured + "counters/equality.csv";
    if (is_set(variables::kUpdateGolden)) std::ofstream(path) << text;
    std::ifstream file(path);
    std::ostringstream golden;
    golden << file.rdbuf();
    INFO(path, " differs; if it should, run with LAB32_UPDATE_GOLDEN=1");
    CHECK(text == golden.str());
  }
}
