#include "runtime/cudart/graph_memory.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace lab32::cudart {
namespace {

bool is_there(Runtime& r, uint64_t begin) {
  const Held* held = r.allocations.find(reinterpret_cast<void*>(begin));
  return held && held->begin == begin;
}

}  // namespace

cudaError_t alloc_work(Runtime& r, cudaMemAllocNodeParams* p, Work* work) {
  p->dptr = nullptr;
  const cudaMemLocation& where = p->poolProps.location;
  if (p->bytesize == 0 || p->poolProps.allocType != cudaMemAllocationTypePinned)
    return cudaErrorInvalidValue;
  if (where.type != cudaMemLocationTypeDevice) return cudaErrorNotSupported;
  if (!r.has_device(where.id)) return cudaErrorInvalidValue;
  if (p->poolProps.handleTypes != cudaMemHandleTypeNone)
    throw Error("memory of a graph's node that is handed to other processes is not simulated");
  for (size_t i = 0; i < p->accessDescCount; ++i)
    if (p->accessDescs[i].location.id != where.id)
      throw Error("memory of a graph's node that other devices reach is not simulated");
  const OnDevice on(r, where.id);
  const uint64_t begin = r.allocations.reserve(p->bytesize, "memory of a graph's node");
  if (begin == 0) return cudaErrorMemoryAllocation;
  p->dptr = reinterpret_cast<void*>(begin);
  cudaMemAllocNodeParams& kept = r.graphs.memory()[begin] = *p;
  kept.accessDescs = nullptr;
  kept.accessDescCount = 0;
  work->allocates = begin;
  work->device = [begin, bytes = p->bytesize, device = where.id](Runtime& now, cudaStream_t) {
    const OnDevice there(now, device);
    now.allocations.take(begin, bytes);
    return cudaSuccess;
  };
  return cudaSuccess;
}

cudaError_t free_work(Runtime& r, const CUgraph_st& graph, void* pointer, Work* work) {
  const auto begin = reinterpret_cast<uint64_t>(pointer);
  if (r.graphs.memory().count(begin) == 0) return cudaErrorInvalidValue;
  for (const auto& node : graph.nodes)
    if (node->work.frees == begin) return cudaErrorInvalidValue;
  work->frees = begin;
  work->device = [begin](Runtime& now, cudaStream_t) {
    if (!is_there(now, begin)) return cudaErrorInvalidValue;
    now.allocations.release(begin);
    return cudaSuccess;
  };
  return cudaSuccess;
}

bool uses_memory(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return step.work.allocates != 0 || step.work.frees != 0;
  });
}

namespace {

// How pieces of memory are shared out among them is not known.
bool holds_several(const CUgraphExec_st& exec) {
  std::set<uint64_t> there;
  for (const Step& step : exec.steps) {
    if (step.work.allocates) there.insert(step.work.allocates);
    there.erase(step.work.frees);
    if (there.size() > 1) return true;
  }
  return false;
}

}  // namespace

cudaError_t begin_memory(Runtime& r, const CUgraphExec_st& exec) {
  if (holds_several(exec)) r.allocations.graph_memory(r.gpu().number).is_known = false;
  std::set<uint64_t> own;
  for (const Step& step : exec.steps) {
    const uint64_t begin = step.work.allocates;
    if (begin == 0) continue;
    own.insert(begin);
    if (!is_there(r, begin)) continue;
    if (!exec.frees_first) return cudaErrorInvalidValue;
    r.allocations.release(begin);
  }
  for (const Step& step : exec.steps)
    if (const uint64_t begin = step.work.frees; begin && !own.count(begin) && !is_there(r, begin))
      return cudaErrorInvalidValue;
  return cudaSuccess;
}

}  // namespace lab32::cudart
