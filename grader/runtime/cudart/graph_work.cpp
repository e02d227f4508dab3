#include "runtime/cudart/graph_work.h"

#include <utility>

#include "base/error.h"
#include "runtime/cudart/copy.h"
#include "runtime/cudart/launch.h"

namespace lab32::cudart {

Work on_this_device(const std::function<cudaError_t(Runtime&)>& body) {
  return {[body, device = static_cast<int>(acting_device())](Runtime& r, cudaStream_t) {
            const OnDevice on(r, device);
            return body(r);
          },
          {},
          {}};
}

Work record_work(cudaEvent_t event) {
  Work work;
  work.device = [event](Runtime& r, cudaStream_t) {
    if (!r.streams.knows(event)) return cudaErrorInvalidResourceHandle;
    r.streams.record(event, r.gpu(event->device).timeline.now());
    return cudaSuccess;
  };
  work.given = event;
  return work;
}

Work wait_work(cudaEvent_t event) {
  Work work;
  work.given = event;
  return work;
}

Work host_work(const cudaHostNodeParams& p) {
  Work work{{}, [p] { p.fn(p.userData); }, {}};
  work.given = p;
  return work;
}

Work copy_work(const cudaMemcpy3DParms& p) {
  Work work = on_this_device([p](Runtime& r) { return copy(r, p); });
  work.given = p;
  return work;
}

Work copy_work(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  Work work = on_this_device([=](Runtime& r) { return copy(r, to, from, bytes, kind); });
  // One row, whose pitch says nothing.
  cudaMemcpy3DParms given{};
  given.dstPtr.ptr = to;
  given.srcPtr.ptr = const_cast<void*>(from);
  given.extent = {bytes, 1, 1};
  given.kind = kind;
  work.given = given;
  return work;
}

Work fill_work(const cudaMemsetParams& p) {
  Work work = on_this_device([p](Runtime& r) {
    const uint64_t row = uint64_t{p.width} * p.elementSize;
    const auto at = reinterpret_cast<uint64_t>(p.dst);
    return fill(r, {at, p.pitch, 0}, {row, p.height, 1}, p.value, p.elementSize);
  });
  work.given = p;
  return work;
}

Work child_work(std::vector<Step> steps) {
  return {{}, {}, std::make_shared<std::vector<Step>>(std::move(steps))};
}

cudaError_t child_work(const CUgraph_st& graph, Work* work) {
  if (has_conditions(graph) || has_memory(graph)) return cudaErrorNotSupported;
  std::vector<Step> steps;
  if (!read_steps(graph, &steps)) return cudaErrorInvalidValue;
  *work = child_work(std::move(steps));
  return cudaSuccess;
}

Work launch_work(std::shared_ptr<KernelCall> call) {
  Work work;
  work.kernel = std::move(call);
  return work;
}

Work kernel_work(Runtime& r, const cudaKernelNodeParams& p) {
  KernelEntry* entry = r.registry.find_kernel(p.func);
  if (!entry) return {};
  if (!p.kernelParams && p.extra) throw Error("arguments in the `extra` form are not simulated");
  const LaunchRequest request{p.gridDim, p.blockDim, p.sharedMemBytes, nullptr, false, {}};
  return launch_work(prepare_launch(r, *entry, p.func, request, p.kernelParams));
}

}  // namespace lab32::cudart
