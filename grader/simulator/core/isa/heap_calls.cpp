#include "simulator/core/isa/heap_calls.h"

#include <fmt/format.h>

#include <cstring>

#include "simulator/core/memory/device_heap.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {
namespace {

uint64_t argument(Warp& warp, const CallSite& site, int lane) {
  const Frame& frame = *warp.current().frame;
  uint64_t value = 0;
  std::memcpy(&value,
              frame.params.data() + static_cast<size_t>(lane) * frame.function->param_bytes +
                  site.arguments.at(0),
              sizeof value);
  return value;
}

DeviceHeap& heap_of(const Warp& warp) {
  const BlockContext& block = warp.block();
  if (block.parallel()) throw OrderMatters{};
  if (block.guarded()) throw HeapTouched{};
  return *block.launch().heap;
}

}  // namespace

void device_malloc(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask) {
  DeviceHeap& heap = heap_of(warp);
  const auto place = warp.block().launch().program->position(in.site);
  const std::string name =
      place ? fmt::format("memory from malloc, line {}", place->line) : "memory from malloc";
  Frame& frame = *warp.current().frame;
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const uint64_t address = heap.allocate(argument(warp, site, l), name);
    if (site.results.empty()) continue;
    std::memcpy(frame.params.data() + static_cast<size_t>(l) * frame.function->param_bytes +
                    site.results[0],
                &address, sizeof address);
  }
}

void device_free(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask) {
  DeviceHeap& heap = heap_of(warp);
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const uint64_t address = argument(warp, site, l);
    if (address == 0) continue;
    const DeviceHeap::Release done = heap.release(address);
    if (done == DeviceHeap::Release::done) continue;
    TrapFacts facts =
        warp.facts(done == DeviceHeap::Release::freed_before ? TrapReason::freed_twice
                                                             : TrapReason::not_allocated,
                   l);
    facts.value = address;
    Warp::trap(in, std::move(facts));
  }
}

}  // namespace lab32::sim
