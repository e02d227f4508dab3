// The launches of the source documents, repeated on the simulator. Every documented request and
// sector that depends on the program only must match exactly.

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/files.h"
#include "device/device.h"
#include "device/run_text.h"
#include "grading/engine/runner.h"
#include "labs/bank_conflicts/patterns.h"
#include "simulator/observers/races/finding.h"
#include "tests/fixtures/slow.h"
#include "toolchain/nvcc.h"

namespace lab32::tests {
namespace {

using Row = TableRow;

std::vector<Row> table(const std::string& name, const std::string& folder = "documented") {
  return read_csv_table((lab32_root() / "data" / folder / name).string());
}

struct Shape {
  uint32_t grid, block;
  uint64_t elements;
};

Shape documented_launch(const std::string& kernel) {
  for (const Row& row : table("launches.csv"))
    if (row.at("kernel") == kernel)
      return {static_cast<uint32_t>(std::stoul(row.at("grid"))),
              static_cast<uint32_t>(std::stoul(row.at("block"))), std::stoull(row.at("elements"))};
  FAIL(kernel, " is not in launches.csv");
  return {};
}

// The counters under Nsight Compute's names, as the rows have them.
std::map<std::string, double> metrics_of(const counters::Counters& c) {
  std::map<std::string, double> m;
  const auto direction = [&](const std::string& op, const counters::GlobalTraffic& t) {
    const double requests = static_cast<double>(t.requests);
    const double sectors = static_cast<double>(t.sectors);
    m["l1tex__t_requests_pipe_lsu_mem_global_op_" + op + ".sum"] = requests;
    m["l1tex__t_sectors_pipe_lsu_mem_global_op_" + op + ".sum"] = sectors;
    m["l1tex__t_bytes_pipe_lsu_mem_global_op_" + op + ".sum"] = 32 * sectors;
    m["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_" + op + ".ratio"] =
        sectors / requests;
  };
  direction("ld", c.load);
  direction("st", c.store);
  return m;
}

// Compares the table's rows with the launch, which has `share` of the documented size. Returns how
// many rows it has compared.
int compare(const std::string& name, const counters::Counters& counters, double share) {
  const std::map<std::string, double> metrics = metrics_of(counters);
  CHECK_FALSE(counters.ptx_level);
  int compared = 0;
  for (const Row& row : table(name)) {
    const auto metric = metrics.find(row.at("metric"));
    if (row.at("property_of") != "program" || metric == metrics.end()) continue;
    const bool ratio = row.at("metric").find(".ratio") != std::string::npos;
    INFO(name, ": ", row.at("metric"));
    CHECK(metric->second == std::stod(row.at("value")) * (ratio ? 1 : share));
    ++compared;
  }
  return compared;
}

// The wavefronts that an H200 counted for a form of the bank-conflict lab's measurement.
uint64_t measured_wavefronts(const std::string& form, const std::string& n,
                             const std::string& metric) {
  for (const Row& row : table("h200-bank_conflicts-counters.csv", "measured"))
    if (row.at("form") == form && row.at("n") == n && row.at("metric") == metric)
      return std::stoull(row.at("value"));
  FAIL(form, " has not been measured");
  return 0;
}

struct Loaded {
  std::unique_ptr<device::Device> device;
  std::unique_ptr<device::LoadedModule> module;
};

Loaded load(const std::string& file) {
  Loaded loaded;
  loaded.device = device::open_device("sim");
  const auto path = lab32_root() / "grader/tests/fixtures/documented" / file;
  loaded.module = loaded.device->load(
      toolchain::compile(path, loaded.device->arch(), "grader/tests/fixtures/documented/" + file));
  return loaded;
}

}  // namespace

TEST_CASE("checks: documented: add1 to add5 move the documented sectors with 8 Mi threads" *
          kSlow) {
  Loaded l = load("add.cu");
  const Shape shape = documented_launch("add1");
  const std::vector<float> ones(shape.elements, 1.0f);
  const auto x = l.device->allocate(4 * shape.elements, "x");
  const auto y = l.device->allocate(4 * shape.elements, "y");
  const auto z = l.device->allocate(4 * shape.elements, "z");
  l.device->upload(x, ones.data(), x.bytes);
  l.device->upload(y, ones.data(), y.bytes);
  const std::map<std::string, int> rows_wanted = {
      {"add1", 8}, {"add2", 1}, {"add3", 2}, {"add4", 1}, {"add5", 2}};
  const std::map<std::string, std::string> tables = {{"add1", "add1_l1.csv"},
                                                     {"add2", "add2.csv"},
                                                     {"add3", "add3.csv"},
                                                     {"add4", "add4.csv"},
                                                     {"add5", "add5.csv"}};
  for (const auto& [name, csv] : tables) {
    const Shape own = documented_launch(name);
    CHECK(uint64_t{own.grid} * own.block == uint64_t{8} << 20);
    device::Kernel* kernel = l.module->find(name);
    REQUIRE(kernel != nullptr);
    const device::LaunchResult run =
        l.device->launch(*kernel, {{own.grid}, {own.block}}, {x, y, z});
    REQUIRE_MESSAGE(!run.fault, name, ": ", describe(*run.fault));
    CHECK(compare(csv, *run.counters, 1) >= rows_wanted.at(name));
  }
  // The document's own figure (4.6) is an average with other effects; this is the rule.
  device::Kernel* add2 = l.module->find("add2");
  const device::LaunchResult run =
      l.device->launch(*add2, {{shape.grid}, {shape.block}}, {x, y, z});
  CHECK(run.counters->load.sectors == 5 * run.counters->load.requests);
  for (const device::DeviceAddressRange& b : {x, y, z}) l.device->release(b);
}

TEST_CASE("checks: documented: the reduction matches at 8 and at 32 threads per block") {
  Loaded l = load("reduce.cu");
  const uint32_t part = environment_value(variables::kTestAll) == "1" ? 1 : 100;
  for (const std::string threads : {"8", "32"}) {
    const std::string name = "reduce_eliminate_divergence<" + threads + ">";
    const Shape shape = documented_launch(name);
    const uint64_t elements = shape.elements / part;
    std::vector<int> values(elements);
    std::iota(values.begin(), values.end(), 0);
    for (int& v : values) v %= 17;
    const auto in = l.device->allocate(4 * elements, "arr");
    const auto out = l.device->allocate(4, "out");
    const int zero = 0;
    l.device->upload(in, values.data(), in.bytes);
    l.device->upload(out, &zero, sizeof(zero));
    device::Kernel* kernel = l.module->find(name);
    REQUIRE(kernel != nullptr);
    const device::LaunchResult run = l.device->launch(*kernel, {{shape.grid / part}, {shape.block}},
                                                      {in, out, static_cast<int>(elements)});
    REQUIRE_MESSAGE(!run.fault, name, ": ", describe(*run.fault));
    int sum = 0;
    l.device->download(&sum, out, sizeof(sum));
    CHECK(sum == std::accumulate(values.begin(), values.end(), 0));
    CHECK(compare("reduce_" + threads + ".csv", *run.counters, 1.0 / part) == 2);
    l.device->release(in);
    l.device->release(out);
  }
}

namespace {

// One launch of a kernel of the reduce note over the ints 0, 1, ... modulo 17.
struct NoteRun {
  device::LaunchResult run;
  bool right = false;
};

NoteRun launch_note(const std::string& file, const std::string& name, uint32_t grid, uint32_t block,
                    uint32_t elements) {
  Loaded l = load(file);
  std::vector<int> values(elements);
  std::iota(values.begin(), values.end(), 0);
  for (int& v : values) v %= 17;
  const auto in = l.device->allocate(4 * uint64_t{elements}, "arr");
  const auto out = l.device->allocate(4, "out");
  int sum = 0;
  l.device->upload(in, values.data(), in.bytes);
  l.device->upload(out, &sum, sizeof(sum));
  device::Kernel* kernel = l.module->find(name);
  REQUIRE(kernel != nullptr);
  NoteRun result;
  result.run = l.device->launch(*kernel, {{grid}, {block}}, {in, out, static_cast<int>(elements)});
  l.device->download(&sum, out, sizeof(sum));
  result.right = sum == std::accumulate(values.begin(), values.end(), 0);
  l.device->release(in);
  l.device->release(out);
  return result;
}

// The first finding that is not a note; null: none.
const counters::Finding* found_in(const device::LaunchResult& run) {
  for (const counters::Finding& finding : *run.hazards)
    if (!finding.note) return &finding;
  return nullptr;
}

}  // namespace

TEST_CASE(
    "checks: documented: the cost of the reduce note's versions follows the number of blocks" *
    kSlow) {
  struct Rung {
    const char *row, *file, *kernel;
    uint32_t block, grid_elements;  // elements that the note's grid counts on, a thread
    uint32_t loaded;                // elements that a thread loads
  };
  const Rung rungs[] = {
      {"reduce_eliminate_divergence", "reduce.cu", "reduce_eliminate_divergence<8>", 8, 1, 1},
      {"reduce_vectorized", "bank_conflicts.cu", "reduce_vectorized<32>", 32, 1, 4},
      {"reduce_vec_v2", "reduce_ladder.cu", "reduce_coarsened<32>", 32, 4, 4},
      {"shuffle", "reduce_ladder.cu", "reduce_shuffle<128>", 128, 4, 4},
  };
  std::map<std::string, uint64_t> threads;
  for (const Row& row : table("reduce_ladder.csv"))
    if (row.at("metric") == "Threads") threads[row.at("kernel")] = std::stoull(row.at("value"));
  CHECK(threads.size() == std::size(rungs));
  constexpr uint32_t kDocumented = 100'000'000, kElements = 1'024'000;
  for (const Rung& rung : rungs) {
    INFO(rung.kernel);
    const auto blocks = [&](uint32_t n, uint32_t each) {
      return (n + rung.block * each - 1) / (rung.block * each);
    };
    CHECK(uint64_t{blocks(kDocumented, rung.grid_elements)} * rung.block == threads[rung.row]);
    const uint32_t grid = blocks(kElements, rung.grid_elements);
    const NoteRun note = launch_note(rung.file, rung.kernel, grid, rung.block, kElements);
    REQUIRE_MESSAGE(!note.run.fault, describe(*note.run.fault));
    CHECK(note.right);
    CHECK(found_in(note.run) == nullptr);
    const counters::Counters& c = *note.run.counters;
    CHECK_FALSE(c.ptx_level);
    // Each version loads equally many sectors, but with different numbers of blocks, each of which
    // pays for a tree and an atomic. Three quarters of the blocks of reduce_vectorized load
    // nothing.
    CHECK(c.load.sectors == kElements / 8);
    CHECK(c.load.requests == uint64_t{blocks(kElements, rung.loaded)} * ((rung.block + 31) / 32));
    CHECK(c.red.requests == grid);
    CHECK(c.shared_wavefronts() == c.ideal_shared_wavefronts());
  }
}

TEST_CASE("checks: documented: the grader finds the faults of three kernels") {
  // The tail: if the last block is not full, the kernel adds words that no thread has written.
  const NoteRun full = launch_note("reduce_ladder.cu", "reduce_naive<128>", 8, 128, 1024);
  CHECK_FALSE(full.run.fault);
  CHECK(full.right);
  CHECK(found_in(full.run) == nullptr);
  const NoteRun partial = launch_note("reduce_ladder.cu", "reduce_naive<128>", 8, 128, 1000);
  REQUIRE(found_in(partial.run) != nullptr);
  CHECK(found_in(partial.run)->kind == counters::Finding::Kind::uninitialised);
  CHECK(describe(*found_in(partial.run)).find("reads sums[104]") != std::string::npos);
  CHECK_FALSE(partial.right);

  // An array half as long as its index is wrong in every launch, even of one block.
  const NoteRun half = launch_note("reduce_ladder.cu", "reduce_half<128>", 1, 128, 256);
  REQUIRE(half.run.fault);
  CHECK(half.run.fault->kind == sim::TrapKind::out_of_bounds);
  CHECK(describe(*half.run.fault).find("thread (64,0,0)") != std::string::npos);

  // The overlapping tree: a race within one warp, even if the sum is right.
  for (const uint32_t block : {8u, 32u}) {
    const NoteRun overlap =
        launch_note("reduce_ladder.cu", "reduce_overlap<" + std::to_string(block) + ">",
                    1024 / block, block, 1024);
    CHECK(overlap.right);
    REQUIRE(found_in(overlap.run) != nullptr);
    CHECK(found_in(overlap.run)->kind == counters::Finding::Kind::race);
  }
}

TEST_CASE("checks: documented: strides take the documented wavefronts") {
  const std::map<std::string, uint32_t> bytes = {
      {"char", 1}, {"short", 2}, {"int", 4}, {"double", 8}, {"int4", 16}};
  int compared = 0;
  for (const Row& row : table("bank_patterns.csv")) {
    if (row.at("property_of") != "program") continue;
    const std::string& kernel = row.at("kernel");  // "int 33": the type and its stride
    const size_t blank = kernel.find(' ');
    const checks::bank_conflicts::SharedAccessPattern pattern =
        checks::bank_conflicts::strided_shared_access_pattern(
            bytes.at(kernel.substr(0, blank)),
            static_cast<uint32_t>(std::stoul(kernel.substr(blank + 1))));
    INFO(kernel, ", ", row.at("metric"));
    CHECK(pattern.store_wavefronts() == std::stoul(row.at("value")));
    ++compared;
  }
  CHECK(compared == 9);
}

TEST_CASE("checks: documented: the pseudo conflicts do not come from the access pattern") {
  struct Launch {
    const char *file, *kernel, *form;
    uint32_t block, elements_of_thread;
  };
  const Launch launches[] = {
      {"reduce.cu", "reduce_eliminate_divergence<8>", "int, 8 threads", 8, 1},
      {"reduce.cu", "reduce_eliminate_divergence<32>", "int, 32 threads", 32, 1},
      {"bank_conflicts.cu", "reduce_vectorized<32>", "int4, 32 threads", 32, 4},
      {"bank_conflicts.cu", "stage_int", "int", 256, 4},
      {"bank_conflicts.cu", "stage_int4", "int4", 256, 4},
  };
  for (const Launch& launch : launches) {
    INFO(launch.kernel);
    Loaded l = load(launch.file);
    const bool stage = std::string(launch.kernel).find("stage") == 0;
    const uint32_t n = stage ? 1 << 18 : 1 << 20;
    const std::vector<int> values(n, 1);
    const auto in = l.device->allocate(4 * uint64_t{n}, "arr");
    const auto out = l.device->allocate(4 * uint64_t{n}, "out");
    const int zero = 0;
    l.device->upload(in, values.data(), in.bytes);
    l.device->upload(out, &zero, sizeof(zero));
    device::Kernel* kernel = l.module->find(launch.kernel);
    REQUIRE(kernel != nullptr);
    std::vector<device::KernelArgument> args = {in, out};
    if (!stage) args.emplace_back(static_cast<int>(n));
    const device::LaunchResult run = l.device->launch(
        *kernel, {{n / launch.block / launch.elements_of_thread}, {launch.block}}, args);
    REQUIRE_MESSAGE(!run.fault, describe(*run.fault));
    const counters::Counters& c = *run.counters;
    CHECK_FALSE(c.ptx_level);
    CHECK(c.shared_wavefronts() == c.ideal_shared_wavefronts());
    const std::string size = std::to_string(n);
    CHECK(c.shared_wavefronts() ==
          measured_wavefronts(launch.form, size, "memory_l1_wavefronts_shared"));
    CHECK(c.shared_load.requests ==
          measured_wavefronts(launch.form, size, "smsp__sass_inst_executed_op_shared_ld.sum"));
    CHECK(c.shared_store.requests ==
          measured_wavefronts(launch.form, size, "smsp__sass_inst_executed_op_shared_st.sum"));
    l.device->release(in);
    l.device->release(out);
  }
}

}  // namespace lab32::tests
