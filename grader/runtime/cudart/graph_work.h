// What nodes of graphs do.
#pragma once

#include <functional>
#include <memory>

#include "runtime/cudart/runtime.h"

namespace lab32::cudart {

// What is done on the device that is current now, whichever is when the graph is launched.
Work on_this_device(const std::function<cudaError_t(Runtime&)>& body);

Work record_work(cudaEvent_t event);
Work wait_work(cudaEvent_t event);  // what was recorded is done
Work host_work(const cudaHostNodeParams& parameters);
Work copy_work(const cudaMemcpy3DParms& parameters);
Work copy_work(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
Work fill_work(const cudaMemsetParams& parameters);
Work child_work(std::vector<Step> steps);
cudaError_t child_work(const CUgraph_st& graph, Work* work);
Work launch_work(std::shared_ptr<KernelCall> call);
// Throws Error for what a launch would. Work without `kernel`: no kernel.
Work kernel_work(Runtime& runtime, const cudaKernelNodeParams& parameters);

}  // namespace lab32::cudart
