#include "device/sim_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "device/device.h"
#include "device/sim_module.h"
#include "device/sim_observers.h"
#include "simulator/core/memory/memory.h"
#include "simulator/core/schedule/launch.h"
#include "simulator/core/warp/decode.h"
#include "simulator/core/warp/trap.h"
#include "simulator/ptx/parser.h"
#include "simulator/timing/occupancy.h"
#include "simulator/timing/time.h"

namespace lab32::device {
namespace {

// Address space that is reserved for device memory; pages are allocated when they are touched.
constexpr uint64_t kAddressSpace = uint64_t{64} << 30;

KernelFault refusal_fault(LaunchRefusal refusal) {
  KernelFault fault;
  fault.kind = sim::TrapKind::launch;
  fault.refusal = std::move(refusal);
  return fault;
}

class SimMemoryImage : public SavedMemory {
 public:
  explicit SimMemoryImage(sim::Memory& memory) : memory_(memory), image_(memory.take_snapshot()) {}
  void put_back() override { memory_.put_back(image_); }
  bool same() const override { return memory_.equals_snapshot(image_); }

 private:
  sim::Memory& memory_;
  sim::Memory::Snapshot image_;
};

class SimDevice : public Device {
 public:
  explicit SimDevice(model::DeviceProfile profile)
      : profile_(std::move(profile)),
        own_(std::make_unique<sim::Memory>(std::min(kAddressSpace, profile_.dram_bytes))),
        memory_(*own_) {}
  SimDevice(model::DeviceProfile profile, sim::Memory& memory)
      : profile_(std::move(profile)), memory_(memory) {}

  std::string name() const override { return "sim:" + profile_.id; }
  std::optional<double> modelled_copy_kernel_seconds(uint64_t bytes) const override {
    return model::predict(profile_, model::work_of_copy_kernel(profile_, bytes)).seconds;
  }
  std::string describe() const override {
    return fmt::format("simulated {} ({}, {} multiprocessors)", profile_.name, profile_.arch,
                       profile_.multiprocessors);
  }
  std::string arch() const override { return profile_.arch; }
  uint32_t multiprocessors() const override { return profile_.multiprocessors; }

  std::unique_ptr<LoadedModule> load(const toolchain::CompiledArtifact& artifact) override {
    return std::make_unique<SimModule>(memory_, artifact, !own_);
  }

  DeviceAddressRange allocate(uint64_t bytes, const std::string& name) override {
    return {memory_.allocate(bytes, name)->begin, bytes};
  }
  void release(DeviceAddressRange buffer) override { memory_.release(buffer.address); }
  void upload(DeviceAddressRange to, const void* from, uint64_t bytes) override {
    memory_.upload(to.address, from, bytes);
  }
  void download(void* to, DeviceAddressRange from, uint64_t bytes) override {
    memory_.download(to, from.address, bytes);
  }
  void poison(DeviceAddressRange buffer) override {
    sim::Allocation* a = memory_.find(buffer.address);
    if (!a) {
      if (buffer.bytes == 0) return;
      throw Error("poison of memory that is not allocated");
    }
    memory_.poison(*a);
  }

  std::unique_ptr<SavedMemory> save() override { return std::make_unique<SimMemoryImage>(memory_); }

  void release_heap() override { heap_.release_all(); }
  uint64_t resident_blocks_on_device(Kernel& kernel, const LaunchShape& shape) override;
  LaunchResult launch(Kernel& kernel, const LaunchShape& shape,
                      const std::vector<KernelArgument>& args,
                      const LaunchOptions& options) override;

 private:
  LaunchResult run_kernel(SimKernel& kernel, const LaunchShape& shape, const LaunchOptions& options,
                          unsigned depth);
  void run_children(const SimKernel& parent, sim::DeviceLaunches launches,
                    const LaunchOptions& options, unsigned depth, LaunchResult& run);
  uint64_t make_or_reset_grid_workspace();
  model::Occupancy occupancy(const SimKernel& kernel, const LaunchShape& shape) const;
  std::optional<LaunchRefusal> check_shape(const SimKernel& kernel, const LaunchShape& shape) const;
  void write_parameters(const SimKernel& kernel, const std::vector<KernelArgument>& args);

  model::DeviceProfile profile_;
  std::unique_ptr<sim::Memory> own_;  // null: the memory is the caller's
  sim::Memory& memory_;
  sim::KernelMallocHeap heap_{memory_};
  uint64_t grid_workspace_ = 0;
  std::optional<counters::L2> l2_;  // the state that the last modelled launch left
};

// If the register count is not known, 32 are assumed, which limits nothing.
model::Occupancy SimDevice::occupancy(const SimKernel& kernel, const LaunchShape& shape) const {
  return model::occupancy(profile_, static_cast<uint32_t>(shape.block.count()),
                          kernel.info().registers.value_or(32), kernel.program().dynamic_offset,
                          shape.dynamic_shared);
}

uint64_t SimDevice::resident_blocks_on_device(Kernel& which, const LaunchShape& shape) {
  const auto& kernel = dynamic_cast<const SimKernel&>(which);
  return uint64_t{profile_.multiprocessors} * occupancy(kernel, shape).blocks;
}

// The workspace of cooperative_groups, to which %envreg1 and %envreg2 point (the driver ABI of
// cooperative_groups): its size, and the word in which blocks count themselves at grid.sync().
uint64_t SimDevice::make_or_reset_grid_workspace() {
  const std::array<uint32_t, 2> fresh{8, 0};
  if (grid_workspace_ == 0) {
    sim::Allocation* made = memory_.allocate(sizeof fresh, "the grid's barrier");
    made->scratch = true;
    grid_workspace_ = made->begin;
  }
  memory_.upload(grid_workspace_, fresh.data(), sizeof fresh);
  return grid_workspace_;
}

std::optional<LaunchRefusal> SimDevice::check_shape(const SimKernel& kernel,
                                                    const LaunchShape& shape) const {
  using Limit = LaunchRefusal::Limit;
  LaunchRefusal refusal;
  refusal.kernel = kernel.info().name;
  refusal.shape = shape;
  const auto refuse = [&](Limit limit, uint64_t value = 0, uint64_t most = 0) {
    refusal.limit = limit;
    refusal.value = value;
    refusal.most = most;
    return refusal;
  };
  const auto refuse_shape = [&](Limit limit, const Dim3& most) {
    refusal.most_shape = most;
    return refuse(limit);
  };
  const auto& b = shape.block;
  const auto& g = shape.grid;
  if (b.count() == 0 || g.count() == 0) return refuse(Limit::empty);
  const uint32_t most = std::min(profile_.max_threads_per_block, kernel.info().max_threads);
  if (b.count() > most) return refuse(Limit::threads, b.count(), most);
  const auto& mg = profile_.max_grid;
  const auto& mb = profile_.max_block;
  if (g.x > mg[0] || g.y > mg[1] || g.z > mg[2])
    return refuse_shape(Limit::grid, {mg[0], mg[1], mg[2]});
  if (b.x > mb[0] || b.y > mb[1] || b.z > mb[2])
    return refuse_shape(Limit::block, {mb[0], mb[1], mb[2]});
  const Dim3& c = shape.cluster.count() != 0 ? shape.cluster : kernel.info().cluster;
  if (c.count() != 0 && (g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0))
    return refuse_shape(Limit::cluster, c);
  const uint64_t shared = uint64_t{kernel.program().dynamic_offset} + shape.dynamic_shared;
  if (shared > profile_.shared_bytes_opt_in)
    return refuse(Limit::shared_bytes, shared, profile_.shared_bytes_opt_in);
  const auto& need = kernel.function().required_threads;
  const std::array<int, 3> have{static_cast<int>(b.x), static_cast<int>(b.y),
                                static_cast<int>(b.z)};
  if (need[0] != 0 && need != have)
    return refuse_shape(Limit::required_block,
                        {static_cast<uint32_t>(need[0]), static_cast<uint32_t>(need[1]),
                         static_cast<uint32_t>(need[2])});
  try {
    occupancy(kernel, shape);
  } catch (const Error&) {  // the registers of one block exceed those of a multiprocessor
    return refuse(Limit::resources, kernel.info().registers.value_or(0));
  }
  return std::nullopt;
}

void SimDevice::write_parameters(const SimKernel& kernel, const std::vector<KernelArgument>& args) {
  const auto& params = kernel.function().params;
  if (args.size() != params.size())
    throw Error(fmt::format("`{}` takes {} arguments, {} are given", kernel.info().name,
                            params.size(), args.size()));
  uint32_t bytes = 0;
  const auto offsets = ptx::parameter_offsets(params, &bytes);
  std::vector<std::byte> block(bytes);
  for (size_t i = 0; i < args.size(); ++i) {
    const auto& value = args[i].bytes();
    if (value.size() != params[i].size)
      throw Error(fmt::format("argument {} of `{}` has {} bytes, {} are given", i + 1,
                              kernel.info().name, params[i].size, value.size()));
    std::copy(value.begin(), value.end(), block.begin() + offsets[i]);
  }
  memory_.upload(kernel.program().param_address, block.data(), block.size());
}

LaunchResult SimDevice::launch(Kernel& which, const LaunchShape& shape,
                               const std::vector<KernelArgument>& args,
                               const LaunchOptions& options) {
  auto& kernel = dynamic_cast<SimKernel&>(which);
  write_parameters(kernel, args);
  return run_kernel(kernel, shape, options, 0);
}

// Runs the launches and copies that a grid's kernels have requested, those of the tail stream last.
// Each one is complete, with its own launches, before the next begins. Streams of one block require
// this order; for other streams it is one of the allowed orders.
LaunchShape shape_of(const sim::DeviceLaunch& launch) {
  LaunchShape shape;
  shape.grid = launch.grid;
  shape.block = launch.block;
  shape.dynamic_shared = launch.dynamic_shared;
  return shape;
}

void SimDevice::run_children(const SimKernel& parent, sim::DeviceLaunches launches,
                             const LaunchOptions& options, unsigned depth, LaunchResult& run) {
  constexpr unsigned kMostDepth = 24;  // CUDA programming guide, "Recursion and depth"
  std::stable_partition(launches.launched.begin(), launches.launched.end(),
                        [](const sim::DeviceLaunch& l) { return !l.tail; });
  LaunchOptions own = options;
  own.count = false;
  own.model = LaunchOptions::Model::none;
  own.launch_detail.reset();
  own.cooperative = false;
  for (const sim::DeviceLaunch& launch : launches.launched) {
    if (depth >= kMostDepth)
      throw Error(fmt::format("kernels that launch kernels more than {} deep", kMostDepth));
    if (launch.function == 0) {
      if (launch.copy.value < 0)
        memory_.copy(launch.copy.to, launch.copy.from, launch.copy.bytes);
      else
        memory_.fill(launch.copy.to, static_cast<unsigned char>(launch.copy.value),
                     launch.copy.bytes);
      continue;
    }
    SimKernel& child = parent.module().kernel_at(launch.function);
    std::vector<std::byte> parameters(child.program().param_bytes);
    memory_.download(parameters.data(), launch.parameters, parameters.size());
    memory_.upload(child.program().param_address, parameters.data(), parameters.size());
    memory_.release(launch.parameters);
    LaunchResult done = run_kernel(child, shape_of(launch), own, depth + 1);
    run.child_launches += 1 + done.child_launches;
    run.predicted.reset();  // only the parent's is reported
    run.output += done.output;
    run.output_lost |= done.output_lost;
    run.grid_races_unchecked |= done.grid_races_unchecked;
    if (done.uninitialised && !run.uninitialised) run.uninitialised = done.uninitialised;
    if (done.hazards) {
      if (!run.hazards) run.hazards.emplace();
      run.hazards->insert(run.hazards->end(), done.hazards->begin(), done.hazards->end());
    }
    if (!done.fault) continue;
    const bool goes_on = options.keep_going && sim::is_nonfatal_trap(done.fault->kind);
    if (!run.fault) run.fault = std::move(done.fault);
    if (!goes_on) return;
  }
}

LaunchResult SimDevice::run_kernel(SimKernel& kernel, const LaunchShape& shape,
                                   const LaunchOptions& options, unsigned depth) {
  const sim::KernelProgram& program = kernel.program();
  LaunchResult run;
  if (const auto refusal = check_shape(kernel, shape)) {
    run.fault = refusal_fault(*refusal);
    return run;
  }

  sim::LaunchContext launch;
  launch.program = &program;
  launch.memory = &memory_;
  launch.grid = {shape.grid.x, shape.grid.y, shape.grid.z};
  launch.block = {shape.block.x, shape.block.y, shape.block.z};
  launch.explicit_cluster = shape.cluster.count() != 0 || kernel.info().cluster.count() != 0;
  if (launch.explicit_cluster)
    launch.cluster = shape.cluster.count() != 0 ? shape.cluster : kernel.info().cluster;
  launch.set_shared_bytes(program.dynamic_offset + shape.dynamic_shared);
  launch.param_address = program.param_address;
  launch.multiprocessors = profile_.multiprocessors;
  launch.warp_budget = options.warp_budget;
  sim::LaunchLimitMeter meter(options.launch_budget, options.seconds, options.block_local_bytes);
  launch.meter = &meter;
  heap_.set_limit(options.heap_bytes);
  launch.heap = &heap_;
  sim::DeviceLaunches launches;
  // Every impossible launch gives cudaErrorInvalidConfiguration: too many threads, no block, too
  // much shared memory (an H200, driver 580.159.04).
  launches.error_of = [&](const sim::DeviceLaunch& child) {
    return check_shape(kernel.module().kernel_at(child.function), shape_of(child)) ? 9u : 0u;
  };
  launches.text_of = options.text_of_error;
  launches.devices = options.devices;
  launch.launches = &launches;
  launch.trap_uninitialised = options.trap_uninitialised;
  launch.note_uninitialised = options.note_uninitialised;
  launch.note_warps = options.model != LaunchOptions::Model::none;
  launch.keep_going = options.keep_going;
  launch.looks_for_races = options.check_hazards;
  launch.schedule = options.schedule;
  launch.part = options.part;
  launch.resident_blocks = resident_blocks_on_device(kernel, shape);
  if (options.cooperative) {
    if (shape.grid.count() > launch.resident_blocks) {
      run.fault = refusal_fault({LaunchRefusal::Limit::resident_blocks,
                                 kernel.info().name,
                                 shape,
                                 shape.grid.count(),
                                 launch.resident_blocks,
                                 {}});
      return run;
    }
    launch.grid_workspace = make_or_reset_grid_workspace();
  }

  LaunchObservers observers(launch, options, kernel.places());
  if (options.model != LaunchOptions::Model::none) {
    if (options.model == LaunchOptions::Model::cold) l2_.reset();
    observers.observe_for_time_model(profile_, occupancy(kernel, shape), kernel.emitted(),
                                     std::move(l2_));
    l2_.reset();
  }
  try {
    sim::LaunchOutcome outcome = sim::run_grid(launch, observers.all(), requested_host_threads());
    const std::optional<uint32_t> local = kernel.local_accesses(outcome.tally);
    run = observers.collect_results(std::move(outcome));
    run.local_accesses = local;
  } catch (const sim::Trap& trap) {  // before its first instruction
    throw Error(sim::describe(trap));
  }
  if (kernel.info().registers) run.occupancy = occupancy(kernel, shape);
  if (options.model != LaunchOptions::Model::none) l2_ = observers.take_l2();
  const bool ended = run.fault && !(options.keep_going && sim::is_nonfatal_trap(run.fault->kind));
  for (const auto& [error, address] : launches.texts)
    if (address != 0) memory_.release(address);
  if (!ended) run_children(kernel, std::move(launches), options, depth, run);
  return run;
}

}  // namespace

unsigned requested_host_threads() {
  static const unsigned threads = [] {
    const std::string words = environment_value(variables::kThreads);
    if (words.empty()) return 0u;
    if (words.size() > 4 || words.find_first_not_of("0123456789") != std::string::npos)
      throw MachineError("LAB32_THREADS=" + words + ": it may be a number from 0 to 9999");
    return static_cast<unsigned>(std::stoul(words));
  }();
  return threads;
}

std::unique_ptr<Device> make_sim_device(const std::string& profile) {
  return std::make_unique<SimDevice>(model::read_device_profile(profile));
}

std::unique_ptr<Device> make_sim_device(const model::DeviceProfile& profile, sim::Memory& memory) {
  return std::make_unique<SimDevice>(profile, memory);
}

std::map<std::string, std::string> unsupported_kernels_of(const std::string& ptx) {
  return sim::unsupported_reasons_by_kernel(ptx::parse(ptx), true);
}

std::unique_ptr<Device> open_device(const std::string& spec) {
  // Counters decide points, and a GPU does not give them. A GPU therefore adds its clock
  // (open_gpu_timer) to the simulator and does not replace it. data/measured contains the records
  // of an H200.
  if (spec == "auto" || spec == "sim" || spec == "gpu") return make_sim_device("h200");
  if (spec.rfind("sim:", 0) == 0) return make_sim_device(spec.substr(4));
  throw Error(fmt::format("there is no device `{}`; there are auto, sim, sim:NAME and gpu", spec));
}

}  // namespace lab32::device
