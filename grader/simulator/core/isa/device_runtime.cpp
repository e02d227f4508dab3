// Executes the launches that kernels request, and the other functions of the device runtime.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "simulator/core/isa/device_calls.h"
#include "simulator/core/isa/memory_lanes.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

namespace {

// cudaStreamTailLaunch and cudaStreamFireAndForget, as CUDA's header defines them for kernels.
constexpr uint64_t kTailLaunch = 3, kFireAndForget = 4;
// The highest number of the host's named streams: the legacy stream and the per-thread stream.
constexpr uint64_t kLastOfHost = 2;

template <class T>
T argument_of_launch_call(Warp& warp, const CallSite& site, int lane, size_t i) {
  const CallFrame& frame = *warp.current().frame;
  T value{};
  std::memcpy(&value,
              frame.params.data() + static_cast<size_t>(lane) * frame.function->param_bytes +
                  site.arguments.at(i),
              sizeof value);
  return value;
}

template <class T>
void set_result_of_launch_call(Warp& warp, const CallSite& site, int lane, T value) {
  CallFrame& frame = *warp.current().frame;
  if (site.results.empty()) return;
  std::memcpy(frame.params.data() + static_cast<size_t>(lane) * frame.function->param_bytes +
                  site.results[0],
              &value, sizeof value);
}

DeviceLaunches& grid_device_launches(const Warp& warp) {
  const BlockContext& block = warp.block();
  if (block.accesses().runs_in_parallel()) throw OrderMatters{};
  if (block.accesses().guarded()) throw HeapTouched{};
  return *block.launch().launches;
}

}  // namespace

std::pair<uint64_t, uint32_t> block_and_thread_of_lane(const Warp& warp, int lane) {
  return {warp.block().info().index, warp.index() * kWarpSize + static_cast<uint32_t>(lane)};
}

void device_prepare_launch(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask) {
  DeviceLaunches& launches = grid_device_launches(warp);
  const LaunchContext& launch = warp.block().launch();
  const auto& functions = launch.program->module->functions;
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    DeviceLaunch next;
    next.function = argument_of_launch_call<uint64_t>(warp, site, l, 0);
    const uint64_t index = (next.function - kCodeBase) / 16 - 1;
    if (index >= functions.size() || !functions[index].is_entry) {
      TrapFacts wild = warp.facts(TrapReason::no_function, l);
      wild.value = next.function;
      Warp::trap(in, std::move(wild));
    }
    const auto grid = argument_of_launch_call<std::array<uint32_t, 3>>(warp, site, l, 1);
    const auto block = argument_of_launch_call<std::array<uint32_t, 3>>(warp, site, l, 2);
    next.grid = {grid[0], grid[1], grid[2]};
    next.block = {block[0], block[1], block[2]};
    next.dynamic_shared = argument_of_launch_call<uint32_t>(warp, site, l, 3);
    uint32_t bytes = 0;
    ptx::parameter_offsets(functions[index].params, &bytes);
    next.parameters =
        launch.memory->allocate_small(std::max(bytes, 16u), "a kernel's parameters")->begin;
    launches.prepared[next.parameters] = next;
    set_result_of_launch_call<uint64_t>(warp, site, l, next.parameters);
  }
}

void device_launch(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask) {
  DeviceLaunches& launches = grid_device_launches(warp);
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const auto found = launches.prepared.find(argument_of_launch_call<uint64_t>(warp, site, l, 0));
    const auto stream = argument_of_launch_call<uint64_t>(warp, site, l, 1);
    const bool made = stream >= DeviceLaunches::kFirstHandle && stream < launches.handles;
    if (found == launches.prepared.end() ||
        (stream > kLastOfHost && stream != kTailLaunch && stream != kFireAndForget && !made)) {
      TrapFacts facts = warp.facts(TrapReason::unsupported_function, l);
      facts.name = site.name;
      facts.cause = found == launches.prepared.end()
                        ? "its parameters do not come from an earlier call"
                        : "the stream was not created by this kernel";
      Warp::trap(in, std::move(facts));
    }
    DeviceLaunch next = found->second;
    launches.prepared.erase(found);
    next.tail = stream == kTailLaunch;
    const uint32_t error = launches.error_of ? launches.error_of(next) : 0;
    if (error == 0)
      launches.launched.push_back(next);
    else
      launches.last_errors[block_and_thread_of_lane(warp, l)] = error;
    set_result_of_launch_call<uint32_t>(warp, site, l, error);
  }
}

void device_set_graph_condition(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask) {
  BlockContext& block = warp.block();
  const Memory& memory = *block.launch().memory;
  uint64_t address[kWarpSize] = {};
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    address[l] = argument_of_launch_call<uint64_t>(warp, site, l, 0);
    const Allocation* word = memory.find(address[l]);
    if (word && word->condition && word->begin == address[l] && !word->freed &&
        memory.can_access(*word))
      continue;
    TrapFacts facts = warp.facts(TrapReason::no_condition, l);
    facts.value = address[l];
    Warp::trap(in, std::move(facts));
  }
  std::byte* const base = block.accesses().check_global(warp.index(), in, address, mask,
                                                        sizeof(uint32_t), AccessUse::write);
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const auto value = argument_of_launch_call<uint32_t>(warp, site, l, 1);
    std::memcpy(base + address[l], &value, sizeof value);
  }
}

// ---------------------------------------------------------------------------------------------

namespace {

constexpr uint32_t kSuccess = 0, kMemoryAllocation = 2;  // cudaError_t

// One lane's call.
struct DeviceRuntimeCallOfLane {
  Warp& warp;
  const Inst& in;
  const CallSite& site;
  int lane;

  template <class T>
  T argument(size_t i) const {
    const CallFrame& frame = *warp.current().frame;
    T value{};
    std::memcpy(&value, lane_parameter_at(frame, site.arguments.at(i)), sizeof value);
    return value;
  }
  template <class T>
  void set_result(T result) const {
    CallFrame& frame = *warp.current().frame;
    if (!site.results.empty())
      std::memcpy(const_cast<std::byte*>(lane_parameter_at(frame, site.results[0])), &result,
                  sizeof result);
  }
  // Stores a value at the address in argument i, which may be in any state space.
  template <class T>
  void store_through_argument(size_t i, T value) const {
    std::array<uint64_t, kWarpSize> address{};
    address[static_cast<size_t>(lane)] = argument<uint64_t>(i);
    const ExecContext x{nullptr, 1u << lane, &warp};
    for_each_window(x, address.data(),
                    [&](const ExecContext& part, ptx::Space where, uint64_t* own) {
                      const StridedLaneMemory place =
                          check_and_report_access(part, in, where, own, sizeof value, true);
                      if (warp.block().checks_reads() && where != ptx::Space::global)
                        warp.mark_defined(access_space_of(where), own, part.mask, sizeof value);
                      std::memcpy(place.base + own[lane] + static_cast<size_t>(lane) * place.stride,
                                  &value, sizeof value);
                    });
  }
  DeviceLaunches& launches() const {
    const BlockContext& block = warp.block();
    if (block.accesses().runs_in_parallel()) throw OrderMatters{};
    if (block.accesses().guarded()) throw HeapTouched{};
    return *block.launch().launches;
  }
  KernelMallocHeap& heap() const {
    launches();
    return *warp.block().launch().heap;
  }

 private:
  const std::byte* lane_parameter_at(const CallFrame& frame, uint32_t offset) const {
    return frame.params.data() + static_cast<size_t>(lane) * frame.function->param_bytes + offset;
  }
};

uint64_t create_stream_or_event(const DeviceRuntimeCallOfLane& c) {
  c.store_through_argument(0, c.launches().handles++);
  return kSuccess;
}
uint64_t nothing(const DeviceRuntimeCallOfLane&) { return kSuccess; }
uint64_t store_device_number(const DeviceRuntimeCallOfLane& c) {
  c.store_through_argument(0, static_cast<int32_t>(c.warp.block().launch().memory->device()));
  return kSuccess;
}
uint64_t store_device_count(const DeviceRuntimeCallOfLane& c) {
  c.store_through_argument(0, c.launches().devices);
  return kSuccess;
}
uint64_t allocate_on_heap(const DeviceRuntimeCallOfLane& c) {
  const uint64_t address = c.heap().allocate(c.argument<uint64_t>(1), "memory from cudaMalloc");
  c.store_through_argument(0, address);
  return address ? kSuccess : kMemoryAllocation;
}
uint64_t release_to_heap(const DeviceRuntimeCallOfLane& c) {
  const auto address = c.argument<uint64_t>(0);
  if (address == 0) return kSuccess;
  const KernelMallocHeap::Release done = c.heap().release(address);
  if (done == KernelMallocHeap::Release::done) return kSuccess;
  TrapFacts facts =
      c.warp.facts(done == KernelMallocHeap::Release::freed_before ? TrapReason::freed_twice
                                                                   : TrapReason::not_allocated,
                   c.lane);
  facts.value = address;
  Warp::trap(c.in, std::move(facts));
}

uint64_t enqueue_copy(const DeviceRuntimeCallOfLane& c) {
  DeviceLaunch next;
  next.copy = {c.argument<uint64_t>(0), c.argument<uint64_t>(1), c.argument<uint64_t>(2), -1};
  c.launches().launched.push_back(next);
  return kSuccess;
}
uint64_t peek_last_error(const DeviceRuntimeCallOfLane& c) {
  const auto& errors = c.launches().last_errors;
  const auto at = errors.find(block_and_thread_of_lane(c.warp, c.lane));
  return at == errors.end() ? kSuccess : at->second;
}
uint64_t take_last_error(const DeviceRuntimeCallOfLane& c) {
  const uint64_t error = peek_last_error(c);
  c.launches().last_errors.erase(block_and_thread_of_lane(c.warp, c.lane));
  return error;
}

// The device address of an error text, which is created on first use in the launch.
uint64_t error_text_address(const DeviceRuntimeCallOfLane& c, bool name) {
  const auto error = c.argument<uint32_t>(0);
  DeviceLaunches& launches = c.launches();
  uint64_t& at = launches.texts[{error, name}];
  if (at != 0 || !launches.text_of) return at;
  const std::string words = launches.text_of(error, name);
  Memory& memory = *c.warp.block().launch().memory;
  at = memory.allocate_small(words.size() + 1, "an error's text")->begin;
  memory.upload(at, words.c_str(), words.size() + 1);
  return at;
}
uint64_t error_name(const DeviceRuntimeCallOfLane& c) { return error_text_address(c, true); }
uint64_t error_text(const DeviceRuntimeCallOfLane& c) { return error_text_address(c, false); }

// cudaMemsetAsync in a kernel fills with zeros, whatever the value: on an H100 (CUDA 13.0, driver
// 580.159.04) 120 fills with five non-zero values, of 1 to 16 bytes, in each kind of stream, wrote
// zeros.
uint64_t enqueue_fill(const DeviceRuntimeCallOfLane& c) {
  const auto value = static_cast<uint8_t>(c.argument<uint32_t>(1));
  if (value != 0) {
    TrapFacts facts = c.warp.facts(TrapReason::unsupported_function, c.lane);
    facts.name = fmt::format("cudaMemsetAsync(..., {})", value);
    facts.cause = "called by a kernel, CUDA 13.0 writes zeros whatever the value";
    Warp::trap(c.in, std::move(facts));
  }
  DeviceLaunch next;
  next.copy = {c.argument<uint64_t>(0), 0, c.argument<uint64_t>(2), value};
  c.launches().launched.push_back(next);
  return kSuccess;
}

struct DeviceRuntimeFunction {
  uint64_t (*run)(const DeviceRuntimeCallOfLane&);
  bool gives_address = false;  // else a cudaError_t
};

const std::map<std::string, DeviceRuntimeFunction>& device_runtime_functions() {
  static const std::map<std::string, DeviceRuntimeFunction> all{
      {"__cudaCDP2StreamCreateWithFlags", {create_stream_or_event}},
      {"__cudaCDP2StreamDestroy", {nothing}},
      {"__cudaCDP2StreamWaitEvent", {nothing}},
      {"__cudaCDP2EventCreateWithFlags", {create_stream_or_event}},
      {"__cudaCDP2EventRecord", {nothing}},
      {"__cudaCDP2EventRecordWithFlags", {nothing}},
      {"__cudaCDP2EventDestroy", {nothing}},
      {"__cudaCDP2GetLastError", {take_last_error}},
      {"__cudaCDP2PeekAtLastError", {peek_last_error}},
      {"__cudaCDP2GetDevice", {store_device_number}},
      {"__cudaCDP2GetDeviceCount", {store_device_count}},
      {"__cudaCDP2Malloc", {allocate_on_heap}},
      {"__cudaCDP2Free", {release_to_heap}},
      {"__cudaCDP2MemcpyAsync", {enqueue_copy}},
      {"__cudaCDP2MemsetAsync", {enqueue_fill}},
      {"__cudaCDP2GetErrorName", {error_name, true}},
      {"__cudaCDP2GetErrorString", {error_text, true}},
  };
  return all;
}

}  // namespace

bool is_device_runtime(const std::string& name) {
  return device_runtime_functions().count(name) != 0;
}

bool is_kernel_malloc_function(const std::string& name) {
  return name == "__cudaCDP2Malloc" || name == "__cudaCDP2Free";
}

void call_device_runtime(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask) {
  const DeviceRuntimeFunction& function = device_runtime_functions().at(site.name);
  for (uint32_t r = mask; r; r &= r - 1) {
    const DeviceRuntimeCallOfLane call{warp, in, site, __builtin_ctz(r)};
    const uint64_t result = function.run(call);
    if (function.gives_address)
      call.set_result(result);
    else
      call.set_result(static_cast<uint32_t>(result));
  }
}

}  // namespace lab32::sim
