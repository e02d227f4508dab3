#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>

#include "base/error.h"
#include "device/run_text.h"
#include "gpu/device.h"
#include "gpu/driver_api.h"
#include "gpu/timer.h"

namespace lab32::device {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUps = 2;        // unrecorded rounds, in which the card's clocks rise
constexpr size_t kMinRounds = 11;  // with fewer rounds the confidence interval is too wide
constexpr size_t kMaxRounds = 1001;
constexpr long long kSpinCycles = 100'000;  // about 50 us: many times what the host needs to launch

// Thrown when a kernel of the submission has failed; contains the fault to report.
struct KernelFailed {
  KernelFault fault;
};
[[noreturn]] void fail_with(sim::TrapKind kind) {
  KernelFault fault;
  fault.kind = kind;
  throw KernelFailed{fault};
}

// Whether the PTX defines a variable in global memory, in which a kernel could keep data from
// launch to launch. Kernels cannot write constants.
bool keeps_state(const std::string& ptx) { return ptx.find(".global .align") != std::string::npos; }

class TimingRoundsRunner {
 public:
  TimingRoundsRunner(Gpu& gpu, const TimingPlan& plan, const toolchain::CompiledArtifact& helpers,
                     const std::string& baselines, const ForkSharedMemory& output_region)
      : gpu_(gpu),
        api_(gpu.api()),
        plan_(plan),
        output_region_(output_region),
        helpers_(gpu.load(helpers)) {
    check_result(api_.event_create(&start_, 0));
    check_result(api_.event_create(&stop_, 0));
    for (const KernelArrayArgument& array : plan.arrays) {
      std::vector<DeviceAddressRange> buffers;
      for (size_t s = 0; s < std::max<size_t>(1, array.sets.size()); ++s) {
        buffers.push_back(gpu.allocate(array.bytes, array.name));
        if (!array.sets.empty())
          gpu.upload(buffers.back(), array.sets[s].data(), array.sets[s].size());
      }
      sets_ = std::max(sets_, array.sets.size());
      buffers_.push_back(std::move(buffers));
    }
    for (const SolutionToTime& c : plan.candidates) {
      modules_.push_back(gpu.load(*c.artifact));
      reload_.push_back(keeps_state(c.artifact->ptx));
      timing_.candidates.push_back({c.name, {}, {}});
    }
    timing_.copy.name = "copy";
    copy_from_ = gpu.allocate(plan.copy_bytes / 2, "the copy's source");
    copy_to_ = gpu.allocate(plan.copy_bytes / 2, "the copy's target");
    timing_.l2_bytes = static_cast<uint64_t>(attribute(cuda::kL2Bytes));
    // DDR memory makes two transfers per clock cycle.
    timing_.peak_bandwidth =
        2e3 * attribute(cuda::kMemoryClockKHz) * attribute(cuda::kMemoryBusBits) / 8;
    flush_ = gpu.allocate(std::max<uint64_t>(8 * timing_.l2_bytes, uint64_t{256} << 20), "flush");
    sink_ = gpu.allocate(8, "sink");
    if (plan.baseline != Baseline::none) load_baseline_library(baselines);
  }

  MeasuredGpuTimes run() {
    cuda::Uuid uuid;
    check_result(api_.device_uuid(&uuid, gpu_.ordinal()));
    const std::vector<uint64_t> inputs = digests_of_inputs();
    const auto begin = Clock::now();
    timing_.start_seconds = std::chrono::duration<double>(begin - made_).count();
    for (size_t round = 0; round < kMaxRounds + kWarmUps; ++round) {
      if (round == kWarmUps) timing_.before = read_clocks(uuid);
      run_round(round, round >= kWarmUps);
      const double gone = std::chrono::duration<double>(Clock::now() - begin).count();
      if (round + 1 >= kWarmUps + kMinRounds && (gone > plan_.seconds || intervals_are_narrow()))
        break;
    }
    timing_.after = read_clocks(uuid);
    if (digests_of_inputs() != inputs) fail_with(sim::TrapKind::input);
    timing_.rounds_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return std::move(timing_);
  }

 private:
  void check_result(cuda::Result result) const {
    if (result != cuda::kSuccess)
      throw Error("timing on the GPU: " + api_.name_of(result) + " (" +
                  api_.description_of(result) + ")");
  }
  int attribute(int which) const {
    int value = 0;
    check_result(api_.device_attribute(&value, which, gpu_.ordinal()));
    return value;
  }

  void launch_helper_kernel(const char* kernel, uint32_t blocks,
                            const std::vector<KernelArgument>& args) {
    if (auto fault =
            gpu_.enqueue(*helpers_->find(kernel), {{blocks}, {blocks == 1 ? 1u : 256u}, 0}, args))
      throw Error(describe(*fault));
  }
  void flush_l2() {
    launch_helper_kernel("lab32_flush", 1024,
                         {flush_, static_cast<unsigned long long>(flush_.bytes / 16), sink_});
  }
  void spin() { launch_helper_kernel("lab32_spin", 1, {kSpinCycles}); }

  uint64_t buffer_digest(DeviceAddressRange buffer) {
    check_result(api_.fill(sink_.address, 0, 8));
    launch_helper_kernel("lab32_digest", 1024,
                         {buffer, static_cast<unsigned long long>(buffer.bytes), sink_});
    if (auto fault = gpu_.wait("lab32_digest")) throw Error(describe(*fault));
    uint64_t value = 0;
    gpu_.download(&value, sink_, sizeof value);
    return value;
  }
  std::vector<uint64_t> digests_of_inputs() {
    std::vector<uint64_t> result;
    for (size_t a = 0; a < buffers_.size(); ++a)
      if (!plan_.arrays[a].sets.empty())
        for (DeviceAddressRange b : buffers_[a]) result.push_back(buffer_digest(b));
    return result;
  }

  DeviceAddressRange buffer_of_array(size_t array, size_t set) const {
    const std::vector<DeviceAddressRange>& all = buffers_.at(array);
    return all[set % all.size()];
  }

  // A step for which the host has looked up everything in advance, because between two events there
  // is time only for the launches themselves.
  struct PreparedLaunch {
    Kernel* kernel = nullptr;  // null: a fill
    LaunchShape shape;
    std::vector<KernelArgument> args;
    DeviceAddressRange filled;
    uint8_t value = 0;
  };
  std::vector<PreparedLaunch> resolve_kernels_and_buffers(size_t candidate, size_t set) {
    std::vector<PreparedLaunch> ready;
    for (const StepToTime& step : plan_.candidates[candidate].steps) {
      PreparedLaunch r;
      if (const FillToTime* fill = std::get_if<FillToTime>(&step)) {
        r.filled = buffer_of_array(fill->array.index, set);
        r.value = fill->value;
      } else {
        const LaunchToTime& launch = std::get<LaunchToTime>(step);
        r.kernel = modules_[candidate]->find(launch.kernel);
        if (!r.kernel) throw Error("there is no kernel `" + launch.kernel + "` to time");
        r.shape = launch.shape;
        for (const ArgOfLaunchToTime& arg : launch.args) {
          if (const KernelArrayArgumentIndex* at = std::get_if<KernelArrayArgumentIndex>(&arg))
            r.args.push_back(buffer_of_array(at->index, set));
          else
            r.args.push_back(std::get<KernelArgument>(arg));
        }
      }
      ready.push_back(std::move(r));
    }
    return ready;
  }
  void enqueue(size_t candidate, const std::vector<PreparedLaunch>& steps) {
    for (const PreparedLaunch& step : steps) {
      if (!step.kernel)
        check_result(api_.fill_async(step.filled.address, step.value, step.filled.bytes, nullptr));
      else if (auto fault = gpu_.enqueue(*step.kernel, step.shape, step.args))
        fail(candidate, *fault);
    }
  }
  [[noreturn]] void fail(size_t candidate, const KernelFault& fault) const {
    if (plan_.candidates[candidate].submitted) throw KernelFailed{fault};
    throw Error(plan_.candidates[candidate].name + ": " + describe(fault));
  }

  // The parts of one run of a candidate; only `work` is timed.
  struct TimedRunCallbacks {
    std::string name;
    std::function<void()> before, work;
    std::function<void(const KernelFault&)> failed;
    std::function<void()> after;
  };

  // Times one run between two events. Work that was enqueued before may still be running.
  double seconds_of_work(const TimedRunCallbacks& run) {
    check_result(api_.event_record(start_, nullptr));
    run.work();
    check_result(api_.event_record(stop_, nullptr));
    if (auto fault = gpu_.wait(run.name)) run.failed(*fault);
    float ms = 0;
    check_result(api_.event_elapsed(&ms, start_, stop_));
    return ms / 1e3;
  }

  // Runs a candidate cold, then warm.
  void time_cold_and_warm(ColdAndWarmSamples& samples, bool record, const TimedRunCallbacks& run) {
    run.before();
    flush_l2();
    const double cold = seconds_of_work(run);
    run.after();
    run.before();
    spin();
    const double warm = seconds_of_work(run);
    run.after();
    if (!record) return;
    samples.cold.push_back(cold);
    samples.warm.push_back(warm);
  }

  // The names of a candidate's kernels, for the message of a fault.
  std::string kernel_names(size_t candidate) const {
    std::string names;
    for (const StepToTime& step : plan_.candidates[candidate].steps)
      if (const LaunchToTime* launch = std::get_if<LaunchToTime>(&step))
        names += (names.empty() ? "" : ", ") + launch->kernel;
    return names;
  }

  void run_round(size_t round, bool record) {
    const size_t set = round % std::max<size_t>(1, sets_);
    const size_t candidates = plan_.candidates.size();
    const size_t all = candidates + 1 + (plan_.baseline != Baseline::none);
    const auto broken = [](const KernelFault& fault) { throw Error(describe(fault)); };
    const auto nothing = [] {};
    for (size_t i = 0; i < all; ++i) {
      const size_t who = (i + round) % all;
      if (who < candidates) {
        std::vector<PreparedLaunch> steps;
        time_cold_and_warm(
            timing_.candidates[who], record,
            {kernel_names(who),
             [&] {
               if (reload_[who]) modules_[who] = gpu_.load(*plan_.candidates[who].artifact);
               for (size_t a = 0; a < buffers_.size(); ++a)
                 if (plan_.arrays[a].sets.empty()) gpu_.poison(buffers_[a][0]);
               steps = resolve_kernels_and_buffers(who, set);
             },
             [&] { enqueue(who, steps); }, [&](const KernelFault& fault) { fail(who, fault); },
             [&] {
               if (plan_.candidates[who].submitted) save_output(who, set);
             }});
      } else if (who == candidates) {
        const auto copy = [&] {
          check_result(
              api_.copy_async(copy_to_.address, copy_from_.address, copy_to_.bytes, nullptr));
        };
        time_cold_and_warm(timing_.copy, record, {"the copy", nothing, copy, broken, nothing});
      } else {
        time_cold_and_warm(*timing_.baseline, record,
                           {"CUB", nothing, [&] { run_cub_sum_baseline(set); }, broken, nothing});
      }
    }
  }

  void save_output(size_t candidate, size_t set) {
    std::vector<uint64_t> key{candidate, set};
    std::vector<DeviceAddressRange> outputs;
    for (size_t a = 0; a < buffers_.size(); ++a) {
      if (!plan_.arrays[a].sets.empty()) continue;
      outputs.push_back(buffers_[a][0]);
      key.push_back(buffer_digest(outputs.back()));
    }
    const auto [at, fresh] = seen_.emplace(key, timing_.outputs.size());
    if (fresh) {
      DistinctLaunchOutput output;
      output.candidate = candidate;
      output.set = set;
      for (DeviceAddressRange b : outputs) {
        if (b.bytes > output_region_.size() - saved_bytes_) fail_with(sim::TrapKind::output);
        std::byte* const to = output_region_.data() + saved_bytes_;
        gpu_.download(to, b, b.bytes);
        output.arrays.emplace_back(nullptr, to, b.bytes);
        saved_bytes_ += b.bytes;
      }
      timing_.outputs.push_back(std::move(output));
    }
    ++timing_.outputs[at->second].rounds;
  }

  bool intervals_are_narrow() const {
    const auto is_narrow = [&](const SpeedupComparison& c) {
      const ColdAndWarmSamples& other = c.against ? timing_.candidates[*c.against] : timing_.copy;
      const auto ratio = median_interval(ratios(other.cold, timing_.candidates[c.candidate].cold));
      return ratio.spread() < plan_.wanted_interval;
    };
    return std::all_of(plan_.speed_ratios.begin(), plan_.speed_ratios.end(), is_narrow);
  }

  void load_baseline_library(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw Error(std::string("the baseline cannot be opened: ") + dlerror());
    cub_sum_ = reinterpret_cast<CubSum>(dlsym(library, "lab32_cub_sum"));
    if (!cub_sum_) throw Error(path + " has no lab32_cub_sum");
    timing_.baseline = ColdAndWarmSamples{"CUB", {}, {}};
    baseline_out_ = gpu_.allocate(16, "CUB's result");
    temporary_bytes_ = 0;
    run_cub_sum(nullptr, buffer_of_array(plan_.baseline_input, 0));
    temporary_ = gpu_.allocate(temporary_bytes_, "CUB's temporary storage");
  }
  void run_cub_sum_baseline(size_t set) {
    run_cub_sum(reinterpret_cast<void*>(temporary_.address),
                buffer_of_array(plan_.baseline_input, set));
  }
  void run_cub_sum(void* temporary, DeviceAddressRange in) {
    const int error = cub_sum_(plan_.baseline == Baseline::cub_sum_int ? 0 : 1, temporary,
                               &temporary_bytes_, reinterpret_cast<const void*>(in.address),
                               reinterpret_cast<void*>(baseline_out_.address), in.bytes / 4);
    if (error != 0) throw Error(fmt::format("CUB's sum failed with CUDA error {}", error));
  }

  using CubSum = int (*)(int, void*, size_t*, const void*, void*, size_t);

  Gpu& gpu_;
  const cuda::DriverApi& api_;
  const TimingPlan& plan_;
  const ForkSharedMemory& output_region_;
  const Clock::time_point made_ = Clock::now();
  std::unique_ptr<LoadedModule> helpers_;
  std::vector<std::unique_ptr<LoadedModule>> modules_;
  std::vector<bool> reload_;
  std::vector<std::vector<DeviceAddressRange>> buffers_;  // by array, then by set
  size_t sets_ = 0;
  DeviceAddressRange flush_, sink_, copy_from_, copy_to_, temporary_, baseline_out_;
  size_t temporary_bytes_ = 0;
  CubSum cub_sum_ = nullptr;
  cuda::Event start_ = nullptr, stop_ = nullptr;
  uint64_t saved_bytes_ = 0;
  std::map<std::vector<uint64_t>, size_t> seen_;  // (candidate, set, digests) -> index
  MeasuredGpuTimes timing_;
};

}  // namespace

GpuTimingResult run_timing_rounds(Gpu& gpu, const TimingPlan& plan,
                                  const toolchain::CompiledArtifact& helpers,
                                  const std::string& baselines,
                                  const ForkSharedMemory& output_region) {
  GpuTimingResult timed;
  try {
    timed.timing = TimingRoundsRunner(gpu, plan, helpers, baselines, output_region).run();
  } catch (const KernelFailed& failed) {
    timed.fault = failed.fault;
  }
  return timed;
}

}  // namespace lab32::device
