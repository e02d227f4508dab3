#include "simulator/core/isa/device_launch.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "simulator/core/isa/heap_calls.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {
namespace {

// driver_types.h: cudaStreamTailLaunch and cudaStreamFireAndForget, as a kernel sees them.
constexpr uint64_t kTailLaunch = 3, kFireAndForget = 4;
// Named streams of the host: the legacy one, and the thread's own.
constexpr uint64_t kLastOfHost = 2;

template <class T>
T launch_argument(Warp& warp, const CallSite& site, int lane, size_t i) {
  const Frame& frame = *warp.current().frame;
  T value{};
  std::memcpy(&value,
              frame.params.data() + static_cast<size_t>(lane) * frame.function->param_bytes +
                  site.arguments.at(i),
              sizeof value);
  return value;
}

template <class T>
void launch_result(Warp& warp, const CallSite& site, int lane, T value) {
  Frame& frame = *warp.current().frame;
  if (site.results.empty()) return;
  std::memcpy(frame.params.data() + static_cast<size_t>(lane) * frame.function->param_bytes +
                  site.results[0],
              &value, sizeof value);
}

DeviceLaunches& launches_of(const Warp& warp) {
  const BlockContext& block = warp.block();
  if (block.parallel()) throw OrderMatters{};
  if (block.guarded()) throw HeapTouched{};
  return *block.launch().launches;
}

}  // namespace

std::pair<uint64_t, uint32_t> thread_of(const Warp& warp, int lane) {
  return {warp.block().info().index, warp.index() * kWarpSize + static_cast<uint32_t>(lane)};
}

void device_prepare_launch(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask) {
  DeviceLaunches& launches = launches_of(warp);
  const LaunchContext& launch = warp.block().launch();
  const auto& functions = launch.program->module->functions;
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    DeviceLaunch next;
    next.function = launch_argument<uint64_t>(warp, site, l, 0);
    const uint64_t index = (next.function - kCodeBase) / 16 - 1;
    if (index >= functions.size() || !functions[index].is_entry) {
      TrapFacts wild = warp.facts(TrapReason::no_function, l);
      wild.value = next.function;
      Warp::trap(in, std::move(wild));
    }
    const auto grid = launch_argument<std::array<uint32_t, 3>>(warp, site, l, 1);
    const auto block = launch_argument<std::array<uint32_t, 3>>(warp, site, l, 2);
    next.grid = {grid[0], grid[1], grid[2]};
    next.block = {block[0], block[1], block[2]};
    next.dynamic_shared = launch_argument<uint32_t>(warp, site, l, 3);
    uint32_t bytes = 0;
    ptx::parameter_offsets(functions[index].params, &bytes);
    next.parameters =
        launch.memory->allocate_small(std::max(bytes, 16u), "a kernel's parameters")->begin;
    launches.prepared[next.parameters] = next;
    launch_result<uint64_t>(warp, site, l, next.parameters);
  }
}

void device_launch(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask) {
  DeviceLaunches& launches = launches_of(warp);
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const auto found = launches.prepared.find(launch_argument<uint64_t>(warp, site, l, 0));
    const auto stream = launch_argument<uint64_t>(warp, site, l, 1);
    const bool made = stream >= DeviceLaunches::kFirstHandle && stream < launches.handles;
    if (found == launches.prepared.end() ||
        (stream > kLastOfHost && stream != kTailLaunch && stream != kFireAndForget && !made)) {
      TrapFacts facts = warp.facts(TrapReason::unsupported_function, l);
      facts.name = site.name;
      facts.cause = found == launches.prepared.end()
                        ? "its parameters come from no call before it"
                        : "that is no stream which this kernel has made";
      Warp::trap(in, std::move(facts));
    }
    DeviceLaunch next = found->second;
    launches.prepared.erase(found);
    next.tail = stream == kTailLaunch;
    const uint32_t error = launches.error_of ? launches.error_of(next) : 0;
    if (error == 0)
      launches.launched.push_back(next);
    else
      launches.last_errors[thread_of(warp, l)] = error;
    launch_result<uint32_t>(warp, site, l, error);
  }
}

void device_set_condition(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask) {
  BlockContext& block = warp.block();
  const Memory& memory = *block.launch().memory;
  uint64_t address[kWarpSize] = {};
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    address[l] = launch_argument<uint64_t>(warp, site, l, 0);
    const Allocation* word = memory.find(address[l]);
    if (word && word->condition && word->begin == address[l] && !word->freed &&
        memory.reaches(*word))
      continue;
    TrapFacts facts = warp.facts(TrapReason::no_condition, l);
    facts.value = address[l];
    Warp::trap(in, std::move(facts));
  }
  std::byte* const base =
      block.global(warp.index(), in, address, mask, sizeof(uint32_t), BlockContext::Use::write);
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const auto value = launch_argument<uint32_t>(warp, site, l, 1);
    std::memcpy(base + address[l], &value, sizeof value);
  }
}

}  // namespace lab32::sim
