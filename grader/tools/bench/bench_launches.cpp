// Benchmarks of launches that stress other parts than arithmetic: very many small blocks, one
// allocation that is read and written, randomly accessed words; and the seven reductions.

#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "tools/bench/bench_kit.h"

namespace lab32::bench {
namespace {

constexpr uint32_t kElements = 10'000'000;

const BenchmarkKernels& launches_cu_kernels() {
  static const BenchmarkKernels all("launches.cu");
  return all;
}

// Sums blocks of 8 ints: a tenth of the documented 100 million ints in 12.5 million blocks.
void sum_in_blocks_of_8(benchmark::State& state, AttachedObservers watch) {
  SimulatedBenchmarkKernel subject(launches_cu_kernels(), "sum_by_8");
  const std::vector<int> in(kElements, 3);
  const uint64_t from = subject.allocate(uint64_t{kElements} * 4, "in");
  const uint64_t to = subject.allocate(4, "out");
  subject.memory().upload(from, in.data(), uint64_t{kElements} * 4);
  const int zero = 0;
  subject.memory().upload(to, &zero, 4);
  run_launch_benchmark(state, subject, {kElements / 8, 8, 0}, {from, to}, watch);
  int sum = 0;
  subject.memory().download(&sum, to, 4);
  if (sum != static_cast<int>(3u * kElements * static_cast<uint32_t>(state.iterations())))
    state.SkipWithError("wrong sum");
}

// The resident bytes of this process: now (VmRSS), or the peak since reset_peak() (VmHWM).
double process_resident_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(field + ":", 0) == 0) return 1024.0 * std::stod(line.substr(field.size() + 1));
  return 0;
}

void reset_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

// y[i] = x[i] + 1, where y has been written before. The counter bookkeeping/byte is the simulator's
// peak of memory besides device memory itself, per byte of device memory.
void benchmark_add_one_kernel(benchmark::State& state, AttachedObservers watch,
                              bool output_is_input) {
  constexpr uint32_t kMany = 1 << 25;  // 128 MiB
  const double before = process_resident_bytes("VmRSS");
  SimulatedBenchmarkKernel subject(launches_cu_kernels(), "add_one");
  const uint64_t x = subject.allocate(uint64_t{kMany} * 4, "x");
  const uint64_t y = output_is_input ? x : subject.allocate(uint64_t{kMany} * 4, "y");
  for (const uint64_t at : {x, y}) {
    const std::vector<int> zeros(kMany, 0);
    subject.memory().upload(at, zeros.data(), uint64_t{kMany} * 4);
  }
  reset_peak();
  run_launch_benchmark(state, subject, {kMany / 256, 256, 0}, {x, y}, watch);
  const double bytes = (output_is_input ? 4.0 : 8.0) * kMany;
  state.counters["bookkeeping/byte"] = (process_resident_bytes("VmHWM") - before - bytes) / bytes;
  std::vector<int> out(kMany);
  subject.memory().download(out.data(), y, uint64_t{kMany} * 4);
  const int want = output_is_input ? static_cast<int>(state.iterations()) : 1;
  for (uint32_t i = 0; i < kMany; ++i)
    if (out[i] != want) return state.SkipWithError("wrong values");
}

void benchmark_add_one_in_place(benchmark::State& state, AttachedObservers watch) {
  benchmark_add_one_kernel(state, watch, true);
}
void benchmark_add_one_out_of_place(benchmark::State& state, AttachedObservers watch) {
  benchmark_add_one_kernel(state, watch, false);
}

void histogram(benchmark::State& state, AttachedObservers watch) {
  constexpr uint32_t kBlocks = 4096, kThreads = 256;
  SimulatedBenchmarkKernel subject(launches_cu_kernels(), "histogram");
  std::vector<uint32_t> in(kBlocks * kThreads);
  uint32_t x = 1;
  for (uint32_t& v : in) v = (x = x * 1664525u + 1013904223u) >> 8;
  const uint64_t from = subject.allocate(in.size() * 4, "in");
  const uint64_t to = subject.allocate(256 * 4, "out");
  subject.memory().upload(from, in.data(), in.size() * 4);
  const std::vector<uint32_t> zeros(256, 0);
  subject.memory().upload(to, zeros.data(), 256 * 4);
  run_launch_benchmark(state, subject, {kBlocks, kThreads, 0}, {from, to}, watch);
  std::vector<uint32_t> out(256);
  subject.memory().download(out.data(), to, 256 * 4);
  const auto counted = std::accumulate(out.begin(), out.end(), uint64_t{0});
  if (counted != in.size() * static_cast<uint64_t>(state.iterations()))
    state.SkipWithError("wrong counts");
}

// An allocation of `count` floats, each 1.
uint64_t upload_ones(SimulatedBenchmarkKernel& subject, uint64_t count, const std::string& name) {
  const uint64_t at = subject.allocate(count * 4, name);
  const std::vector<float> values(count, 1);
  subject.memory().upload(at, values.data(), count * 4);
  return at;
}

// All `count` floats at `at` must equal `want`.
void check_floats(benchmark::State& state, SimulatedBenchmarkKernel& subject, uint64_t at,
                  uint64_t count, float want) {
  std::vector<float> got(count);
  subject.memory().download(got.data(), at, count * 4);
  for (float value : got)
    if (value != want) return state.SkipWithError("wrong values");
}

void saxpy(benchmark::State& state, AttachedObservers watch) {
  constexpr uint32_t kMany = 1 << 22;
  SimulatedBenchmarkKernel subject(launches_cu_kernels(), "saxpy");
  const uint64_t x = upload_ones(subject, kMany, "x"), y = upload_ones(subject, kMany, "y");
  const float a = 2;
  uint32_t bits;
  std::memcpy(&bits, &a, 4);
  run_launch_benchmark(state, subject, {kMany / 256, 256, 0}, {bits, x, y}, watch);
  check_floats(state, subject, y, kMany, 1 + 2 * static_cast<float>(state.iterations()));
}

void matmul(benchmark::State& state, AttachedObservers watch) {
  constexpr uint32_t kRows = 256;
  SimulatedBenchmarkKernel subject(launches_cu_kernels(), "matmul");
  const uint64_t a = upload_ones(subject, kRows * kRows, "a"),
                 b = upload_ones(subject, kRows * kRows, "b"),
                 c = upload_ones(subject, kRows * kRows, "c");
  run_launch_benchmark(state, subject, {kRows / 32 * (kRows / 32), 1024, 0}, {a, b, c, kRows},
                       watch);
  check_floats(state, subject, c, kRows * kRows, kRows);
}

void transpose(benchmark::State& state, AttachedObservers watch) {
  constexpr uint32_t kRows = 2048;
  SimulatedBenchmarkKernel subject(launches_cu_kernels(), "transpose");
  const uint64_t in = upload_ones(subject, kRows * kRows, "in"),
                 out = subject.allocate(kRows * kRows * 4, "out");
  run_launch_benchmark(state, subject, {kRows / 32 * (kRows / 32), 256, 0}, {in, out, kRows},
                       watch);
  check_floats(state, subject, out, kRows * kRows, 1);
}

using Launch = void (*)(benchmark::State&, AttachedObservers);

}  // namespace

void register_launch_benchmarks() {
  const std::pair<const char*, Launch> all[] = {{"blocks_of_8", sum_in_blocks_of_8},
                                                {"in_place", benchmark_add_one_in_place},
                                                {"out_of_place", benchmark_add_one_out_of_place},
                                                {"histogram", histogram},
                                                {"saxpy", saxpy},
                                                {"matmul", matmul},
                                                {"transpose", transpose}};
  for (const auto& [name, launch] : all)
    for (const AttachedObservers watch :
         {AttachedObservers::run, AttachedObservers::nothing, AttachedObservers::counters,
          AttachedObservers::all, AttachedObservers::check})
      benchmark::RegisterBenchmark((std::string(name) + "/" + name_of(watch)).c_str(), launch,
                                   watch)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
}

namespace {

constexpr uint32_t kThreads = 128, kSummed = 1 << 22;

void reduce(benchmark::State& state, int version, AttachedObservers watch) {
  static const BenchmarkKernels kernels("reduction.cu");
  SimulatedBenchmarkKernel subject(
      kernels, "reduce_v" + std::to_string(version) + (version >= 6 ? "<128>" : ""));
  const uint32_t blocks = version == 7 ? 2048 : kSummed / kThreads / (version >= 4 ? 2 : 1);
  std::vector<int> in(kSummed);
  for (uint32_t i = 0; i < kSummed; ++i) in[i] = static_cast<int>(i % 7);
  const uint64_t from = subject.allocate(uint64_t{kSummed} * 4, "in");
  const uint64_t to = subject.allocate(uint64_t{blocks} * 4, "out");
  subject.memory().upload(from, in.data(), uint64_t{kSummed} * 4);

  run_launch_benchmark(state, subject, {blocks, kThreads, kThreads * 4}, {from, to, kSummed},
                       watch);

  std::vector<int> sums(blocks);
  subject.memory().download(sums.data(), to, uint64_t{blocks} * 4);
  if (std::accumulate(sums.begin(), sums.end(), 0ll) != std::accumulate(in.begin(), in.end(), 0ll))
    state.SkipWithError("wrong sum");
}

}  // namespace

void register_reduction_benchmarks() {
  for (int version = 1; version <= 7; ++version)
    for (const AttachedObservers watch :
         {AttachedObservers::nothing, AttachedObservers::counters, AttachedObservers::all}) {
      const std::string name = "reduce_v" + std::to_string(version) + "/" + name_of(watch);
      benchmark::RegisterBenchmark(name.c_str(), reduce, version, watch)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
}

}  // namespace lab32::bench
