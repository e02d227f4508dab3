// Device, on which a lab suite launches kernels: the simulator or a GPU. A suite never asks which
// one it is: results that a device cannot give are absent in LaunchResult, and a check that needs
// them is reported as not run. A Device loads a compiled CompiledArtifact, allocates and copies
// memory, and launches a kernel to its end. run_text.h turns faults into sentences.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/grid.h"
#include "simulator/core/warp/access_plan.h"
#include "simulator/core/warp/trap.h"
#include "simulator/observers/counters.h"
#include "simulator/observers/races/finding.h"
#include "simulator/observers/traffic/launch_detail.h"
#include "simulator/timing/occupancy.h"
#include "simulator/timing/time.h"
#include "toolchain/artifact.h"

namespace lab32::device {

struct LaunchShape {
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;  // bytes
  // Blocks of a cluster; all 0: the launch gives none, and the kernel may.
  Dim3 cluster{0, 0, 0};
};

// A launch that cannot start, since it exceeds a limit of the device.
struct LaunchRefusal {
  enum class Limit : uint8_t {
    empty,            // no block, or no thread
    threads,          // value per block; most
    grid,             // most_shape
    block,            // most_shape: the most threads along x, y, z
    shared_bytes,     // value per block; most
    required_block,   // most_shape: the only block shape that the kernel may have
    resources,        // no block fits on a multiprocessor; value: registers per thread
    resident_blocks,  // cooperative launch: value blocks; most
    cluster,          // most_shape: the cluster's blocks, of which the grid is no multiple
  } limit = Limit::empty;
  std::string kernel;
  LaunchShape shape;
  uint64_t value = 0, most = 0;
  Dim3 most_shape;
};

// The CUDA driver's error for a kernel on a real GPU.
struct DriverError {
  std::string kernel;
  std::string name, text;  // "CUDA_ERROR_ASSERT", "device-side assert triggered"
};

// A kernel's end by an error. At most one of trap, refusal and driver is set, by the source of the
// fault.
struct KernelFault {
  sim::TrapKind kind = sim::TrapKind::trap;
  std::string file;  // source position, empty/0 when unknown
  int line = 0;
  std::optional<sim::TrapFacts> trap;    // set if an instruction failed on the simulator
  std::optional<LaunchRefusal> refusal;  // set if the simulator refused the launch
  std::optional<DriverError> driver;     // set if a GPU reported the fault
  double seconds = 0;                    // the limit, if the kind is time_limit
  int call_line = 0;  // the line of the kernel that calls the function with the fault; 0: none
};

// True if the launch as a whole exceeded a limit; what it has done so far may be correct.
inline bool exceeds_launch_limit(const KernelFault& fault) {
  return fault.trap && (fault.trap->reason == sim::TrapReason::launch_limit ||
                        fault.trap->reason == sim::TrapReason::launch_seconds);
}

// Device memory, owned by the Device that allocated it. It is a plain value, like a pointer.
struct DeviceAddressRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// One kernel argument: the bytes of a value of the parameter's declared type.
class KernelArgument {
 public:
  template <class T>
  KernelArgument(const T& value)
      : bytes_(sizeof(T)) {  // NOLINT: implicit on purpose: launch(k, s, {n, x})
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(bytes_.data(), &value, sizeof(T));
  }
  KernelArgument(const DeviceAddressRange& buffer) : KernelArgument(buffer.address) {}  // NOLINT
  static KernelArgument from_bytes(const void* from, uint64_t bytes) {
    KernelArgument arg(0);
    const auto* begin = static_cast<const std::byte*>(from);
    arg.bytes_.assign(begin, begin + bytes);
    return arg;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

struct LaunchOptions {
  // The PTX instructions that one warp may issue before it is stopped: a hundred times what the
  // longest warp of a reference solution takes (that of the bank arbiter, under 500,000).
  uint64_t warp_budget = 50'000'000;
  // The instructions that all warps together may issue, and the seconds that the launch may take;
  // 0: no limit (simulator).
  uint64_t launch_budget = 0;
  double seconds = 0;
  // Host memory for the local memory of the threads of a block; 0: no limit (simulator).
  uint64_t block_local_bytes = 0;
  bool check_hazards = true;  // races and shared initialisation (simulator)
  // Whether a read of uninitialised global or local memory ends the launch (grading) or returns the
  // bytes that are there, as a GPU does.
  bool trap_uninitialised = true;
  // Used if trap_uninitialised is false: reports the first such read on which something depends
  // (LaunchResult::uninitialised).
  bool note_uninitialised = false;
  // Report findings instead of ending the launch: bad accesses are dropped (a load gives 0xff
  // bytes), and barriers and warp operations continue with the lanes that have arrived.
  // Uninitialised reads are findings, too. After a bad access the run still ends with that fault.
  // Simulator only.
  bool keep_going = false;
  // The heap size for malloc() in kernels, over all launches (simulator). A launch that calls
  // malloc() is not checked for races between blocks.
  uint64_t heap_bytes = 0;
  // Like cudaLaunchCooperativeKernel: all blocks reside at once, and grid.sync() works. A grid that
  // does not fit (Device::resident_blocks_on_device) is a fault of kind launch.
  bool cooperative = false;
  // The seed of a random order in which blocks and warps run; nullopt: the default order
  // (simulator).
  std::optional<uint64_t> schedule;
  // Only some threads of one block run; the others count as exited (simulator).
  std::optional<PartialBlockLaunch> part;
  // What a strong load returns if a newer store is not ordered before it: the newest value, as
  // the simulator executes; or the oldest that the memory model allows, or a random one
  // (observers/races/stale_values.h). LaunchResult::stale has the loads that returned an older
  // value.
  enum class Loads : uint8_t { newest, oldest, any } loads = Loads::newest;
  // Count the traffic of the memories (simulator); if false, LaunchResult has no counters.
  bool count = true;
  // Model caches and time (simulator), which costs up to as much again as the simulation. cold: L2
  // is empty when the kernel starts, as under ncu --cache-control all; warm: it contains what
  // earlier modelled launches of this device have left.
  enum class Model : uint8_t { none, cold, warm } model = Model::none;
  int32_t devices = 1;  // the number of devices that a kernel sees
  // Returns the name or the text of an error, for kernels that ask for it (simulator).
  std::function<std::string(uint32_t error, bool name)> text_of_error;
  // Source lines whose requests are recorded for pictures (simulator).
  std::optional<counters::DetailFilter> launch_detail;
};

// The most expensive access of one kind on a source line, lane by lane, for messages.
struct WorstAccess {
  std::string file;
  int line = 0;
  uint64_t block = 0;
  uint32_t warp = 0;    // in the block
  bool shared = false;  // else global
  bool store = false;   // store, red, atom; else load
  bool atomic = false;  // red, atom
  uint8_t bytes = 4;    // per lane
  uint32_t mask = 0;
  std::array<uint64_t, 32> address{};  // lanes outside mask: 0
  uint32_t cost = 0, ideal = 0;        // sectors, or wavefronts
};

// An access that could not be matched with the machine code, so that its counts are those of the
// PTX.
struct AccessCountedAsPtx {
  std::string file;
  int line = 0, ptx_line = 0;
  std::string instruction;  // "ld"
  sim::AccessWithoutSassMatch why;
};

// A shift or shuffle by an amount for which C++ defines no result: negative, or at least the number
// of bits or lanes.
struct OutOfRangeShiftOrShuffle {
  std::string file;
  int line = 0;
  bool shuffle = false;  // else a shift
  int32_t amount = 0;
  uint32_t limit = 0;  // bits or lanes
};

// The result of one launch. An absent field is not known to this device.
struct LaunchResult {
  std::optional<KernelFault> fault;
  std::optional<counters::Counters> counters;
  std::vector<counters::LineCounters> lines;
  std::vector<WorstAccess> worst;  // sorted by file and line
  std::optional<std::vector<counters::Finding>> hazards;
  std::vector<counters::Finding> stale;  // LaunchOptions::loads
  // number of instructions of the longest warp, by which limits are chosen
  std::optional<uint64_t> longest_warp;
  std::optional<uint64_t> warp_instructions;  // PTX instructions of all warps (simulator)
  // The loads and stores of local memory in the machine code of the kernel and of the functions
  // that it calls, including spills, as far as the launch has executed them (simulator).
  std::optional<uint32_t> local_accesses;
  // The average share of the threads that are active while the busiest warp runs (simulator).
  std::optional<double> working_share;
  // The share of a block's threads on which the memory after the launch depends, if it was measured
  // (grading/launch/counting.h).
  std::optional<double> needed_thread_share;
  std::optional<double> seconds;  // measured
  // Absent if ptxas' register counts are not known (no cubin).
  std::optional<model::Occupancy> occupancy;
  std::optional<counters::CacheCounters> caches;  // LaunchOptions::model
  std::optional<model::TimePrediction>
      predicted;                                // LaunchOptions::model; always reported as modelled
  std::optional<model::LaunchWorkCounts> work;  // the input of `predicted`
  std::optional<KernelFault> uninitialised;     // LaunchOptions::note_uninitialised (simulator)
  std::string output;                           // printf
  bool grid_races_unchecked = false;            // races between blocks were not checked
  bool output_lost = false;                     // printf wrote more than the device's buffer holds
  // the first one in the lowest block that has one (simulator)
  std::optional<OutOfRangeShiftOrShuffle> out_of_range_shift_or_shuffle;
  std::vector<AccessCountedAsPtx> ptx_level;
  uint64_t child_launches = 0;  // launches by kernels; no figure includes them (simulator)
  // Accesses to the memory of another device. The counters include them as accesses to the device's
  // own memory.
  uint64_t peer_accesses = 0;
  // Whether the launch moved data that no counter includes.
  bool has_uncounted_traffic() const {
    return child_launches > 0 ||
           (counters && counters->other.texture_unknown + counters->other.bulk_unknown > 0);
  }
  std::optional<counters::LaunchDetail> launch_detail;  // LaunchOptions::launch_detail
  // Present if some accesses could not be matched with the machine code: the counters of a launch
  // that issues these as rarely as it may (simulator).
  std::optional<counters::Counters> least;
};

struct KernelInfo {
  std::string name;                   // demangled, as in the source
  uint32_t static_shared = 0;         // bytes
  std::optional<uint32_t> registers;  // per thread, from the cubin
  uint32_t max_threads = 1024;
  Dim3 cluster{0, 0, 0};     // __cluster_dims__; all 0: none
  uint32_t max_cluster = 0;  // the third number of __launch_bounds__; 0: none
  std::vector<uint32_t> parameter_bytes;
  std::vector<uint32_t> parameter_offsets;   // offsets in the parameter block (simulator)
  bool uses_heap = false;                    // calls malloc() or free()
  bool reads_clock = false;                  // the kernel does, or a function that it may call
  bool may_read_old_values = false;          // loads that LaunchOptions::loads concerns (simulator)
  std::vector<std::string> parameter_types;  // "int const*"; empty if not known
};

// A kernel of a loaded module. Kernels are found by base name and template values, "reduce_v6<256>"
// or "add1"; blanks, `u` suffixes, casts and the argument list do not matter.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual const KernelInfo& info() const = 0;
};

class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
  // nullptr when there is no such kernel. Throws Error when the kernel needs an instruction that
  // the device does not have.
  virtual Kernel* find(const std::string& name) = 0;
  virtual std::vector<std::string> kernel_names() const = 0;
  // The kernels' names in the PTX; empty if the device does not know them.
  virtual std::vector<std::string> kernel_symbols() const { return {}; }
  // symbol -> why find() would refuse the kernel, as far as a cheap check can tell.
  virtual std::map<std::string, std::string> refusals() const { return {}; }
  // The bytes that a __constant__ variable has before anything runs, whatever kernels have done
  // since; nullopt: no such variable, or the device does not know.
  virtual std::optional<std::vector<std::byte>> initial_constant(const std::string& /*name*/) {
    return std::nullopt;
  }
  // The bytes of a module variable; nullopt if the module has no variable of that name.
  virtual std::optional<std::vector<std::byte>> read_symbol(const std::string& name) = 0;
  virtual bool write_symbol(const std::string& name, const void* data, uint64_t bytes) = 0;
  // Gives all variables their initial values. Called after a launch that a fault has stopped.
  virtual void reset_module_variables() {}
  // The variable's memory; nullopt: no such variable, or the device does not know.
  virtual std::optional<DeviceAddressRange> symbol(const std::string& /*name*/) {
    return std::nullopt;
  }
};

// A snapshot of a device's memory, including module variables. Nothing may be allocated or released
// while it is used.
class SavedMemory {
 public:
  virtual ~SavedMemory() = default;
  virtual void put_back() = 0;
  // Whether the memory is unchanged since this snapshot was taken.
  virtual bool same() const = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;      // "sim:h200"
  virtual std::string describe() const = 0;  // one line, for `lab32 devices`
  virtual std::string arch() const = 0;      // "sm_90": the architecture to compile for
  virtual uint32_t multiprocessors() const = 0;
  // The modelled time, as events measure it, of a copy that reads and writes `bytes` in total.
  // nullopt: the device has no model.
  virtual std::optional<double> modelled_copy_kernel_seconds(uint64_t /*bytes*/) const {
    return std::nullopt;
  }

  virtual std::unique_ptr<LoadedModule> load(const toolchain::CompiledArtifact& artifact) = 0;

  // New memory is poisoned (0xff bytes: NaN as float, -1 as int) and counts as uninitialised.
  // `name` is the array's name in messages. Throws Error if the memory does not suffice.
  virtual DeviceAddressRange allocate(uint64_t bytes, const std::string& name) = 0;
  virtual void release(DeviceAddressRange buffer) = 0;
  virtual void upload(DeviceAddressRange to, const void* from, uint64_t bytes) = 0;
  virtual void download(void* to, DeviceAddressRange from, uint64_t bytes) = 0;
  virtual void poison(DeviceAddressRange buffer) = 0;

  // nullptr: this device cannot take snapshots.
  virtual std::unique_ptr<SavedMemory> save() { return nullptr; }

  // Frees everything that kernels have allocated with malloc().
  virtual void release_heap() {}

  // The number of blocks of such a launch that reside on the device at once, which is the limit of
  // a cooperative launch; 0: not known.
  virtual uint64_t resident_blocks_on_device(Kernel& /*kernel*/, const LaunchShape& /*shape*/) {
    return 0;
  }

  // Runs a kernel to its end. Throws Error if the arguments do not fit the kernel's parameters.
  virtual LaunchResult launch(Kernel& kernel, const LaunchShape& shape,
                              const std::vector<KernelArgument>& args,
                              const LaunchOptions& options = {}) = 0;
};

// Opens the device that counts: "auto", "sim", "gpu" and "sim:h200". Throws Error, which names the
// available devices. open_gpu_timer() (gpu/timer.h) opens the device that measures time.
std::unique_ptr<Device> open_device(const std::string& spec);

}  // namespace lab32::device
