#include "runtime/cudart/gpu.h"

#include <cstdio>

#include "device/sim_device.h"

namespace lab32::cudart {

Gpu::Gpu(int which, const model::Profile& profile, sim::Memory& memory, double& host_time)
    : number(which),
      own(uint64_t{1} << which),
      reached_by(own),
      device(device::make_sim_device(profile, memory)),
      timeline(host_time),
      // What an H200 answers before a program changes it; but printf's is what a launch may print
      // here (there it is 8,650,752).
      limits{{cudaLimitStackSize, 1024},           {cudaLimitPrintfFifoSize, 1 << 20},
             {cudaLimitMallocHeapSize, 8 << 20},   {cudaLimitDevRuntimePendingLaunchCount, 2048},
             {cudaLimitMaxL2FetchGranularity, 64}, {cudaLimitPersistingL2CacheSize, 11796480}} {}

void Gpu::wait() {
  print_output();
  timeline.wait();
}

void Gpu::print_output() {
  if (output.empty()) return;
  std::fwrite(output.data(), 1, output.size(), stdout);
  std::fflush(stdout);
  output.clear();
}

}  // namespace lab32::cudart
