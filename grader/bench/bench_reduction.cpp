// How fast the simulator runs: lane-instructions (32 times the warp instructions) a second, by the
// wall and a core, on the seven reductions with all checks on and off; and how fast it reads PTX.
#include <benchmark/benchmark.h>

#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "compile/nvcc.h"
#include "device/sim_device.h"
#include "ptx/parser.h"
#include "sim/decode.h"

using namespace lab32;

namespace {

constexpr uint32_t kThreads = 128, kElements = 1 << 22;

const compile::Artifact& reductions() {
  static const compile::Artifact artifact =
      compile::compile(LAB32_ROOT "/grader/bench/reduction.cu", "sm_90", "reduction.cu");
  return artifact;
}

double process_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void reduce(benchmark::State& state, int version, bool checks) {
  const auto device = device::make_sim_device("h200");
  const auto module = device->load(reductions());
  const std::string name = "reduce_v" + std::to_string(version) + (version >= 6 ? "<128>" : "");
  device::Kernel* kernel = module->find(name);
  if (!kernel) return state.SkipWithError("no such kernel");
  const uint32_t blocks = version == 7 ? 2048 : kElements / kThreads / (version >= 4 ? 2 : 1);
  std::vector<int> in(kElements);
  for (uint32_t i = 0; i < kElements; ++i) in[i] = static_cast<int>(i % 7);
  const long long want = std::accumulate(in.begin(), in.end(), 0ll);
  const auto from = device->allocate(uint64_t{kElements} * 4, "in");
  const auto to = device->allocate(uint64_t{blocks} * 4, "out");
  device->upload(from, in.data(), from.bytes);

  device::LaunchOptions options;
  options.check_hazards = checks;
  double instructions = 0;
  const double start = process_seconds();
  for (auto _ : state) {
    const device::Run run = device->launch(*kernel, {{blocks}, {kThreads}, kThreads * 4},
                                           {from, to, kElements}, options);
    if (run.fault) return state.SkipWithError(run.fault->message.c_str());
    instructions += 32.0 * static_cast<double>(run.counters->warp_instructions);
  }
  const double core_seconds = process_seconds() - start;
  std::vector<int> sums(blocks);
  device->download(sums.data(), to, to.bytes);
  if (std::accumulate(sums.begin(), sums.end(), 0ll) != want)
    return state.SkipWithError("wrong sum");
  state.counters["lane-instr/s"] = benchmark::Counter(instructions, benchmark::Counter::kIsRate);
  state.counters["lane-instr/s/core"] = instructions / core_seconds;
}

// A module of the size that heavily templated code has.
std::string large_module() {
  const std::string& text = reductions().ptx;
  const size_t first = text.find(".visible .entry");
  const size_t end = text.rfind("\n}") + 3;
  std::string large = text.substr(0, first);
  for (int copy = 0; copy < 100; ++copy) {
    std::string part = text.substr(first, end - first);
    const std::string tag = "copy" + std::to_string(copy) + "_";
    for (size_t at = 0; (at = part.find("_Z", at)) != std::string::npos; at += tag.size() + 2)
      part.insert(at, tag);
    large += part;
  }
  return large + text.substr(end);
}

void parse(benchmark::State& state) {
  const std::string text = large_module();
  for (auto _ : state) benchmark::DoNotOptimize(ptx::parse(text));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

void decode(benchmark::State& state) {
  const ptx::Module module = ptx::parse(large_module());
  size_t instructions = 0;
  for (auto _ : state)
    for (const ptx::Function& f : module.functions) {
      if (!f.is_entry) continue;
      benchmark::DoNotOptimize(sim::decode(module, f, {}, 0, {}));
      instructions += f.body.size();
    }
  state.counters["instr/s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

}  // namespace

int main(int argc, char** argv) {
  for (int version = 1; version <= 7; ++version)
    for (const bool checks : {true, false}) {
      const std::string name =
          "reduce_v" + std::to_string(version) + (checks ? "/checks:on" : "/checks:off");
      benchmark::RegisterBenchmark(name.c_str(), reduce, version, checks)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  benchmark::RegisterBenchmark("ptx/parse", parse)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("ptx/decode", decode)->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  try {
    reductions();
  } catch (const Error& e) {
    std::fprintf(stderr, "lab32_bench: %s\n", e.what());
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
