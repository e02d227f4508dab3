// Device: what a lab suite launches kernels on. It never asks which one it is; what a device cannot
// give is absent in Run, and a check that needs it is reported as not run. run_text.h has the words
// for faults.
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
#include "simulator/observers/traffic/close_up.h"
#include "simulator/timing/occupancy.h"
#include "simulator/timing/time.h"
#include "toolchain/artifact.h"

namespace lab32::device {

struct Shape {
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;  // bytes
  // Blocks of a cluster; all 0: the launch does not say, and the kernel may.
  Dim3 cluster{0, 0, 0};
};

// A launch that does not start, since the device cannot hold it.
struct LaunchRefusal {
  enum class Limit : uint8_t {
    empty,            // no block, or no thread
    threads,          // value per block; most
    grid,             // most_shape
    block,            // most_shape: threads along x, y, z
    shared_bytes,     // value per block; most
    required_block,   // most_shape: the only shape that the kernel may have
    resources,        // not one block fits a multiprocessor: value registers per thread
    resident_blocks,  // cooperative: value blocks; most
    cluster,          // most_shape: its blocks; the grid is no multiple of it
  } limit = Limit::empty;
  std::string kernel;
  Shape shape;
  uint64_t value = 0, most = 0;
  Dim3 most_shape;
};

// What the CUDA driver says of a kernel on a real GPU.
struct DriverError {
  std::string kernel;
  std::string name, text;  // "CUDA_ERROR_ASSERT", "device-side assert triggered"
};

// At most one of trap, refusal and driver is there, by where the fault comes from.
struct Fault {
  sim::TrapKind kind = sim::TrapKind::trap;
  std::string file;  // source position, empty/0 when unknown
  int line = 0;
  std::optional<sim::TrapFacts> trap;    // an instruction, on the simulator
  std::optional<LaunchRefusal> refusal;  // the simulator as a device
  std::optional<DriverError> driver;     // a GPU
  double seconds = 0;                    // kind time_limit
};

// The launch as a whole took too much, and may have been right so far.
inline bool is_limit_of_launch(const Fault& fault) {
  return fault.trap && (fault.trap->reason == sim::TrapReason::launch_limit ||
                        fault.trap->reason == sim::TrapReason::launch_seconds);
}

// Device memory, owned by the Device that allocated it. A value, like a pointer.
struct Buffer {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// One kernel argument, as the bytes of its declared parameter type.
class Arg {
 public:
  template <class T>
  Arg(const T& value) : bytes_(sizeof(T)) {  // NOLINT: implicit on purpose: launch(k, s, {n, x})
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(bytes_.data(), &value, sizeof(T));
  }
  Arg(const Buffer& buffer) : Arg(buffer.address) {}  // NOLINT
  static Arg of_bytes(const void* from, uint64_t bytes) {
    Arg arg(0);
    const auto* begin = static_cast<const std::byte*>(from);
    arg.bytes_.assign(begin, begin + bytes);
    return arg;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

struct LaunchOptions {
  // PTX instructions one warp may issue before it is stopped: a hundred times what the longest warp
  // of a reference solution takes (that of the bank arbiter, under 500,000).
  uint64_t warp_budget = 50'000'000;
  // What all warps together may issue, and seconds that the launch may take; 0: no limit
  // (simulator).
  uint64_t launch_budget = 0;
  double seconds = 0;
  // Of the host's memory, for the local memory of a block's threads; 0: no limit (simulator).
  uint64_t block_local_bytes = 0;
  bool check_hazards = true;  // races and shared initialisation (simulator)
  // Reads of global and local memory that nothing wrote: they end a launch (grading), or not (a GPU
  // goes on with what lies there).
  bool trap_uninitialised = true;
  // What would end a launch is a finding, and the launch goes on: bad accesses are dropped (a load
  // gives 0xff bytes), barriers and warp operations go on with the lanes that came. Uninitialised
  // reads are findings, too. After a bad access the run still ends with that fault. Simulator only.
  bool keep_going = false;
  // What malloc() in kernels may give away, over all launches (simulator). A launch that calls it
  // is not looked at for races between blocks.
  uint64_t heap_bytes = 0;
  // As cudaLaunchCooperativeKernel: all blocks reside at once, and grid.sync() works. A grid that
  // does not fit (Device::resident_blocks) is a fault of kind launch.
  bool cooperative = false;
  // Blocks and warps go on in a random order, the same for the same number; none: in theirs
  // (simulator).
  std::optional<uint64_t> schedule;
  // Traffic of the memories (simulator): where false, Run has no counters.
  bool count = true;
  // Caches and time modelled (simulator): off where nobody asks, since it costs up to as much
  // again. cold: L2 holds nothing when the kernel starts, as under ncu --cache-control all; warm:
  // it holds what the device's launches before this one, with a model, have left.
  enum class Model : uint8_t { none, cold, warm } model = Model::none;
  int32_t devices = 1;  // that a kernel is told of which asks
  // What kernels are told that ask for an error's name, or text (simulator).
  std::function<std::string(uint32_t error, bool name)> text_of_error;
  // Requests of some lines kept, to be drawn (simulator).
  std::optional<counters::CloseUpChoice> close_up;
};

// The costliest access of one kind on a source line, lane by lane, to be shown to a student.
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

// An access whose counts are those of the PTX, since it could not be matched with the machine code.
struct PtxLevelAccess {
  std::string file;
  int line = 0, ptx_line = 0;
  std::string instruction;  // "ld"
  sim::Unmatched why;
};

// A shift or a shuffle by what C++ gives no result for: negative, or all bits, or all lanes.
struct OutOfRangeAmount {
  std::string file;
  int line = 0;
  bool shuffle = false;  // else a shift
  int32_t amount = 0;
  uint32_t limit = 0;  // bits or lanes
};

// What one launch gave. Absent: this device cannot know it.
struct Run {
  std::optional<Fault> fault;
  std::optional<counters::Counters> counters;
  std::vector<counters::LineCounters> lines;
  std::vector<WorstAccess> worst;  // sorted by file and line
  std::optional<std::vector<counters::Finding>> hazards;
  std::optional<uint64_t> longest_warp;       // instructions of the longest warp (to set limits by)
  std::optional<uint64_t> warp_instructions;  // of all warps, as PTX has them (simulator)
  // Which part of all threads works, one with another, while the busiest warp does (simulator).
  std::optional<double> threads_at_work;
  std::optional<double> seconds;  // measured
  // Absent where ptxas' registers are not known (no cubin).
  std::optional<model::Occupancy> occupancy;
  std::optional<counters::CacheCounters> caches;  // LaunchOptions::model
  std::optional<model::Prediction> predicted;     // LaunchOptions::model; always shown as modelled
  std::optional<model::Work> work;                // what `predicted` was computed from
  std::string output;                             // printf
  bool grid_races_unchecked = false;              // races between blocks were not looked for
  bool output_lost = false;                       // printf: more than the device's buffer holds
  std::optional<OutOfRangeAmount>
      out_of_range_amount;  // the first, of the lowest block (simulator)
  std::vector<PtxLevelAccess> ptx_level;
  uint64_t child_launches = 0;  // of kernels by kernels: in none of the figures (simulator)
  // To another device's memory: counted as if it were the device's own.
  uint64_t peer_accesses = 0;
  // Something was moved that is in none of the counters.
  bool has_uncounted_traffic() const {
    return child_launches > 0 ||
           (counters && counters->other.texture_unknown + counters->other.bulk_unknown > 0);
  }
  std::optional<counters::CloseUp> close_up;  // LaunchOptions::close_up
  // Where some of these are uncertain: counters that the machine code's do not exceed. A space is
  // unbounded where for one of its accesses there is no such bound (simulator).
  struct Bound {
    counters::Counters counters;
    bool global_unbounded = false, shared_unbounded = false;
  };
  std::optional<Bound> bound;
};

struct KernelInfo {
  std::string name;                   // demangled, as in the source
  uint32_t static_shared = 0;         // bytes
  std::optional<uint32_t> registers;  // per thread, from the cubin
  // Loads and stores of local memory in the machine code, spills among them; from the cubin, too.
  std::optional<uint32_t> local_accesses;
  uint32_t max_threads = 1024;
  Dim3 cluster{0, 0, 0};     // __cluster_dims__; all 0: none
  uint32_t max_cluster = 0;  // the third number of __launch_bounds__; 0: none
  std::vector<uint32_t> parameter_bytes;
  std::vector<uint32_t> parameter_offsets;   // in the block of parameters (simulator)
  bool uses_heap = false;                    // calls malloc() or free()
  bool reads_clock = false;                  // its own, or one of a function that it may call
  std::vector<std::string> parameter_types;  // "int const*"; none where they are not known
};

// A loaded module. Kernels are found by base name plus template values, "reduce_v6<256>" or
// "add1"; blanks, `u` suffixes, casts and the argument list do not matter.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual const KernelInfo& info() const = 0;
};

class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
  // nullptr when there is none of that name. Throws Error when the kernel needs an instruction the
  // device does not have.
  virtual Kernel* find(const std::string& name) = 0;
  virtual std::vector<std::string> kernel_names() const = 0;
  // As they are in the PTX; none where the device does not tell.
  virtual std::vector<std::string> kernel_symbols() const { return {}; }
  // Why kernels that find() would refuse cannot run, by symbol, as far as a look at them tells that
  // costs next to nothing.
  virtual std::map<std::string, std::string> refusals() const { return {}; }
  // Bytes of a module variable (LAB32_LAUNCH records, __constant__ tables); nullopt: none.
  virtual std::optional<std::vector<std::byte>> read_symbol(const std::string& name) = 0;
  virtual bool write_symbol(const std::string& name, const void* data, uint64_t bytes) = 0;
  // Where it lies; nullopt: none, or the device does not tell.
  virtual std::optional<Buffer> symbol(const std::string& /*name*/) { return std::nullopt; }
};

// What all of a device's memory held, module variables included. Nothing may be allocated or
// released as long as it is used.
class SavedMemory {
 public:
  virtual ~SavedMemory() = default;
  virtual void put_back() = 0;
  // Whether it holds the same now.
  virtual bool same() const = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;      // "sim:h200"
  virtual std::string describe() const = 0;  // one line for `lab32 devices`
  virtual std::string arch() const = 0;      // "sm_90": what to compile for
  virtual uint32_t multiprocessors() const = 0;
  // Modelled: of a copy that moves so many bytes, half in and half out, as events see it. nullopt:
  // the device has no model.
  virtual std::optional<double> copy_seconds(uint64_t /*bytes*/) const { return std::nullopt; }

  virtual std::unique_ptr<LoadedModule> load(const toolchain::Artifact& artifact) = 0;

  // Fresh memory is poisoned (0xff bytes: NaN as float, -1 as int) and counts as uninitialised.
  // `name` is how messages call it. Throws Error when it does not fit.
  virtual Buffer allocate(uint64_t bytes, const std::string& name) = 0;
  virtual void release(Buffer buffer) = 0;
  virtual void upload(Buffer to, const void* from, uint64_t bytes) = 0;
  virtual void download(void* to, Buffer from, uint64_t bytes) = 0;
  virtual void poison(Buffer buffer) = 0;

  // nullptr: this device cannot tell.
  virtual std::unique_ptr<SavedMemory> save() { return nullptr; }

  // Frees all that kernels have allocated.
  virtual void release_heap() {}

  // How many blocks of such a launch reside on the device at once, the most that a cooperative one
  // may have; 0: not known.
  virtual uint64_t resident_blocks(Kernel& /*kernel*/, const Shape& /*shape*/) { return 0; }

  // Runs a kernel to its end. Arguments are checked against the kernel's parameters (Error).
  virtual Run launch(Kernel& kernel, const Shape& shape, const std::vector<Arg>& args,
                     const LaunchOptions& options = {}) = 0;
};

// What counts: "auto", "sim", "gpu" and "sim:h200". Throws Error naming what is there. What times
// is open_timer()'s (gpu/timer.h).
std::unique_ptr<Device> open_device(const std::string& spec);

}  // namespace lab32::device
