// Launches kernels straight on the simulator, with as many observers as the benchmark wants, and
// reports what a launch costs.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simulator/core/memory/memory.h"
#include "simulator/core/schedule/launch.h"
#include "simulator/core/warp/decode.h"
#include "simulator/observers/counters.h"
#include "simulator/ptx/module.h"

namespace lab32::bench {

// The observers of a launch: none; the counters; counters and hazards, as for graded submissions;
// or those of `lab32 check`, which counts nothing. Bounds and alignment are always checked. Uses of
// undefined values are checked except in `run`, which stands for `lab32 run`.
enum class AttachedObservers : uint8_t { run, nothing, counters, all, check };
const char* name_of(AttachedObservers watch);

// The kernels of one file in this folder, as PTX compiled once, with access plans from its SASS.
class BenchmarkKernels {
 public:
  explicit BenchmarkKernels(const std::string& file);
  const std::string& text() const { return text_; }
  const ptx::Module& module() const { return module_; }
  // Finds a kernel by its base name and template values; throws Error if there is none.
  std::unique_ptr<sim::KernelProgram> decode_kernel(const std::string& name, uint64_t params) const;

 private:
  std::string text_;
  ptx::Module module_;
  std::map<std::string, sim::FunctionPlans> plans_;
};

struct LinearLaunchShape {
  uint32_t blocks, threads, shared_bytes;
};

// A kernel under measurement, with memory of its own.
class SimulatedBenchmarkKernel {
 public:
  SimulatedBenchmarkKernel(const BenchmarkKernels& kernels, const std::string& name);
  uint64_t allocate(uint64_t bytes, const std::string& name) {
    return memory_.allocate(bytes, name)->begin;
  }
  sim::Memory& memory() { return memory_; }
  // arguments: one per parameter of the kernel, each cut to the parameter's size. Returns the
  // number of warp instructions issued. Throws Error if the kernel traps.
  uint64_t launch_counting_instructions(const LinearLaunchShape& shape,
                                        const std::vector<uint64_t>& arguments,
                                        AttachedObservers watch);

 private:
  sim::Memory memory_{uint64_t{8} << 30};
  const ptx::Function* function_ = nullptr;
  uint64_t params_ = 0;
  std::unique_ptr<sim::KernelProgram> program_;
};

// Launches until the benchmark has enough samples; reports lane instructions (32 times the warp
// instructions) per second, by wall time and per core.
void run_launch_benchmark(benchmark::State& state, SimulatedBenchmarkKernel& subject,
                          const LinearLaunchShape& shape, const std::vector<uint64_t>& arguments,
                          AttachedObservers watch);

void register_reduction_benchmarks();
void register_compute_benchmarks();
void register_launch_benchmarks();
void register_ptx_benchmarks();

}  // namespace lab32::bench
