// Benchmarks of the seven reductions: without observers, with counters, and with all checks.
#include <numeric>
#include <string>
#include <vector>

#include "tools/bench/bench_kit.h"

namespace lab32::bench {
namespace {

constexpr uint32_t kThreads = 128, kSummed = 1 << 22;

void reduce(benchmark::State& state, int version, Watch watch) {
  static const Kernels kernels("reduction.cu");
  Subject subject(kernels, "reduce_v" + std::to_string(version) + (version >= 6 ? "<128>" : ""));
  const uint32_t blocks = version == 7 ? 2048 : kSummed / kThreads / (version >= 4 ? 2 : 1);
  std::vector<int> in(kSummed);
  for (uint32_t i = 0; i < kSummed; ++i) in[i] = static_cast<int>(i % 7);
  const uint64_t from = subject.allocate(uint64_t{kSummed} * 4, "in");
  const uint64_t to = subject.allocate(uint64_t{blocks} * 4, "out");
  subject.memory().upload(from, in.data(), uint64_t{kSummed} * 4);

  launch_all(state, subject, {blocks, kThreads, kThreads * 4}, {from, to, kSummed}, watch);

  std::vector<int> sums(blocks);
  subject.memory().download(sums.data(), to, uint64_t{blocks} * 4);
  if (std::accumulate(sums.begin(), sums.end(), 0ll) != std::accumulate(in.begin(), in.end(), 0ll))
    state.SkipWithError("wrong sum");
}

}  // namespace

void register_ladder() {
  for (int version = 1; version <= 7; ++version)
    for (const Watch watch : {Watch::nothing, Watch::counters, Watch::all}) {
      const std::string name = "reduce_v" + std::to_string(version) + "/" + name_of(watch);
      benchmark::RegisterBenchmark(name.c_str(), reduce, version, watch)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
}

}  // namespace lab32::bench
