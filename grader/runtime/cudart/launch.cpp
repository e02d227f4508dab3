#include "runtime/cudart/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/environment.h"
#include "base/error.h"
#include "base/text.h"
#include "device/run_text.h"
#include "runtime/cudart/call.h"
#include "runtime/cudart/errors.h"
#include "runtime/cudart/registry.h"
#include "runtime/record/recording.h"
#include "simulator/timing/occupancy.h"

namespace lab32::cudart {
namespace {

// Dynamic shared memory that a block may use without cudaFuncAttributeMaxDynamicSharedMemorySize.
constexpr uint64_t kSharedWithoutAsking = 48 << 10;

// The instructions that a warp may issue before its kernel counts as endless. They take some
// minutes, because a program may legitimately run long.
constexpr uint64_t kWarpBudget = 20'000'000'000;

uint64_t count(const dim3& d) { return uint64_t{d.x} * d.y * d.z; }

bool are_dimensions_within(const dim3& d, const std::array<uint32_t, 3>& most) {
  return count(d) != 0 && d.x <= most[0] && d.y <= most[1] && d.z <= most[2];
}

// The reason why a launch of this shape cannot start.
device::LaunchRefusal refusal_of_shape(const Runtime& r, const device::KernelInfo& info,
                                       const device::LaunchShape& shape) {
  using Limit = device::LaunchRefusal::Limit;
  const auto limit_of = [](const std::array<uint32_t, 3>& most) {
    return Dim3{most[0], most[1], most[2]};
  };
  device::LaunchRefusal refusal;
  refusal.kernel = info.name;
  refusal.shape = shape;
  refusal.value = shape.block.count();
  refusal.most = std::min(r.profile.max_threads_per_block, info.max_threads);
  if (shape.grid.count() == 0 || shape.block.count() == 0) {
    refusal.limit = Limit::empty;
  } else if (refusal.value > refusal.most) {
    refusal.limit = Limit::threads;
  } else {
    const Dim3 most = limit_of(r.profile.max_grid);
    const bool grid = shape.grid.x > most.x || shape.grid.y > most.y || shape.grid.z > most.z;
    refusal.limit = grid ? Limit::grid : Limit::block;
    refusal.most_shape = grid ? most : limit_of(r.profile.max_block);
  }
  return refusal;
}

cudaError_t refuse_launch(cudaError_t error, const device::LaunchRefusal& refusal) {
  device::KernelFault fault;
  fault.refusal = refusal;
  return fail(error, device::describe(fault));
}

// Returns the errors that the real runtime returns from the launch itself. Adds the cluster to the
// shape.
cudaError_t check_launch(Runtime& r, KernelEntry& entry, const device::KernelInfo& info,
                         const RequestedLaunchConfig& request, device::LaunchShape* shape) {
  using Limit = device::LaunchRefusal::Limit;
  const uint64_t threads = count(request.block);
  if (!are_dimensions_within(request.grid, r.profile.max_grid) ||
      !are_dimensions_within(request.block, r.profile.max_block) ||
      threads > r.profile.max_threads_per_block || threads > info.max_threads)
    // CUDA 13.0 returns this; other versions return cudaErrorInvalidConfiguration
    return refuse_launch(cudaErrorInvalidValue, refusal_of_shape(r, info, *shape));
  if (const uint64_t most = dynamic_shared_limit(entry, info); request.shared > most)
    return fail(cudaErrorInvalidValue,
                fmt::format("{} bytes of dynamic shared memory per block; at most {} are possible, "
                            "{} with cudaFuncAttributeMaxDynamicSharedMemorySize",
                            request.shared, most,
                            r.profile.shared_bytes_opt_in -
                                std::min(r.profile.shared_bytes_opt_in, info.static_shared)));
  if (info.registers && resident_blocks_per_multiprocessor(r, entry, threads, request.shared) == 0)
    return refuse_launch(cudaErrorLaunchOutOfResources,
                         {Limit::resources, info.name, *shape, *info.registers, 0, {}});
  dim3 c;
  bool explicitly = false;
  if (const cudaError_t error =
          find_cluster_shape(r, entry, info, request.cluster, &c, &explicitly))
    return error;
  if (request.grid.x % c.x != 0 || request.grid.y % c.y != 0 || request.grid.z % c.z != 0)
    return refuse_launch(cudaErrorInvalidClusterSize,
                         {Limit::cluster, info.name, *shape, 0, 0, {c.x, c.y, c.z}});
  if (explicitly) shape->cluster = {c.x, c.y, c.z};
  if (request.cooperative) {
    const uint32_t blocks = resident_blocks_per_multiprocessor(r, entry, threads, request.shared);
    uint64_t most = uint64_t{r.profile.multiprocessors} * blocks;
    if (explicitly) {
      const auto clusters = model::active_clusters(r.profile, blocks, count(c));
      if (!clusters) throw Error("how many clusters this device holds at once is not known");
      most = *clusters * count(c);
    }
    if (count(request.grid) > most)
      return refuse_launch(
          cudaErrorCooperativeLaunchTooLarge,
          {Limit::resident_blocks, info.name, *shape, count(request.grid), most, {}});
  }
  return cudaSuccess;
}

cudaError_t error_of_fault(const device::KernelFault& fault) {
  // Both codes are an H100's.
  if (fault.trap && (fault.trap->reason == sim::TrapReason::tensor_coordinate ||
                     fault.trap->reason == sim::TrapReason::tensor_map))
    return cudaErrorIllegalInstruction;
  if (fault.trap && fault.trap->reason == sim::TrapReason::no_condition)
    return cudaErrorIllegalAddress;
  switch (fault.kind) {
    case sim::TrapKind::misaligned:
      return cudaErrorMisalignedAddress;
    case sim::TrapKind::assertion:
      return cudaErrorAssert;
    case sim::TrapKind::instruction_limit:
    case sim::TrapKind::deadlock:
    case sim::TrapKind::time_limit:
    case sim::TrapKind::barrier:
      return cudaErrorLaunchTimeout;
    case sim::TrapKind::trap:
    case sim::TrapKind::shuffle:
    case sim::TrapKind::stack:
    case sim::TrapKind::cluster:
      return cudaErrorLaunchFailure;
    case sim::TrapKind::launch:
      return cudaErrorInvalidConfiguration;
    case sim::TrapKind::out_of_bounds:
    case sim::TrapKind::null:
    case sim::TrapKind::peer:
    case sim::TrapKind::freed:
    case sim::TrapKind::read_only:
    case sim::TrapKind::uninitialised:
    case sim::TrapKind::input:
    case sim::TrapKind::output:
      break;
  }
  return cudaErrorIllegalAddress;
}

void print_fault(const device::KernelFault& fault, const std::string& kernel,
                 const std::string& more = "") {
  std::string place = fault.file.empty() ? "" : fmt::format("{}:{}: ", fault.file, fault.line);
  print_message(fmt::format("{}kernel {}: {}: {}{}", place, kernel, words(fault.kind),
                            describe(fault), more));
}

// Returns a hint for kernels of Numba, which have lines of the PTX unless the program asks for
// lines of Python.
std::string numba_line_info_hint(const std::string& symbol, const std::string& file) {
  return file.rfind("<PTX", 0) == 0 && is_name_of_numba(symbol)
             ? "; @cuda.jit(lineinfo=True) gives the line of Python"
             : "";
}

uint64_t launches = 0;

record::LaunchProfile make_launch_record(Runtime& r, const KernelEntry& entry,
                                         const device::KernelInfo& info,
                                         const RequestedLaunchConfig& request,
                                         const device::LaunchShape& shape) {
  record::LaunchProfile record;
  record.id = launches++;
  record.process_id = getpid();
  record.process_name = std::filesystem::read_symlink("/proc/self/exe").filename().string();
  record.symbol = entry.symbol;
  // As in Nsight Compute, the default stream is number 7 and the program's streams begin at 13.
  const unsigned long long stream = r.streams.id(request.stream);
  record.stream = r.streams.is_default(request.stream) ? 7 : stream + 10;
  record.device = r.gpu().number;
  record.context = static_cast<uint64_t>(r.gpu().number) + 1;
  record.device_name = r.gpu().device->name();
  const std::string digits = r.profile.arch.substr(r.profile.arch.find('_') + 1);
  record.compute_capability = digits.substr(0, digits.size() - 1) + "." + digits.back();
  record.multiprocessors = r.profile.multiprocessors;
  record.shape = shape;
  record.static_shared = info.static_shared;
  record.registers = info.registers;
  return record;
}

device::LaunchOptions launch_options_for(Runtime& r, const RequestedLaunchConfig& request) {
  using Model = device::LaunchOptions::Model;
  device::LaunchOptions options;
  options.devices = r.devices();
  options.text_of_error = [](uint32_t error, bool name) -> std::string {
    const auto code = static_cast<cudaError_t>(error);
    return name ? error_name(code) : error_text(code);
  };
  options.warp_budget = kWarpBudget;
  // The picture of a line shows races, too, so they are checked for it.
  options.check_hazards = r.tool == Tool::check || r.launch_detail;
  options.keep_going = r.tool == Tool::check;
  options.trap_uninitialised = false;  // a GPU continues with the bits in memory
  options.note_uninitialised = r.tool == Tool::run && !r.said_uninitialised;
  options.heap_bytes = r.gpu().limits.at(cudaLimitMallocHeapSize);
  options.cooperative = request.cooperative;
  if (r.schedule) options.schedule = (*r.schedule)++;
  // `lab32 run` and `check` show no counts, and need them only to model time.
  options.count = r.tool == Tool::profile || r.streams.timed();
  options.launch_detail = r.launch_detail;
  // Under Nsight Compute caches start empty (--cache-control all). When the program itself measures
  // time, they keep the data of earlier launches.
  if (r.tool == Tool::profile)
    options.model = Model::cold;
  else if (r.tool == Tool::run && r.streams.timed())
    options.model = Model::warm;
  return options;
}

// Whether a launch may be replaced by its remembered effects: only its memory contents and its
// findings are visible, and its time is known. A kernel that reads clocks or allocates on the heap
// depends on earlier launches.
bool can_memoize_launch(const Runtime& r, const device::KernelInfo& info,
                        const device::LaunchOptions& options) {
  return r.tool != Tool::profile && !options.schedule && !options.launch_detail && !options.count &&
         options.model == device::LaunchOptions::Model::none && !info.uses_heap &&
         !info.reads_clock;
}

}  // namespace

uint64_t launches_recorded() { return launches; }

uint64_t dynamic_shared_limit(const KernelEntry& entry, const device::KernelInfo& info) {
  if (entry.here().max_dynamic_shared >= 0)
    return static_cast<uint64_t>(entry.here().max_dynamic_shared);
  return kSharedWithoutAsking - std::min<uint64_t>(kSharedWithoutAsking, info.static_shared);
}

uint32_t max_blocks_per_cluster(const KernelEntry& entry) {
  // the most blocks of a cluster, measured on an H100
  constexpr uint32_t kPortable = 8, kNonPortable = 16;
  return entry.here().non_portable_cluster ? kNonPortable : kPortable;
}

cudaError_t find_cluster_shape(Runtime& r, const KernelEntry& entry, const device::KernelInfo& info,
                               const std::optional<dim3>& asked, dim3* cluster, bool* explicitly) {
  const int* const set = entry.here().cluster;
  dim3 needed(info.cluster.x, info.cluster.y, info.cluster.z);
  if (count(needed) == 0)
    needed = dim3(static_cast<unsigned>(set[0]), static_cast<unsigned>(set[1]),
                  static_cast<unsigned>(set[2]));
  const bool needs = count(needed) != 0;
  *explicitly = asked.has_value() || needs;
  *cluster = asked ? *asked : needs ? needed : dim3(1);
  if (!*explicitly) return cudaSuccess;
  const dim3& c = *cluster;
  if (count(c) == 0 || count(c) > max_blocks_per_cluster(entry)) return cudaErrorInvalidClusterSize;
  if (needs && (c.x != needed.x || c.y != needed.y || c.z != needed.z))
    return cudaErrorInvalidClusterSize;
  if (info.max_cluster != 0 && count(c) > info.max_cluster) return cudaErrorInvalidClusterSize;
  if (count(c) > 1 && std::stoi(r.profile.arch.substr(3)) < 90)
    throw Error("thread block clusters need a device of compute capability 9.0, and the " +
                r.profile.name + " has " + r.profile.arch);
  return cudaSuccess;
}

uint32_t registers_per_thread(const Runtime& r, const device::KernelInfo& info) {
  if (!info.registers)
    throw Error(
        fmt::format("occupancy needs the machine code of `{}` for {}: compile with nvcc "
                    "-arch={}",
                    info.name, r.profile.arch, r.profile.arch));
  return *info.registers;
}

uint32_t resident_blocks_per_multiprocessor(Runtime& r, KernelEntry& entry, uint64_t threads,
                                            uint64_t shared) {
  const device::KernelInfo& info = r.registry.load(entry).info();
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  try {
    return model::occupancy(r.profile, static_cast<uint32_t>(std::min(threads, kMost)),
                            registers_per_thread(r, info), info.static_shared,
                            static_cast<uint32_t>(std::min(shared, kMost)), entry.here().carveout)
        .blocks;
  } catch (const Error&) {
    return 0;
  }
}

cudaError_t launch(Runtime& r, KernelEntry& entry, const RequestedLaunchConfig& request,
                   void** args) {
  if (!r.streams.knows(request.stream) || !r.streams.is_on_current_device(request.stream))
    return cudaErrorInvalidResourceHandle;
  r.registry.load(*entry.binary);
  warn_of_unsupported_kernels(r.registry, r.profile.arch);
  device::Kernel& kernel = r.registry.load(entry);
  const device::KernelInfo& info = kernel.info();
  device::LaunchShape shape;
  shape.grid = {request.grid.x, request.grid.y, request.grid.z};
  shape.block = {request.block.x, request.block.y, request.block.z};
  shape.dynamic_shared = static_cast<uint32_t>(request.shared);
  if (const cudaError_t error = check_launch(r, entry, info, request, &shape)) return error;
  // After a fault, the device executes nothing more. The next call that waits reports the fault.
  if (r.gpu().fault) return cudaSuccess;

  r.gpu().heap_in_use |= info.uses_heap;

  std::vector<device::KernelArgument> arguments;
  for (size_t i = 0; i < info.parameter_bytes.size(); ++i)
    arguments.push_back(device::KernelArgument::from_bytes(args[i], info.parameter_bytes[i]));

  device::LaunchOptions options = launch_options_for(r, request);
  const std::string path = environment_value(variables::kRecord);
  const bool recorded = !path.empty();
  const std::string key = launch_key(entry.symbol, shape, arguments);
  LaunchTimeExtrapolator* known = nullptr;
  if (options.model == device::LaunchOptions::Model::warm) {
    const RepeatedLaunchTimeCache::EstimateAndShouldModel found =
        r.gpu().known_times.find_or_add_estimate(
            key, launch_key_modulo_alignment(entry.symbol, shape, arguments, r.memory));
    known = found.time;
    if (!found.model) {
      options.model = device::LaunchOptions::Model::none;
      options.count = false;
    }
  }
  LaunchMemo::RememberedLaunch* repeated = nullptr;
  if (can_memoize_launch(r, info, options) && (!recorded || r.tool == Tool::check))
    repeated = &r.gpu().launch_memo.launch_of_key(
        key + std::string(1, request.cooperative ? 'c' : 'p') + std::to_string(entry.number));
  const auto advance = [&](const device::LaunchResult& of) {
    r.gpu().timeline.advance(known ? known->seconds(r.profile, of) : launch_seconds(r.profile, of));
  };
  const auto append_record = [&](device::LaunchResult of) {
    record::LaunchProfile record = make_launch_record(r, entry, info, request, shape);
    record.run = std::move(of);
    record::append_line(path,
                        with_allocations_named_by_variable(record::to_json_record_line(record)));
  };
  const bool watched = r.tool == Tool::check &&
                       entry.binary->order_for_host.count(entry.symbol) == 0 &&
                       watch_host_accesses();
  const WritesSinceHostSync::Contents before =
      watched ? r.unfinished.copy_host_accessible_memory() : WritesSinceHostSync::Contents();
  if (const auto instructions = repeated ? repeated->replay(r.memory) : std::nullopt) {
    device::LaunchResult left_out;
    left_out.warp_instructions = instructions;
    advance(left_out);
    r.unfinished.add_changes(before, info.name);
    if (recorded) {
      left_out.hazards = repeated->hazards();
      append_record(std::move(left_out));
    }
    return cudaSuccess;
  }
  const auto before_launch = save_memory_for_stale_trial(r, info);
  const auto start = std::chrono::steady_clock::now();
  device::LaunchResult run = r.gpu().device->launch(kernel, shape, arguments, options);
  if (before_launch) find_stale_loads(r, {kernel, shape, arguments, options}, *before_launch, run);
  if (!repeated)
    LaunchMemo::forget_digests();
  else
    repeated->record_run(
        r.memory, run,
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
        !run.fault && run.output.empty() && !run.output_lost && run.child_launches == 0);
  if (run.fault && run.fault->kind == sim::TrapKind::launch)
    return fail(error_of_fault(*run.fault), device::describe(*run.fault));
  r.unfinished.add_changes(before, info.name);
  advance(run);
  r.gpu().output += run.output;
  if (run.output_lost && !std::exchange(r.gpu().said_output_lost, true))
    print_message(
        fmt::format("kernel {} prints more than the device's printf buffer holds (1 MiB per "
                    "launch); the rest is lost",
                    info.name));
  if (run.grid_races_unchecked && r.said_grid_races_unchecked.insert(info.name).second)
    print_message(
        fmt::format("kernel {} allocates or frees memory, or launches kernels: races between its "
                    "blocks are not checked",
                    info.name));
  if (run.uninitialised && !std::exchange(r.said_uninitialised, true))
    print_fault(*run.uninitialised, info.name,
                "; on a GPU it may be zero, and `lab32 check` tells more");
  if (run.fault) {
    r.gpu().fault = error_of_fault(*run.fault);
    // `lab32 check` reports findings when the program has ended.
    if (r.tool != Tool::check || !sim::is_nonfatal_trap(run.fault->kind))
      print_fault(*run.fault, info.name, numba_line_info_hint(entry.symbol, run.fault->file));
  }
  if (recorded) append_record(std::move(run));
  return cudaSuccess;
}

std::shared_ptr<DeferredKernelLaunch> make_deferred_launch(Runtime& runtime, KernelEntry& entry,
                                                           const void* function,
                                                           const RequestedLaunchConfig& request,
                                                           void** args) {
  auto call = std::make_shared<DeferredKernelLaunch>();
  call->entry = &entry;
  call->function = function;
  call->grid = request.grid;
  call->block = request.block;
  call->shared = request.shared;
  call->cooperative = request.cooperative;
  call->cluster = request.cluster;
  call->device = runtime.gpu().number;
  const auto& sizes = runtime.registry.load(entry).info().parameter_bytes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto* begin = static_cast<const std::byte*>(args[i]);
    call->values.emplace_back(begin, begin + sizes[i]);
  }
  return call;
}

cudaError_t launch(Runtime& r, DeferredKernelLaunch& call, cudaStream_t stream) {
  const DeviceScope on(r, call.device);
  // A graph may be launched in a stream of a device other than that of its kernels.
  return launch(
      r, *call.entry,
      {call.grid, call.block, call.shared,
       r.streams.is_on_current_device(stream) ? stream : nullptr, call.cooperative, call.cluster},
      call.arguments());
}

}  // namespace lab32::cudart
