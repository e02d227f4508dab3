#include "tools/bench/bench_kit.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/environment.h"
#include "base/error.h"
#include "device/names.h"
#include "simulator/core/warp/trap.h"
#include "simulator/observers/races/global_races.h"
#include "simulator/observers/races/hazards.h"
#include "simulator/observers/traffic/traffic.h"
#include "simulator/ptx/parser.h"
#include "simulator/sass/listing.h"
#include "simulator/sass/reconcile.h"
#include "toolchain/nvcc.h"

namespace lab32::bench {
namespace {

constexpr uint64_t kWarpBudget = 50'000'000;
constexpr uint32_t kMultiprocessors = 132;

// The number of host threads: LAB32_THREADS as for `lab32`; by default all cores.
unsigned host_thread_count() {
  return static_cast<unsigned>(
      std::strtoul(environment_value(variables::kThreads).c_str(), nullptr, 10));
}

double process_cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

const ptx::Function& find_kernel_by_source_name(const ptx::Module& module,
                                                const std::string& name) {
  std::vector<std::string> symbols;
  for (const ptx::Function& f : module.functions)
    if (f.is_entry) symbols.push_back(f.name);
  const auto index = device::find_kernel(symbols, name);
  if (!index) throw Error(fmt::format("no kernel `{}`", name));
  return ptx::require_kernel(module, symbols[*index]);
}

}  // namespace

const char* name_of(AttachedObservers watch) {
  switch (watch) {
    case AttachedObservers::run:
      return "run";
    case AttachedObservers::check:
      return "check";
    case AttachedObservers::nothing:
      return "counters:off";
    case AttachedObservers::counters:
      return "counters:on";
    case AttachedObservers::all:
      break;
  }
  return "check:on";
}

BenchmarkKernels::BenchmarkKernels(const std::string& file) {
  const toolchain::CompiledArtifact artifact =
      toolchain::compile(lab32_root().string() + "/grader/tools/bench/" + file, "sm_90", file);
  text_ = artifact.ptx;
  module_ = ptx::parse(text_);
  plans_ = sass::reconcile(module_, sass::parse_disassembly(artifact.sass)).plans;
}

std::unique_ptr<sim::KernelProgram> BenchmarkKernels::decode_kernel(const std::string& name,
                                                                    uint64_t params) const {
  return sim::decode(module_, find_kernel_by_source_name(module_, name), {}, params, plans_);
}

SimulatedBenchmarkKernel::SimulatedBenchmarkKernel(const BenchmarkKernels& kernels,
                                                   const std::string& name)
    : function_(&find_kernel_by_source_name(kernels.module(), name)) {
  uint32_t bytes = 0;
  ptx::parameter_offsets(function_->params, &bytes);
  params_ = allocate(bytes, "kernel parameters");
  program_ = kernels.decode_kernel(name, params_);
}

uint64_t SimulatedBenchmarkKernel::launch_counting_instructions(
    const LinearLaunchShape& shape, const std::vector<uint64_t>& arguments,
    AttachedObservers watch) {
  uint32_t bytes = 0;
  const auto offsets = ptx::parameter_offsets(function_->params, &bytes);
  if (arguments.size() != offsets.size()) throw Error("wrong number of arguments");
  std::vector<std::byte> params(bytes);
  for (size_t i = 0; i < offsets.size(); ++i)
    std::memcpy(params.data() + offsets[i], &arguments[i], function_->params[i].size);
  memory_.upload(params_, params.data(), params.size());

  sim::LaunchContext launch;
  launch.program = program_.get();
  launch.memory = &memory_;
  launch.grid = {shape.blocks, 1, 1};
  launch.block = {shape.threads, 1, 1};
  launch.set_shared_bytes(program_->dynamic_offset + shape.shared_bytes);
  launch.param_address = params_;
  launch.multiprocessors = kMultiprocessors;
  launch.warp_budget = kWarpBudget;
  launch.trap_uninitialised = watch != AttachedObservers::run && watch != AttachedObservers::check;
  launch.keep_going = watch == AttachedObservers::check;

  counters::TrafficObserver traffic;
  const sim::KernelProgram& program = *program_;
  counters::SharedMemoryHazardObserver hazards(
      4, false, {}, [&program](uint32_t site) { return program.position(site); });
  std::vector<sim::Observer*> observers;
  if (watch == AttachedObservers::counters || watch == AttachedObservers::all)
    observers.push_back(&traffic);
  counters::GlobalMemoryRaceObserver races(memory_);
  if (watch == AttachedObservers::all || watch == AttachedObservers::check)
    observers.insert(observers.end(), {&hazards, &races});
  const sim::LaunchOutcome outcome = sim::run_grid(launch, observers, host_thread_count());
  if (outcome.trap) throw Error(describe(*outcome.trap));
  uint64_t warps = 0;
  for (const sim::StaticInstructionIssueCounts& site : outcome.tally) warps += site.warps;
  return warps;
}

void run_launch_benchmark(benchmark::State& state, SimulatedBenchmarkKernel& subject,
                          const LinearLaunchShape& shape, const std::vector<uint64_t>& arguments,
                          AttachedObservers watch) {
  double lanes = 0, launches = 0;
  const double start = process_cpu_seconds();
  for (auto _ : state) {
    lanes +=
        32.0 * static_cast<double>(subject.launch_counting_instructions(shape, arguments, watch));
    ++launches;
  }
  const double core_seconds = process_cpu_seconds() - start;
  state.counters["lane-instr/s"] = benchmark::Counter(lanes, benchmark::Counter::kIsRate);
  state.counters["lane-instr/s/core"] = lanes / core_seconds;
  state.counters["blocks/s"] =
      benchmark::Counter(launches * shape.blocks, benchmark::Counter::kIsRate);
}

}  // namespace lab32::bench
