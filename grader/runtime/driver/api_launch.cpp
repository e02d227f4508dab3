// The driver's functions of kernels: attributes, launches, occupancy.

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/grid.h"
#include "runtime/cudart/launch.h"
#include "runtime/driver/call.h"
#include "runtime/driver/modules.h"

using namespace lab32::driver;
using lab32::cudart::Contexts;
using lab32::device::KernelInfo;

namespace {

CUresult with_kernel(const char* name, const void* handle,
                     const std::function<CUresult(Runtime&, KernelEntry&)>& body) {
  return call(name, [&](Runtime& r) {
    KernelEntry* entry = r.registry.find_kernel(handle);
    return entry ? body(r, *entry) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult get_function_attribute(const char* name, int* out, CUfunction_attribute which,
                                const void* handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return forward_to_runtime(name, [&] {
    cudaFuncAttributes a{};
    if (const cudaError_t e = cudaFuncGetAttributes(&a, handle)) return e;
    switch (which) {
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *out = a.maxThreadsPerBlock;
        break;
      case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *out = static_cast<int>(a.sharedSizeBytes);
        break;
      case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *out = static_cast<int>(a.constSizeBytes);
        break;
      case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *out = static_cast<int>(a.localSizeBytes);
        break;
      case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *out = a.numRegs;
        break;
      case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *out = a.ptxVersion;
        break;
      case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *out = a.binaryVersion;
        break;
      case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *out = a.cacheModeCA;
        break;
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *out = a.maxDynamicSharedSizeBytes;
        break;
      case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *out = a.preferredShmemCarveout;
        break;
      case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *out = a.clusterDimMustBeSet;
        break;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        *out = a.requiredClusterWidth;
        break;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        *out = a.requiredClusterHeight;
        break;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *out = a.requiredClusterDepth;
        break;
      case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *out = a.nonPortableClusterSizeAllowed;
        break;
      case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *out = a.clusterSchedulingPolicyPreference;
        break;
      default:
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

CUresult set_function_attribute(const char* name, const void* handle, CUfunction_attribute which,
                                int value) {
  // The attributes that can be set have the runtime's numbers.
  const bool settable = which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
                        which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT ||
                        which >= CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET;
  if (!settable || which >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  return forward_to_runtime(name, [&] {
    return cudaFuncSetAttribute(handle, static_cast<cudaFuncAttribute>(which), value);
  });
}

// Calls `body` for a device, whichever context is current.
CUresult with_primary_context(const char* name, CUdevice device,
                              const std::function<CUresult()>& body) {
  CUcontext context = nullptr;
  const CUresult e = call(name, [&](Runtime& r) {
    if (!r.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    context = r.contexts.primary(device);
    return CUDA_SUCCESS;
  });
  if (e) return e;
  const Contexts::ContextScope current(context);
  return body();
}

CUresult store_parameter_offset(const char* name, const void* handle, size_t index, size_t* offset,
                                size_t* bytes) {
  return with_kernel(name, handle, [&](Runtime& r, KernelEntry& entry) {
    const KernelInfo& info = r.registry.load(entry).info();
    if (index >= info.parameter_bytes.size() || !offset) return CUDA_ERROR_INVALID_VALUE;
    *offset = info.parameter_offsets[index];
    if (bytes) *bytes = info.parameter_bytes[index];
    return CUDA_SUCCESS;
  });
}

// The context in which the kernel is launched: the stream's, even if another context is current. A
// module's function must belong to the same device.
CUresult find_launch_context(const char* name, CUfunction function, CUstream stream,
                             CUcontext* out) {
  return with_kernel(name, function, [&](Runtime& r, KernelEntry& entry) {
    if (!r.streams.knows(stream)) return CUDA_ERROR_INVALID_HANDLE;
    CUcontext current = Contexts::current();
    *out = r.streams.is_default(stream) || stream->device == current->device ? current
                                                                             : stream->context;
    CUmodule module = modules().module_of(entry);
    if (module && module->context && module->context->device != (*out)->device)
      return CUDA_ERROR_INVALID_HANDLE;
    return CUDA_SUCCESS;
  });
}

// CUlaunchAttribute and cudaLaunchAttribute are the same type.
static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));

cudaLaunchConfig_t runtime_launch_config(const CUlaunchConfig& config) {
  cudaLaunchConfig_t same{};
  same.gridDim = {config.gridDimX, config.gridDimY, config.gridDimZ};
  same.blockDim = {config.blockDimX, config.blockDimY, config.blockDimZ};
  same.dynamicSmemBytes = config.sharedMemBytes;
  same.stream = config.hStream;
  same.attrs = reinterpret_cast<cudaLaunchAttribute*>(config.attrs);
  same.numAttrs = config.numAttrs;
  return same;
}

// The kernel's arguments in either form (pointers, or one buffer), converted to an array of
// pointers.
class KernelArgumentPointers {
 public:
  CUresult read(const char* name, const void* handle, void** pointers, void** extra) {
    return with_kernel(name, handle, [&](Runtime& r, KernelEntry& entry) {
      if (pointers && extra) return CUDA_ERROR_INVALID_VALUE;
      given_ = pointers;
      const KernelInfo& info = r.registry.load(entry).info();
      if (pointers || info.parameter_bytes.empty()) return CUDA_SUCCESS;
      char* block = nullptr;
      size_t bytes = 0;
      for (void** word = extra; word && *word != CU_LAUNCH_PARAM_END; word += 2) {
        if (*word == CU_LAUNCH_PARAM_BUFFER_POINTER)
          block = static_cast<char*>(word[1]);
        else if (*word == CU_LAUNCH_PARAM_BUFFER_SIZE)
          bytes = *static_cast<size_t*>(word[1]);
        else
          return CUDA_ERROR_INVALID_VALUE;
      }
      if (!block) return CUDA_ERROR_INVALID_VALUE;
      const size_t all = info.parameter_offsets.back() + info.parameter_bytes.back();
      // The error of a GPU's driver for an argument buffer that is larger than the parameters.
      if (bytes > all) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
      if (bytes < all)
        throw lab32::Error(
            fmt::format("`{}` takes {} bytes of arguments, but the buffer has {}; the values of "
                        "the other bytes "
                        "are not defined",
                        info.name, all, bytes));
      for (const uint32_t offset : info.parameter_offsets) made_.push_back(block + offset);
      return CUDA_SUCCESS;
    });
  }
  void** pointers() { return given_ ? given_ : made_.data(); }

 private:
  void** given_ = nullptr;
  std::vector<void*> made_;
};

}  // namespace

CUresult cuFuncGetAttribute(int* out, CUfunction_attribute which, CUfunction function) {
  return get_function_attribute("cuFuncGetAttribute", out, which, function);
}
CUresult cuKernelGetAttribute(int* out, CUfunction_attribute which, CUkernel kernel,
                              CUdevice device) {
  return with_primary_context("cuKernelGetAttribute", device, [&] {
    return get_function_attribute("cuKernelGetAttribute", out, which, kernel);
  });
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
  return set_function_attribute("cuFuncSetAttribute", function, which, value);
}
CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel kernel,
                              CUdevice device) {
  return with_primary_context("cuKernelSetAttribute", device, [&] {
    return set_function_attribute("cuKernelSetAttribute", kernel, which, value);
  });
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return forward_to_runtime("cuFuncSetCacheConfig", [&] {
    return cudaFuncSetCacheConfig(function, static_cast<cudaFuncCache>(config));
  });
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice) {
  return cuFuncSetCacheConfig(reinterpret_cast<CUfunction>(kernel), config);
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return with_kernel("cuFuncSetSharedMemConfig", function,
                     [](Runtime&, KernelEntry&) { return CUDA_SUCCESS; });
}
CUresult cuFuncGetModule(CUmodule* out, CUfunction function) {
  return with_kernel("cuFuncGetModule", function, [&](Runtime&, KernelEntry& entry) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = modules().module_of(entry);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  return forward_to_runtime("cuFuncGetName", [&] { return cudaFuncGetName(name, function); });
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return forward_to_runtime("cuKernelGetName", [&] { return cudaFuncGetName(name, kernel); });
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
  return store_parameter_offset("cuFuncGetParamInfo", function, index, offset, bytes);
}
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return store_parameter_offset("cuKernelGetParamInfo", kernel, index, offset, bytes);
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return with_kernel("cuFuncIsLoaded", function, [&](Runtime&, KernelEntry& entry) {
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    *state =
        entry.here().kernel ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncLoad(CUfunction function) {
  return with_kernel("cuFuncLoad", function, [&](Runtime& r, KernelEntry& entry) {
    r.registry.load(entry);
    return CUDA_SUCCESS;
  });
}
// A CUkernel and its CUfunction are the same object here.
CUresult cuKernelGetFunction(CUfunction* out, CUkernel kernel) {
  return with_kernel("cuKernelGetFunction", kernel, [&](Runtime&, KernelEntry& entry) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = function_of(&entry);
    return CUDA_SUCCESS;
  });
}
CUresult cuKernelGetLibrary(CUlibrary* out, CUkernel kernel) {
  return with_kernel("cuKernelGetLibrary", kernel, [&](Runtime&, KernelEntry& entry) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    CUmodule module = modules().module_of(entry);
    *out = module ? module->library : nullptr;
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** pointers,
                          void** extra) {
  constexpr const char* kName = "cuLaunchKernel";
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  KernelArgumentPointers arguments;
  if (const CUresult e = arguments.read(kName, function, pointers, extra)) return e;
  const cudaLaunchConfig_t same = runtime_launch_config(*config);
  CUcontext context = nullptr;
  if (const CUresult e = find_launch_context(kName, function, config->hStream, &context)) return e;
  const Contexts::ContextScope current(context);
  return forward_to_runtime(
      kName, [&] { return cudaLaunchKernelExC(&same, function, arguments.pointers()); });
}
LAB32_PER_THREAD(cuLaunchKernelEx, _ptsz);

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** pointers, void** extra) {
  const CUlaunchConfig config{grid_x,  grid_y, grid_z, block_x, block_y,
                              block_z, shared, stream, nullptr, 0};
  return cuLaunchKernelEx(&config, function, pointers, extra);
}
LAB32_PER_THREAD(cuLaunchKernel, _ptsz);

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** pointers) {
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  const CUlaunchConfig config{grid_x,  grid_y, grid_z, block_x,      block_y,
                              block_z, shared, stream, &cooperative, 1};
  return cuLaunchKernelEx(&config, function, pointers, nullptr);
}
LAB32_PER_THREAD(cuLaunchCooperativeKernel, _ptsz);

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int threads, size_t shared,
                                                              unsigned flags) {
  return forward_to_runtime("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared,
                                                                  flags);
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks,
                                                 int threads) {
  return forward_to_runtime("cuOccupancyAvailableDynamicSMemPerBlock", [&] {
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads);
  });
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  const cudaLaunchConfig_t same = runtime_launch_config(*config);
  return forward_to_runtime("cuOccupancyMaxActiveClusters", [&] {
    return cudaOccupancyMaxActiveClusters(clusters, function, &same);
  });
}
CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function,
                                            const CUlaunchConfig* config) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  const cudaLaunchConfig_t same = runtime_launch_config(*config);
  return forward_to_runtime("cuOccupancyMaxPotentialClusterSize", [&] {
    return cudaOccupancyMaxPotentialClusterSize(size, function, &same);
  });
}

// Returns the largest block size among those with the most resident threads, as
// cudaOccupancyMaxPotentialBlockSize does in cuda_runtime.h.
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_for, size_t shared,
                                                   int limit, unsigned) {
  return with_kernel(
      "cuOccupancyMaxPotentialBlockSize", function, [&](Runtime& r, KernelEntry& entry) {
        if (!grid || !block) return CUDA_ERROR_INVALID_VALUE;
        const KernelInfo& info = r.registry.load(entry).info();
        lab32::cudart::registers_per_thread(
            r, info);  // throws an error if the registers are not known
        uint32_t most = std::min(r.profile.max_threads_per_block, info.max_threads);
        if (limit > 0) most = std::min(most, static_cast<uint32_t>(limit));
        uint64_t best = 0;
        for (uint32_t size = (most + lab32::kWarpSize - 1) / lab32::kWarpSize * lab32::kWarpSize;
             size > 0; size -= lab32::kWarpSize) {
          const uint32_t threads = std::min(size, most);
          const size_t own = shared_for ? shared_for(static_cast<int>(threads)) : shared;
          const uint64_t blocks =
              lab32::cudart::resident_blocks_per_multiprocessor(r, entry, threads, own);
          if (blocks * threads <= best) continue;
          best = blocks * threads;
          *block = static_cast<int>(threads);
          *grid = static_cast<int>(blocks * r.profile.multiprocessors);
        }
        return best ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
      });
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize shared_for, size_t shared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_for, shared, limit,
                                                   0);
}
