// Benchmarks of launches that are bound by arithmetic.
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/bench_kit.h"

namespace lab32::bench {
namespace {

const BenchmarkKernels& compute_cu_kernels() {
  static const BenchmarkKernels all("compute.cu");
  return all;
}

uint64_t allocate_and_upload(SimulatedBenchmarkKernel& subject, const std::vector<float>& values,
                             const std::string& name) {
  const uint64_t at = subject.allocate(values.size() * 4, name);
  subject.memory().upload(at, values.data(), values.size() * 4);
  return at;
}

std::vector<float> download_floats(SimulatedBenchmarkKernel& subject, uint64_t at, size_t count) {
  std::vector<float> values(count);
  subject.memory().download(values.data(), at, count * 4);
  return values;
}

void expect_near(benchmark::State& state, double got, double want) {
  if (!(std::fabs(got - want) <= 1e-3 * std::fabs(want))) state.SkipWithError("wrong values");
}

void matmul_4x4(benchmark::State& state, AttachedObservers watch) {
  constexpr uint32_t kRows = 256;
  SimulatedBenchmarkKernel subject(compute_cu_kernels(), "matmul_4x4");
  const std::vector<float> ones(kRows * kRows, 1);
  const uint64_t a = allocate_and_upload(subject, ones, "a"),
                 b = allocate_and_upload(subject, ones, "b"),
                 c = allocate_and_upload(subject, ones, "c");
  run_launch_benchmark(state, subject, {kRows / 64 * (kRows / 64), 256, 0}, {a, b, c, kRows},
                       watch);
  for (const float value : download_floats(subject, c, kRows * kRows))
    expect_near(state, value, kRows);
}

void nbody(benchmark::State& state, AttachedObservers watch) {
  constexpr uint32_t kBodies = 2048;
  SimulatedBenchmarkKernel subject(compute_cu_kernels(), "nbody");
  std::vector<float> bodies;
  for (uint32_t i = 0; i < kBodies; ++i)
    bodies.insert(bodies.end(), {static_cast<float>(i % 16), static_cast<float>(i / 16 % 16),
                                 static_cast<float>(i / 256), 1.0f});
  const uint64_t from = allocate_and_upload(subject, bodies, "bodies"),
                 to = allocate_and_upload(subject, bodies, "accelerations");
  run_launch_benchmark(state, subject, {kBodies / 256, 256, 0}, {from, to, kBodies}, watch);
  double x = 0;
  for (uint32_t j = 1; j < kBodies; ++j) {
    const float* other = bodies.data() + size_t{4} * j;
    const double square =
        double{other[0]} * other[0] + double{other[1]} * other[1] + double{other[2]} * other[2];
    x += other[0] / std::pow(square + 1e-3, 1.5);
  }
  expect_near(state, download_floats(subject, to, 1)[0], x);
}

void monte_carlo(benchmark::State& state, AttachedObservers watch) {
  constexpr uint32_t kThreads = 16384, kRounds = 16;
  SimulatedBenchmarkKernel subject(compute_cu_kernels(), "monte_carlo");
  const uint64_t to = subject.allocate(uint64_t{kThreads} * 4, "inside");
  run_launch_benchmark(state, subject, {kThreads / 256, 256, 0}, {to, kRounds}, watch);
  std::vector<uint32_t> inside(kThreads);
  subject.memory().download(inside.data(), to, uint64_t{kThreads} * 4);
  double sum = 0;
  for (const uint32_t hits : inside) sum += hits;
  expect_near(state, sum / (4.0 * kThreads * kRounds), 0.785398);
}

void black_scholes(benchmark::State& state, AttachedObservers watch) {
  constexpr uint32_t kOptions = 1 << 18;
  SimulatedBenchmarkKernel subject(compute_cu_kernels(), "black_scholes");
  std::vector<float> price(kOptions), strike(kOptions), years(kOptions);
  for (uint32_t i = 0; i < kOptions; ++i) {
    price[i] = 5 + static_cast<float>(i % 256) / 10;
    strike[i] = 1 + static_cast<float>(i % 1000) / 10;
    years[i] = 0.25f + static_cast<float>(i % 40) / 4;
  }
  const uint64_t p = allocate_and_upload(subject, price, "price"),
                 s = allocate_and_upload(subject, strike, "strike"),
                 y = allocate_and_upload(subject, years, "years"),
                 calls = allocate_and_upload(subject, price, "calls"),
                 puts = allocate_and_upload(subject, price, "puts");
  run_launch_benchmark(state, subject, {kOptions / 256, 256, 0}, {p, s, y, calls, puts, kOptions},
                       watch);
  const std::vector<float> call = download_floats(subject, calls, kOptions),
                           put = download_floats(subject, puts, kOptions);
  // Put-call parity.
  for (uint32_t i = 0; i < kOptions; i += 997)
    expect_near(state, double{call[i]} - put[i] + 1000,
                price[i] - strike[i] * std::exp(-0.02 * years[i]) + 1000);
}

using Launch = void (*)(benchmark::State&, AttachedObservers);

}  // namespace

void register_compute_benchmarks() {
  const std::pair<const char*, Launch> all[] = {{"matmul_4x4", matmul_4x4},
                                                {"nbody", nbody},
                                                {"monte_carlo", monte_carlo},
                                                {"black_scholes", black_scholes}};
  for (const auto& [name, launch] : all)
    for (const AttachedObservers watch :
         {AttachedObservers::run, AttachedObservers::nothing, AttachedObservers::counters,
          AttachedObservers::all, AttachedObservers::check})
      benchmark::RegisterBenchmark((std::string(name) + "/" + name_of(watch)).c_str(), launch,
                                   watch)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
}

}  // namespace lab32::bench
