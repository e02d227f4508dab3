#include "runtime/cudart/call.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "base/text.h"
#include "base/work.h"
#include "runtime/cudart/errors.h"

namespace lab32::cudart {

DriverCallScope::DriverCallScope(const char* name, ErrorNames names)
    : before_(std::exchange(current_driver_function(), name)),
      names_before_(std::exchange(error_name_function(), names)) {}
DriverCallScope::~DriverCallScope() {
  current_driver_function() = before_;
  error_name_function() = names_before_;
}

namespace {

// NVIDIA's runtime is destroyed at process end, in the order of registration. Functions that the
// program passed to atexit() after its first CUDA call, and static variables constructed after it,
// can still call it; earlier ones cannot (H100, static and shared runtime).
std::atomic<bool> destroyed{false};
void mark_runtime_destroyed_at_exit() {
  static const int registered = on_exit(
      [](int status, void*) {
        schedule_leak_report_at_exit(status);
        destroyed = true;
      },
      nullptr);
  static_cast<void>(registered);
}

// Whether the function leaves memory unchanged. Launches, copies and fills report by themselves
// whether they have changed it. Any function that is not listed might.
bool has_no_unreported_memory_change(const char* name) {
  static const std::set<std::string_view> kNames{"cudaLaunchKernel",
                                                 "cudaLaunchKernelExC",
                                                 "cuLaunchKernel",
                                                 kKernelNode,
                                                 "cudaGetLastError",
                                                 "cudaPeekAtLastError",
                                                 "cudaGetDevice",
                                                 "cudaEventRecord",
                                                 "cudaEventSynchronize",
                                                 "cudaEventElapsedTime",
                                                 "cudaDeviceSynchronize",
                                                 "cudaStreamSynchronize",
                                                 "cudaMemcpy",
                                                 "cudaMemcpyAsync",
                                                 "cudaMemcpyToSymbol",
                                                 "cudaMemcpyToSymbolAsync",
                                                 "cudaMemset",
                                                 "cudaMemsetAsync"};
  return kNames.count(name) != 0;
}

// While an object of this class lives, the thread is inside the call of this name.
class CurrentCallScope {
 public:
  CurrentCallScope(const char* name, bool waits)
      : before_{current_call().name, current_call().waits} {
    current_call() = {name, waits, ""};
  }
  ~CurrentCallScope() {
    current_call().name = before_.first;
    current_call().waits = before_.second;
  }
  CurrentCallScope(const CurrentCallScope&) = delete;
  CurrentCallScope& operator=(const CurrentCallScope&) = delete;

  // Whether the program itself has made the call, and not another function of the runtime.
  bool is_outermost() const { return *before_.first == '\0'; }

 private:
  std::pair<const char*, bool> before_;
};

cudaError_t call_with_lock(const char* name, Waits waits,
                           const std::function<cudaError_t(Runtime&)>& body,
                           UserObjects::Unreferenced* dead) {
  const std::lock_guard<std::recursive_mutex> lock(runtime_lock());
  try {
    Runtime& r = runtime();
    static const bool watched = watch_host_accesses();
    static_cast<void>(watched);
    if (current_driver_function()) {
      name = current_driver_function();
    } else {
      mark_runtime_destroyed_at_exit();
      r.contexts.ensure_current_context();
    }
    const CurrentCallScope current(name, waits == Waits::yes);
    const DeviceScope on(r, Contexts::current_device());
    if (waits == Waits::yes) r.wait_for(r.gpu());
    // Registered memory belongs to the program, which can write to it without a call.
    if (!has_no_unreported_memory_change(name) || r.devices() > 1 ||
        !r.allocations.registered().empty())
      LaunchMemo::forget_digests();
    if (r.sticky && waits != Waits::regardless) return store_last_error(r.sticky);
    const cudaError_t error = body(r);
    if (current.is_outermost()) record_failed_call_for_report(r, error);
    *dead = r.graphs.objects().take_unreferenced();
    return store_last_error(error);
  } catch (const NotLoaded&) {
    return store_last_error(cudaErrorNotSupported);
  } catch (const Error& e) {
    report_unsupported_and_continue(fmt::format("{}: {}", name, e.what()));
    return store_last_error(cudaErrorNotSupported);
  } catch (const std::bad_alloc&) {
    return store_last_error(cudaErrorMemoryAllocation);
  } catch (const std::exception& e) {
    report_unsupported_and_continue(fmt::format("{}: {}", name, e.what()));
    return store_last_error(cudaErrorUnknown);
  }
}

}  // namespace

cudaError_t call(const char* name, Waits waits, const std::function<cudaError_t(Runtime&)>& body) {
  if (destroyed) return store_last_error(cudaErrorCudartUnloading);
  UserObjects::Unreferenced dead;
  const cudaError_t error = call_with_lock(name, waits, body, &dead);
  for (const auto& [destroy, pointer] : dead) destroy(pointer);
  return error;
}

// ---------------------------------------------------------------------------------------------

namespace {

constexpr const char* kLaunch = "cudaLaunchKernel";  // what `kernel<<<...>>>()` calls

bool is_launch_call(const std::string& call) {
  return call.rfind(kLaunch, 0) == 0 || call.rfind("cuLaunchKernel", 0) == 0 ||
         call == "cudaLaunchCooperativeKernel" || call == "cuLaunchCooperativeKernel";
}

struct FailedCall {
  std::string call;
  cudaError_t error;
  std::string reason;
  HostCallSite site;

  std::string text(bool with_error_name) const {
    const std::string name =
        with_error_name ? fmt::format("{}: ", error_name_function()(error)) : "";
    return fmt::format("failed ({}{}){}", name, error_text(error),
                       reason.empty() ? "" : ": " + reason);
  }
};

// The first failed call whose error the program has not asked for.
std::optional<FailedCall>& first_unqueried_failure() {
  static auto* const first = new std::optional<FailedCall>;
  return *first;
}

// Whether the call comes from the program itself. Interpreters and their extension modules try
// calls that may fail, and have no line of a .cu file.
bool is_call_from_program(const HostCallSite& site) {
  std::error_code error;
  return site.file == std::filesystem::read_symlink("/proc/self/exe", error);
}

}  // namespace

CurrentCall& current_call() {
  struct OfThread;
  return thread_variable<CurrentCall, OfThread>();
}

cudaError_t fail(cudaError_t error, std::string reason) {
  current_call().reason = std::move(reason);
  return error;
}

void record_finding(record::HostFinding finding, const HostCallSite& site) {
  const auto kind = static_cast<int>(finding.kind);
  static auto* const sites = new std::set<std::tuple<HostCallSite, std::string, int>>;
  if (!sites->emplace(site, finding.call, kind).second) return;
  const SourcePlace place = source_place(site);
  if (place.line == 0 && !is_call_from_program(site)) return;
  // One line may have several calls; each is reported once.
  static auto* const lines = new std::set<std::tuple<std::string, int, std::string, int>>;
  if (place.line != 0 && !lines->emplace(place.file, place.line, finding.call, kind).second) return;
  finding.file = place.file;
  finding.line = place.line;
  if (const std::string path = environment_value(variables::kRecord); !path.empty())
    record::append_line(path,
                        with_allocations_named_by_variable(record::to_json_record_line(finding)));
}

void record_failed_call_for_report(Runtime& r, cudaError_t error) {
  // "Not ready" is an answer and no failure. A kernel's fault, which every later call returns, has
  // its own message.
  if (error == cudaSuccess || error == cudaErrorNotReady || error == r.sticky) return;
  const CurrentCall& call = current_call();
  const FailedCall failure{call.name, error, call.reason, HostCallSite::current()};
  const bool launch = is_launch_call(failure.call);
  if (r.tool == Tool::check || (r.tool == Tool::profile && launch)) {
    record::HostFinding finding;
    finding.call = failure.call;
    finding.launch = launch;
    finding.text = failure.text(true);
    record_finding(std::move(finding), failure.site);
  }
  // The driver's functions have no error that a program could ask for later.
  if (r.tool == Tool::run && !current_driver_function() && !first_unqueried_failure())
    first_unqueried_failure() = failure;
}

void note_error_query(cudaError_t error) {
  const std::lock_guard<std::recursive_mutex> lock(runtime_lock());
  if (first_unqueried_failure() && first_unqueried_failure()->error == error)
    first_unqueried_failure().reset();
}

void note_copy_of_unwritten_bytes(const sim::Allocation& from, uint64_t first, uint64_t bytes) {
  record::HostFinding finding;
  finding.kind = record::HostFinding::Kind::initialisation;
  finding.call = current_call().name;
  finding.text = fmt::format(
      "copies {} bytes to the host that no kernel and no copy has written, the first at offset {} "
      "of `{}` ({} bytes)",
      grouped_digits(bytes), grouped_digits(first), from.name,
      grouped_digits(from.end - from.begin));
  record_finding(std::move(finding), HostCallSite::current());
}

void note_leaks(Runtime& r, int device) {
  if (r.tool != Tool::check || r.sticky || r.gpu(device).fault) return;
  // A function whose memory is never freed leaves it to the end of the program, which is no leak.
  std::set<std::string> functions;
  for (const HostCallSite& site : r.allocations.freed_sites())
    functions.insert(source_place(site).function);
  functions.erase("");
  if (functions.empty()) return;
  struct LeaksOfCallSite {
    std::string call;
    uint64_t count = 0, bytes = 0;
  };
  std::map<HostCallSite, LeaksOfCallSite> leaks;
  r.allocations.for_each_allocation([&](const AllocationInfo& held) {
    if (held.device != device || held.site.addresses.empty()) return;
    LeaksOfCallSite& leak = leaks[held.site];
    leak.call = held.call;
    ++leak.count;
    leak.bytes += held.bytes;
  });
  for (const auto& [site, leak] : leaks) {
    const std::string function = source_place(site).function;
    if (functions.count(function) == 0) continue;
    record::HostFinding finding;
    finding.call = leak.call;
    finding.text = fmt::format(
        "allocates {} bytes{} that the program never frees, although it frees other memory that "
        "`{}` allocates",
        grouped_digits(leak.bytes), leak.count == 1 ? "" : fmt::format(" in {} pieces", leak.count),
        function);
    record_finding(std::move(finding), site);
  }
}

namespace {

// Call when the program has ended with this exit status.
void report_leaks_and_ignored_failures(int status) {
  const std::lock_guard<std::recursive_mutex> lock(runtime_lock());
  Runtime& r = runtime();
  // A program that ends with an error may have left its memory for that reason.
  if (status == 0)
    for (int device = 0; device < r.devices(); ++device) note_leaks(r, device);
  if (!first_unqueried_failure()) return;
  // `kernel<<<...>>>()` returns nothing, so its error is known to have been ignored. The result of
  // another call may have been looked at if the program then ended with an error.
  const bool launch = is_launch_call(first_unqueried_failure()->call);
  if (!launch && status != 0) return;
  print_message(fmt::format("{}{} {}; {}",
                            file_and_line_prefix(source_place(first_unqueried_failure()->site)),
                            first_unqueried_failure()->call, first_unqueried_failure()->text(false),
                            launch ? "the program never asked for this error (cudaGetLastError)"
                                   : "the program ended as if it had not"));
}

}  // namespace

void schedule_leak_report_at_exit(int status) {
  static std::atomic<int> of_program;
  of_program = status;
  run_at_end([] { report_leaks_and_ignored_failures(of_program); });
}

}  // namespace lab32::cudart
