// build/lab32_bench, and its benchmarks of reading and decoding PTX.

#include <cstdio>
#include <string>

#include "base/error.h"
#include "simulator/ptx/parser.h"
#include "tools/bench/bench_kit.h"

namespace lab32::bench {
namespace {

// Returns the PTX of a module as large as those of heavily templated code.
std::string large_ptx_text() {
  static const BenchmarkKernels kernels("reduction.cu");
  const std::string& text = kernels.text();
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

void parse_large_ptx(benchmark::State& state) {
  const std::string text = large_ptx_text();
  for (auto _ : state) benchmark::DoNotOptimize(ptx::parse(text));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

void decode_large_ptx(benchmark::State& state) {
  const ptx::Module module = ptx::parse(large_ptx_text());
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

void register_ptx_benchmarks() {
  benchmark::RegisterBenchmark("ptx/parse", parse_large_ptx)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("ptx/decode", decode_large_ptx)->Unit(benchmark::kMillisecond);
}

}  // namespace lab32::bench

int main(int argc, char** argv) {
  using namespace lab32;
  bench::register_reduction_benchmarks();
  bench::register_launch_benchmarks();
  bench::register_compute_benchmarks();
  bench::register_ptx_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return lab32::kNotGraded;
  try {
    benchmark::RunSpecifiedBenchmarks();
  } catch (const Error& e) {
    std::fprintf(stderr, "lab32_bench: %s\n", e.what());
    return lab32::kNotGraded;
  }
  return 0;
}
