#include "simulator/timing/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "base/error.h"
#include "base/grid.h"
#include "cuda_occupancy.h"  // from the CUDA toolkit

namespace lab32::model {
namespace {

cudaOccDeviceProp device_properties_of(const DeviceProfile& profile) {
  cudaOccDeviceProp p;
  std::memset(static_cast<void*>(&p), 0, sizeof p);
  const int capability = std::stoi(profile.arch.substr(3));  // sm_90
  p.computeMajor = capability / 10;
  p.computeMinor = capability % 10;
  p.maxThreadsPerBlock = static_cast<int>(profile.max_threads_per_block);
  p.maxThreadsPerMultiprocessor = static_cast<int>(profile.multiprocessor.max_threads);
  p.regsPerBlock = static_cast<int>(profile.multiprocessor.registers);
  p.regsPerMultiprocessor = static_cast<int>(profile.multiprocessor.registers);
  p.warpSize = kWarpSize;
  p.sharedMemPerBlock = profile.shared_bytes_per_block;
  p.sharedMemPerMultiprocessor = profile.multiprocessor.shared_bytes;
  p.numSms = static_cast<int>(profile.multiprocessors);
  p.sharedMemPerBlockOptin = profile.shared_bytes_opt_in;
  p.reservedSharedMemPerBlock = profile.multiprocessor.reserved_shared_bytes_per_block;
  return p;
}

cudaOccFuncAttributes kernel_attributes_of(uint32_t registers, uint32_t static_shared,
                                           uint64_t most_dynamic_shared) {
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = INT_MAX;
  kernel.numRegs = static_cast<int>(registers);
  kernel.sharedSizeBytes = static_shared;
  kernel.maxDynamicSharedSizeBytes = most_dynamic_shared;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.numBlockBarriers = 1;
  return kernel;
}

std::string limiter_names(unsigned factors) {
  std::string text;
  const auto name = [&](unsigned bit, const char* what) {
    if ((factors & bit) == 0) return;
    if (!text.empty()) text += " and ";
    text += what;
  };
  name(OCC_LIMIT_REGISTERS, "registers");
  name(OCC_LIMIT_SHARED_MEMORY, "shared memory");
  name(OCC_LIMIT_WARPS, "warps");
  name(OCC_LIMIT_BLOCKS, "blocks");
  name(OCC_LIMIT_BARRIERS, "barriers");
  return text;
}

// The driver seems to choose the smallest shared-memory split that is more than twice what the
// blocks use: true of 8 in 10 launches of data/measured/h200-model-counters.csv
// (launch__shared_mem_config_size); the others have the neighbouring split.
uint32_t l1_bytes_beside_shared(const DeviceProfile& profile, uint64_t shared_bytes_of_blocks) {
  const auto& splits = profile.multiprocessor.shared_splits;
  const auto split = std::upper_bound(splits.begin(), splits.end(), 2 * shared_bytes_of_blocks);
  return profile.multiprocessor.l1_and_shared_bytes -
         (split == splits.end() ? splits.back() : *split);
}

}  // namespace

Occupancy occupancy(const DeviceProfile& profile, uint32_t threads_per_block, uint32_t registers,
                    uint32_t static_shared, uint32_t dynamic_shared, int carveout) {
  const cudaOccDeviceProp device = device_properties_of(profile);
  const cudaOccFuncAttributes kernel =
      kernel_attributes_of(registers, static_shared, dynamic_shared);
  cudaOccDeviceState state;
  state.carveoutConfig = carveout;
  cudaOccResult result;
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &device, &kernel, &state, static_cast<int>(threads_per_block), dynamic_shared);
  if (error != CUDA_OCC_SUCCESS || result.activeBlocksPerMultiprocessor <= 0)
    throw Error(fmt::format(
        "not one block of {} threads, {} registers per thread and {} bytes of shared memory fits a "
        "multiprocessor of the {}",
        threads_per_block, registers, uint64_t{static_shared} + dynamic_shared, profile.name));

  Occupancy o;
  o.blocks = static_cast<uint32_t>(result.activeBlocksPerMultiprocessor);
  o.warps = o.blocks * ((threads_per_block + 31) / 32);
  o.theoretical = o.warps * 32.0 / profile.multiprocessor.max_threads;
  o.limiter = limiter_names(result.limitingFactors);
  o.registers = registers;
  o.l1_bytes =
      l1_bytes_beside_shared(profile, uint64_t{o.blocks} * result.allocatedSharedMemPerBlock);
  return o;
}

// Reproduces cudaOccupancyMaxActiveClusters of an H100 for each tried size and occupancy: a group
// with fewer multiprocessors than the cluster has blocks takes no part, and a multiprocessor holds
// at most 8 blocks of clusters, even of clusters of one block.
std::optional<uint64_t> active_clusters(const DeviceProfile& profile, uint32_t blocks,
                                        uint64_t size) {
  constexpr uint32_t kMostOfMultiprocessor = 8;
  blocks = std::min(blocks, kMostOfMultiprocessor);
  if (size == 1) return uint64_t{profile.multiprocessors} * blocks;
  if (profile.cluster_groups.empty()) return std::nullopt;
  uint64_t clusters = 0;
  for (const uint32_t group : profile.cluster_groups)
    if (group >= size) clusters += uint64_t{group} * blocks / size;
  return clusters;
}

std::optional<uint64_t> available_dynamic_shared(const DeviceProfile& profile,
                                                 uint32_t threads_per_block, uint32_t registers,
                                                 uint32_t static_shared, uint64_t most,
                                                 uint32_t blocks) {
  const cudaOccDeviceProp device = device_properties_of(profile);
  const cudaOccFuncAttributes kernel = kernel_attributes_of(registers, static_shared, most);
  const cudaOccDeviceState state;
  size_t bytes = 0;
  if (cudaOccAvailableDynamicSMemPerBlock(&bytes, &device, &kernel, &state,
                                          static_cast<int>(blocks),
                                          static_cast<int>(threads_per_block)) != CUDA_OCC_SUCCESS)
    return std::nullopt;
  return bytes;
}

}  // namespace lab32::model
