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

// What watches a launch: nobody, the counters, or counters and hazards, as when submissions are
// graded. Bounds and alignment are always checked, and values that nobody has defined but in `run`,
// which is `lab32 run`; check is `lab32 check`, which counts nothing.
enum class Watch : uint8_t { run, nothing, counters, all, check };
const char* name_of(Watch watch);

// The kernels of one file in this folder, as PTX, compiled once; with the SASS's access plans.
class Kernels {
 public:
  explicit Kernels(const std::string& file);
  const std::string& text() const { return text_; }
  const ptx::Module& module() const { return module_; }
  // By base name and template values; throws Error when there is none.
  std::unique_ptr<sim::KernelProgram> program(const std::string& name, uint64_t params) const;

 private:
  std::string text_;
  ptx::Module module_;
  std::map<std::string, sim::FunctionPlans> plans_;
};

struct Shape {
  uint32_t blocks, threads, shared_bytes;
};

// A kernel with memory of its own.
class Subject {
 public:
  Subject(const Kernels& kernels, const std::string& name);
  uint64_t allocate(uint64_t bytes, const std::string& name) {
    return memory_.allocate(bytes, name)->begin;
  }
  sim::Memory& memory() { return memory_; }
  // arguments: as many as the kernel has parameters, each cut to its size. Returns the warp
  // instructions issued. Throws Error where the kernel traps.
  uint64_t launch(const Shape& shape, const std::vector<uint64_t>& arguments, Watch watch);

 private:
  sim::Memory memory_{uint64_t{8} << 30};
  const ptx::Function* function_ = nullptr;
  uint64_t params_ = 0;
  std::unique_ptr<sim::KernelProgram> program_;
};

// Launches until the benchmark has enough; reports lane-instructions (32 times the warp
// instructions) a second, by the wall and a core.
void launch_all(benchmark::State& state, Subject& subject, const Shape& shape,
                const std::vector<uint64_t>& arguments, Watch watch);

void register_ladder();
void register_compute();
void register_launches();
void register_reading();

}  // namespace lab32::bench
