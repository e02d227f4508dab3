// The timer of the first GPU: it locks the card, times in a child process, and builds the
// baselines.

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/process.h"
#include "base/random.h"
#include "base/work.h"
#include "gpu/device.h"
#include "gpu/timer.h"
#include "toolchain/cache.h"
#include "toolchain/nvcc.h"
#include "toolchain/toolchain.h"

namespace lab32::device {
namespace {

namespace fs = std::filesystem;

constexpr double kWakeUp = 60;  // seconds in which the driver must answer
// The seconds that a timing may take in addition to its rounds: for the driver's start, the upload
// of inputs and the download of outputs.
constexpr double kSlack = 17;
constexpr double kCubBuild = 300;
// most bytes of outputs with different results that are kept
constexpr size_t kMaxKept = size_t{4} << 30;

KernelFault timeout_fault(double seconds) {
  KernelFault fault;
  fault.kind = sim::TrapKind::time_limit;
  fault.seconds = seconds;
  return fault;
}

// A lock file that lets only one grading at a time, of any user, measure time on a card.
class CardLock {
 public:
  explicit CardLock(const std::string& uuid) {
    const fs::path path = fs::temp_directory_path() / ("lab32-" + uuid + ".lock");
    fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) throw Error(path.string() + " cannot be opened: " + std::strerror(errno));
    fchmod(fd_, 0666);  // so that the next grading, perhaps of another user, can open it
    while (flock(fd_, LOCK_EX) != 0)
      if (errno != EINTR) throw Error(path.string() + ": " + std::strerror(errno));
  }
  CardLock(const CardLock&) = delete;
  CardLock& operator=(const CardLock&) = delete;
  ~CardLock() { close(fd_); }

 private:
  int fd_ = -1;
};

// CUB's host code must launch its kernels, as NVIDIA intends, so the baselines are built as a
// library, once for each toolchain and card.
std::string build_cub_baseline_library(const std::string& arch) {
  const toolchain::Toolchain& tools = toolchain::installed_toolchain();
  const fs::path source = toolchain::checkout_directory() / "grader/gpu/baselines.cu";
  const fs::path library = toolchain::cache_directory() /
                           fmt::format("baselines-{}-{:016x}.so", arch, hash_of(tools.identity));
  if (fs::exists(library) && fs::last_write_time(library) > fs::last_write_time(source))
    return library;
  std::error_code error;
  fs::create_directories(library.parent_path(), error);
  const std::string fresh = fmt::format("{}.{}", library.string(), getpid());
  ProcessCommand nvcc;
  nvcc.argv = {tools.nvcc, "-O3",        "-std=c++17", "-arch=" + arch,
               "-shared",  "-Xcompiler", "-fPIC",      "-cudart",
               "static",   "-o",         fresh,        source};
  nvcc.environment = {"PATH=" + tools.path};
  nvcc.limits.wall_seconds = kCubBuild;
  const ProcessOutcome outcome = run_process(nvcc);
  if (!outcome.ok())
    throw Error("CUB, the baseline, does not compile (" + lab32::describe(outcome) +
                "): " + outcome.err.substr(0, outcome.err.find('\n')));
  fs::rename(fresh, library);
  return library;
}

class GpuTimer final : public KernelTimingDevice {
 public:
  // The properties of the card, as the child process that searched for it reported them.
  struct CardProperties {
    std::string name, arch, uuid, description;
    uint32_t multiprocessors = 0;
  };
  explicit GpuTimer(CardProperties card) : card_(std::move(card)) {}

  std::string name() const override { return card_.name; }
  std::string arch() const override { return card_.arch; }
  std::string describe() const override { return card_.description; }
  uint32_t multiprocessors() const override { return card_.multiprocessors; }

  // Builds the baselines: half a minute of nvcc, once for each card and toolchain.
  void start_background_preparation() override {
    if (!begun_.valid())
      begun_ = BackgroundWork([this] { baselines_ = build_cub_baseline_library(card_.arch); });
  }

  GpuTimingResult time(const TimingPlan& plan) override {
    const fs::path helpers = toolchain::checkout_directory() / "grader/gpu/timer_kernels.cu";
    const toolchain::CompiledArtifact artifact =
        toolchain::compile(helpers, card_.arch, helpers.filename());
    std::string baselines;
    if (plan.baseline != Baseline::none) {
      start_background_preparation();
      begun_.wait_and_rethrow();
      baselines = baselines_;
    }
    const auto kept = std::make_shared<const ForkSharedMemory>(kMaxKept);
    const CardLock lock(card_.uuid);
    const ForkResult forked = run_forked(
        [&] {
          const WorkTimer start;
          const GpuSearchResult search = find_gpu();
          if (!search.device) throw Error(search.reason);
          const double woken = start.wall_seconds();
          // Without this, the kernels' printf output would appear inside the report.
          if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0)
            dup2(nowhere, STDOUT_FILENO);
          GpuTimingResult timed =
              run_timing_rounds(*search.device, plan, artifact, baselines, *kept);
          if (timed.timing) timed.timing->start_seconds += woken;
          return encode_gpu_timing_result(timed, *kept);
        },
        plan.seconds + kSlack);
    switch (forked.end) {
      case ForkResult::End::done:
        return decode_gpu_timing_result(forked.answer, kept);
      case ForkResult::End::timed_out:
        return {std::nullopt, timeout_fault(plan.seconds + kSlack)};
      case ForkResult::End::died:
        break;
    }
    throw Error(forked.how);
  }

 private:
  CardProperties card_;
  std::string baselines_;  // valid once begun_ is done
  BackgroundWork begun_;
};

}  // namespace

TimerSearchResult find_gpu_for_timing() {
  TimerSearchResult search;
  // Without a driver there is no GPU to look for in a child process.
  if (!cuda::driver_api(search.reason)) return search;
  search.reason.clear();
  const ForkResult forked = run_forked(
      [] {
        const GpuSearchResult gpu = find_gpu();
        if (!gpu.device) throw Error(gpu.reason);
        const cuda::DriverApi& api = gpu.device->api();
        char name[256] = "";
        api.device_name(name, sizeof name - 1, gpu.device->ordinal());
        cuda::Uuid uuid{};
        api.device_uuid(&uuid, gpu.device->ordinal());
        std::string hex;
        for (unsigned char b : uuid.bytes) hex += fmt::format("{:02x}", b);
        const nlohmann::ordered_json card = {name, gpu.device->arch(), hex, gpu.device->describe(),
                                             gpu.device->multiprocessors()};
        const std::string text = card.dump();
        const auto* begin = reinterpret_cast<const std::byte*>(text.data());
        return std::vector<std::byte>(begin, begin + text.size());
      },
      kWakeUp);
  if (forked.end == ForkResult::End::timed_out)
    search.reason = fmt::format("the CUDA driver did not answer within {:.0f} s", kWakeUp);
  if (forked.end == ForkResult::End::died) search.reason = forked.how;
  if (forked.end != ForkResult::End::done) return search;
  const auto* begin = reinterpret_cast<const char*>(forked.answer.data());
  const auto card = nlohmann::ordered_json::parse(std::string(begin, forked.answer.size()));
  search.timer = std::make_unique<GpuTimer>(
      GpuTimer::CardProperties{card.at(0), card.at(1), card.at(2), card.at(3), card.at(4)});
  return search;
}

std::unique_ptr<KernelTimingDevice> open_gpu_timer(const std::string& spec) {
  if (spec != "auto" && spec != "gpu") return nullptr;
  TimerSearchResult search = find_gpu_for_timing();
  if (!search.timer && spec == "gpu") throw Error(search.reason);
  return std::move(search.timer);
}

}  // namespace lab32::device
