// Timer: how long kernels take on a real GPU. A device counts, a timer times; a suite asks for both
// and gets what is there.
//
// This process never touches the card: each timing is a child of its own, since a kernel's fault
// loses the GPU to the process it happens in, and a kernel without end can only be killed with it.
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

// Bytes that are not copied when they are handed on: of a vector that several share, or of memory
// that a child process has written.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::vector<std::byte> bytes)  // NOLINT(google-explicit-constructor): a vector is such
      : Bytes(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {}
  // Of a vector of any plain type; `owner` keeps it.
  template <class T>
  explicit Bytes(const std::shared_ptr<const std::vector<T>>& values)
      : Bytes(values, reinterpret_cast<const std::byte*>(values->data()),
              values->size() * sizeof(T)) {}
  Bytes(std::shared_ptr<const void> owner, const std::byte* data, size_t size)
      : owner_(std::move(owner)), data_(data), size_(size) {}

  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  bool operator==(const Bytes& other) const {
    return size_ == other.size_ && (size_ == 0 || std::memcmp(data_, other.data_, size_) == 0);
  }
  bool operator!=(const Bytes& other) const { return !(*this == other); }

 private:
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// An array that timed launches use. What they read comes in several sets, taken in turn, so that no
// launch can answer with what an earlier one found out; what they write is poisoned before each.
struct TimedArray {
  std::string name;
  uint64_t bytes = 0;
  // Contents, one a set, `bytes` each. Empty: written by the kernels, and read back.
  std::vector<Bytes> sets;
};

// An argument: a value, or the index of a TimedArray.
struct ArrayIndex {
  size_t index = 0;
};
using TimedArg = std::variant<Arg, ArrayIndex>;

// Fills an array with a byte: what a sum that is added to starts from. It belongs to the work, and
// is timed with it.
struct Fill {
  ArrayIndex array;
  uint8_t value = 0;
};
struct TimedLaunch {
  std::string kernel;
  Shape shape;
  std::vector<TimedArg> args;
};
using TimedStep = std::variant<Fill, TimedLaunch>;

// All that lies between the input and the final result, in order.
struct Candidate {
  std::string name;  // "your kernel", "reference solution"
  const toolchain::Artifact* artifact = nullptr;
  std::vector<TimedStep> steps;
  bool submitted = true;  // faults of it are verdicts, and its outputs are brought back
};

enum class Baseline : uint8_t { none, cub_sum_int, cub_sum_float };

// A ratio that a verdict hangs on: how many times as fast a candidate is as another.
struct RequiredRatio {
  size_t candidate = 0;
  std::optional<size_t> against = {};  // none: the copy
};

struct TimingPlan {
  std::vector<TimedArray> arrays;
  std::vector<Candidate> candidates;  // the first is what the timing is about
  uint64_t copy_bytes = 0;            // read and written together by the device-to-device copy
  std::vector<RequiredRatio> required_ratios = {{}};
  Baseline baseline = Baseline::none;
  size_t baseline_input = 0;      // the array that CUB sums, as 4-byte elements
  double wanted_interval = 0.02;  // half width, relative: rounds go on until all ratios have it,
  double seconds = 3;             // or until this much time has gone (11 rounds at least)
};

// Seconds of each round, in order. A round times every candidate and baseline once.
struct Samples {
  std::string name;
  std::vector<double> cold;  // L2 filled by reads of something else
  std::vector<double> warm;  // right after another run over the same input
};

// What a timed launch of the submission left in the arrays that are written, for each distinct
// outcome: the bytes of one launch stand for all that left the same.
struct TimedOutput {
  size_t candidate = 0;
  size_t set = 0;
  uint32_t rounds = 0;        // how many timed launches ended so
  std::vector<Bytes> arrays;  // those without sets, in the order of the plan
};

struct Clocks {
  uint32_t sm_mhz = 0, memory_mhz = 0;
  uint64_t throttled = 0;  // NVML's reasons, those of idleness and of set clocks left out
};

struct Timing {
  std::vector<Samples> candidates;
  Samples copy;
  std::optional<Samples> baseline;
  std::vector<TimedOutput> outputs;
  std::optional<Clocks> before, after;  // nullopt: NVML is not there
  uint64_t l2_bytes = 0;
  double peak_bandwidth = 0;  // bytes/s of DRAM, from the memory clock and the bus; 0: not known
  // Where the time of the timing itself went: until all was on the card, and from there to the end.
  double start_seconds = 0, rounds_seconds = 0;
};

struct Timed {
  std::optional<Timing> timing;
  std::optional<Fault> fault;  // of the submission's kernels, where there is no timing
};

class Timer {
 public:
  virtual ~Timer() = default;
  virtual std::string name() const = 0;      // "NVIDIA H200"
  virtual std::string arch() const = 0;      // what artifacts must be compiled for
  virtual std::string describe() const = 0;  // one line for `lab32 devices`
  virtual uint32_t multiprocessors() const = 0;

  // What takes long the first time on a machine may begin now, beside other work.
  virtual void prepare() {}

  // Throws Error when it cannot be done at all (the machine's fault, not the submission's).
  virtual Timed time(const TimingPlan& plan) = 0;
};

struct TimerSearch {
  std::unique_ptr<Timer> timer;  // null: there is none
  std::string reason;
};

// The first GPU. Asking takes as long as the driver takes to wake up, a second or so.
TimerSearch find_gpu_timer();

// What `--device` says of time: "gpu" demands a GPU (Error with the reason), "auto" takes one where
// there is one, anything else has none.
std::unique_ptr<Timer> open_timer(const std::string& spec);

// A Timed as bytes. Outputs lie in `region`; the bytes say where.
std::vector<std::byte> encode(const Timed& timed, const SharedRegion& region);
// Throws Error when they are not what encode() makes. Outputs keep the region.
Timed decode(const std::vector<std::byte>& bytes,
             const std::shared_ptr<const SharedRegion>& region);

// Medians with an interval that assumes nothing about how times are distributed: they have a floor,
// a long tail and sometimes two humps, so no mean and no standard deviation says much about them.
struct Interval {
  double median = 0, low = 0, high = 0;  // low..high holds the true median with 95 % confidence
  // Half of its width, as a share of the median.
  double spread() const { return median > 0 ? (high - low) / 2 / median : 0; }
};

// By order statistics: each value is below the true median with probability 1/2, so the number that
// are is binomial. Below six values no interval has 95 %: low and high are the extremes then.
// `values` must not be empty.
Interval median_interval(std::vector<double> values);

// a[i] / b[i], paired: what disturbs a round disturbs both, and falls out.
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace lab32::device
