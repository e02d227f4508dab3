// KernelTimingDevice measures how long kernels take on a real GPU. A Device counts and a
// KernelTimingDevice measures time; a suite asks for both and uses what the machine has.
//
// This process never touches the card: each timing runs in a child process, since a kernel's fault
// makes the GPU unusable for its process, and an endless kernel can only be killed with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/work.h"
#include "device/device.h"
#include "toolchain/artifact.h"

namespace lab32::device {

// Shared, immutable bytes, which are not copied when they are passed on: those of a vector with
// several owners, or memory that a child process has written.
class RefCountedBytes {
 public:
  RefCountedBytes() = default;
  RefCountedBytes(
      std::vector<std::byte> bytes)  // NOLINT(google-explicit-constructor): a vector is such
      : RefCountedBytes(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {}
  // The bytes of a vector of any plain type.
  template <class T>
  explicit RefCountedBytes(const std::shared_ptr<const std::vector<T>>& values)
      : RefCountedBytes(values, reinterpret_cast<const std::byte*>(values->data()),
                        values->size() * sizeof(T)) {}
  RefCountedBytes(std::shared_ptr<const void> owner, const std::byte* data, size_t size)
      : owner_(std::move(owner)), data_(data), size_(size) {}

  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  bool operator==(const RefCountedBytes& other) const {
    return size_ == other.size_ && (size_ == 0 || std::memcmp(data_, other.data_, size_) == 0);
  }
  bool operator!=(const RefCountedBytes& other) const { return !(*this == other); }

 private:
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// An array that timed launches use. Inputs come in several sets that rotate, so that no launch can
// reuse the result of an earlier one; outputs are poisoned before each launch.
struct KernelArrayArgument {
  std::string name;
  uint64_t bytes = 0;
  // The contents of each set, `bytes` each. Empty: an output, which kernels write and which is read
  // back.
  std::vector<RefCountedBytes> sets;
};

// An argument is a value or the index of a KernelArrayArgument.
struct KernelArrayArgumentIndex {
  size_t index = 0;
};
using ArgOfLaunchToTime = std::variant<KernelArgument, KernelArrayArgumentIndex>;

// Fills an array with a byte, for example the initial value of a sum. The fill belongs to the work
// and is timed with it.
struct FillToTime {
  KernelArrayArgumentIndex array;
  uint8_t value = 0;
};
struct LaunchToTime {
  std::string kernel;
  LaunchShape shape;
  std::vector<ArgOfLaunchToTime> args;
};
using StepToTime = std::variant<FillToTime, LaunchToTime>;

// A solution that is timed: all steps from the input to the final result, in order.
struct SolutionToTime {
  std::string name;  // "your kernel", "reference solution"
  const toolchain::CompiledArtifact* artifact = nullptr;
  std::vector<StepToTime> steps;
  bool submitted = true;  // whether its faults are verdicts, and its outputs are returned
};

enum class Baseline : uint8_t { none, cub_sum_int, cub_sum_float };

// A ratio on which a verdict depends: how many times as fast `candidate` is as `against`.
struct SpeedupComparison {
  size_t candidate = 0;
  std::optional<size_t> against = {};  // nullopt: the device-to-device copy
};

struct TimingPlan {
  std::vector<KernelArrayArgument> arrays;
  std::vector<SolutionToTime> candidates;  // the first one is the subject of the timing
  uint64_t copy_bytes = 0;  // bytes that the device-to-device copy reads and writes in total
  std::vector<SpeedupComparison> speed_ratios = {{}};
  Baseline baseline = Baseline::none;
  size_t baseline_input = 0;  // the array that CUB sums, as 4-byte elements
  // Rounds continue until the confidence interval of every ratio has at most this relative half
  // width, or until so many seconds have passed. There are at least 11 rounds.
  double wanted_interval = 0.02;
  double seconds = 3;
};

// The seconds of each round, in order. A round times every candidate and baseline once.
struct ColdAndWarmSamples {
  std::string name;
  std::vector<double> cold;  // launches that found L2 full of other data
  std::vector<double> warm;  // launches directly after another one over the same input
};

// A distinct result that timed launches of the submission left in the output arrays. Launches with
// equal results share one entry.
struct DistinctLaunchOutput {
  size_t candidate = 0;
  size_t set = 0;
  uint32_t rounds = 0;                  // number of timed launches with this result
  std::vector<RefCountedBytes> arrays;  // the outputs, in the order of the plan
};

struct GpuClocks {
  uint32_t sm_mhz = 0, memory_mhz = 0;
  // NVML's reasons for slower clocks, except idleness and clocks set by an application
  uint64_t throttled = 0;
};

struct MeasuredGpuTimes {
  std::vector<ColdAndWarmSamples> candidates;
  ColdAndWarmSamples copy;
  std::optional<ColdAndWarmSamples> baseline;
  std::vector<DistinctLaunchOutput> outputs;
  std::optional<GpuClocks> before, after;  // nullopt: this machine has no NVML
  uint64_t l2_bytes = 0;
  // The bytes per second of DRAM, from the memory clock and the bus width; 0: not known.
  double peak_bandwidth = 0;
  // The seconds that the timing itself took: until all data were on the card, and from then on to
  // the end.
  double start_seconds = 0, rounds_seconds = 0;
};

struct GpuTimingResult {
  std::optional<MeasuredGpuTimes> timing;
  std::optional<KernelFault> fault;  // fault of the submission's kernels; `timing` is then absent
};

class KernelTimingDevice {
 public:
  virtual ~KernelTimingDevice() = default;
  virtual std::string name() const = 0;  // "NVIDIA H200"
  virtual std::string arch() const = 0;  // the architecture for which artifacts must be compiled
  virtual std::string describe() const = 0;  // one line for `lab32 devices`
  virtual uint32_t multiprocessors() const = 0;

  // Begins slow preparations that are needed once per machine, in parallel with other work.
  virtual void start_background_preparation() {}

  // Throws Error if the timing is impossible (the machine's fault, not the submission's).
  virtual GpuTimingResult time(const TimingPlan& plan) = 0;
};

struct TimerSearchResult {
  std::unique_ptr<KernelTimingDevice> timer;  // null: there is none
  std::string reason;
};

// The first GPU. The call takes as long as the driver takes to wake up, a second or so.
TimerSearchResult find_gpu_for_timing();

// The timer for `--device`: "gpu" demands a GPU (Error with the reason), "auto" uses one if there
// is one, and any other value uses none.
std::unique_ptr<KernelTimingDevice> open_gpu_timer(const std::string& spec);

// Serialises a GpuTimingResult. Outputs are in `region`, and the bytes refer to them.
std::vector<std::byte> encode_gpu_timing_result(const GpuTimingResult& timed,
                                                const ForkSharedMemory& region);
// Reads the bytes of encode_gpu_timing_result(). Throws Error if they are invalid. The outputs keep
// the region alive.
GpuTimingResult decode_gpu_timing_result(const std::vector<std::byte>& bytes,
                                         const std::shared_ptr<const ForkSharedMemory>& region);

// A median with a confidence interval that makes no assumption about the distribution: times have a
// minimum, a long tail and sometimes two peaks, so mean and standard deviation say little about
// them.
struct MedianInterval {
  double median = 0, low = 0, high = 0;  // low..high contains the true median with 95 % confidence
  // Half of the interval's width, relative to the median.
  double spread() const { return median > 0 ? (high - low) / 2 / median : 0; }
};

// The interval by order statistics: each value is below the true median with probability 1/2, so
// the number of such values is binomial. With fewer than six values no interval has 95 %, and low
// and high are the extremes. `values` must not be empty.
MedianInterval median_interval(std::vector<double> values);

// a[i] / b[i] for each round. A disturbance of a round affects both values and cancels.
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace lab32::device
