// Kernel launches, kernel attributes and occupancy, and the functions that nvcc's host code calls.

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/work.h"
#include "runtime/cudart/call.h"
#include "runtime/cudart/errors.h"
#include "runtime/cudart/graph_work.h"
#include "runtime/cudart/launch.h"
#include "simulator/timing/occupancy.h"

using namespace lab32::cudart;

namespace {

cudaError_t with_kernel(const char* name, const void* function,
                        const std::function<cudaError_t(Runtime&, KernelEntry&)>& body) {
  return call(name, Waits::no, [&](Runtime& r) {
    KernelEntry* entry = r.registry.find_kernel(function);
    // An address that is no kernel's is treated as an invalid cudaKernel_t.
    return entry ? body(r, *entry) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t launch_or_capture_kernel(const char* name, const void* function,
                                     const RequestedLaunchConfig& request, void** args) {
  return with_kernel(name, function, [&](Runtime& r, KernelEntry& entry) {
    if (!r.captures.captures(request.stream)) return launch(r, entry, request, args);
    return r.captures.add(request.stream, cudaGraphNodeTypeKernel,
                          launch_work(make_deferred_launch(r, entry, function, request, args)));
  });
}

// The maximum of dynamic shared memory for a block of this kernel, in bytes.
int max_dynamic_shared_bytes(const Runtime& r, const lab32::device::KernelInfo& info) {
  return static_cast<int>(r.profile.shared_bytes_opt_in) - static_cast<int>(info.static_shared);
}

cudaError_t set_function_attribute(Runtime& r, KernelEntry& entry, cudaFuncAttribute which,
                                   int value) {
  switch (which) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || value > max_dynamic_shared_bytes(r, r.registry.load(entry).info()))
        return cudaErrorInvalidValue;
      entry.here().max_dynamic_shared = value;
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      entry.here().carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
      if (value < 0 || r.registry.load(entry).info().cluster.count() != 0)
        return cudaErrorInvalidValue;
      entry.here().cluster[which - cudaFuncAttributeRequiredClusterWidth] = value;
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      entry.here().non_portable_cluster = value != 0;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:  // a hint without effect
      if (value < cudaClusterSchedulingPolicyDefault ||
          value > cudaClusterSchedulingPolicyLoadBalancing)
        return cudaErrorInvalidValue;
      entry.here().cluster_policy = value;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

std::optional<dim3> requested_cluster_shape(const cudaLaunchConfig_t& config) {
  std::optional<dim3> asked;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& a = config.attrs[i];
    if (a.id == cudaLaunchAttributeClusterDimension)
      asked = dim3(a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z);
  }
  return asked;
}

// The number of blocks of such a launch that reside on a multiprocessor; 0: not even one block
// fits.
uint32_t config_blocks_per_multiprocessor(Runtime& r, KernelEntry& entry,
                                          const cudaLaunchConfig_t& config) {
  const dim3& b = config.blockDim;
  const lab32::device::KernelInfo& info = r.registry.load(entry).info();
  if (config.dynamicSmemBytes > dynamic_shared_limit(entry, info)) return 0;
  return resident_blocks_per_multiprocessor(r, entry, uint64_t{b.x} * b.y * b.z,
                                            config.dynamicSmemBytes);
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                             size_t shared, cudaStream_t stream) {
  RequestedLaunchConfig request{grid, block, shared, stream, false, {}};
  return launch_or_capture_kernel("cudaLaunchKernel", function, request, args);
}
LAB32_PER_THREAD(cudaLaunchKernel, _ptsz);

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** args,
                                        size_t shared, cudaStream_t stream) {
  RequestedLaunchConfig request{grid, block, shared, stream, true, {}};
  return launch_or_capture_kernel("cudaLaunchCooperativeKernel", function, request, args);
}
LAB32_PER_THREAD(cudaLaunchCooperativeKernel, _ptsz);

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** args) {
  constexpr const char* kName = "cudaLaunchKernelExC";
  if (!config) return store_last_error(cudaErrorInvalidValue);
  RequestedLaunchConfig request{config->gridDim,
                                config->blockDim,
                                config->dynamicSmemBytes,
                                config->stream,
                                false,
                                requested_cluster_shape(*config)};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& a = config->attrs[i];
    switch (a.id) {
      case cudaLaunchAttributeCooperative:
        request.cooperative = a.val.cooperative != 0;
        break;
      case cudaLaunchAttributeProgrammaticEvent:
      case cudaLaunchAttributeLaunchCompletionEvent:
      case cudaLaunchAttributeDeviceUpdatableKernelNode:
        return call(kName, Waits::no, [&](Runtime&) -> cudaError_t {
          throw lab32::Error("launch attribute " + std::to_string(a.id) + " is not simulated");
        });
      // These hints have no effect: cache windows, priorities, carve-out, programmatic
      // serialisation.
      default:
        break;
    }
  }
  return launch_or_capture_kernel(kName, function, request, args);
}
LAB32_PER_THREAD(cudaLaunchKernelExC, _ptsz);

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, const void* function) {
  return with_kernel("cudaFuncGetAttributes", function, [&](Runtime& r, KernelEntry& entry) {
    if (!out) return cudaErrorInvalidValue;
    const lab32::device::KernelInfo& info = r.registry.load(entry).info();
    const DeviceBinary& binary = *entry.binary;
    const auto resources = binary.cubin.kernels.find(entry.symbol);
    const auto version = [](const std::string& arch) {
      return std::stoi(arch.substr(arch.find('_') + 1));
    };
    cudaFuncAttributes a{};
    a.sharedSizeBytes = info.static_shared;
    a.constSizeBytes = binary.cubin.constant_bytes;
    if (resources != binary.cubin.kernels.end()) a.localSizeBytes = resources->second.local_bytes;
    a.numRegs = static_cast<int>(info.registers.value_or(0));
    a.maxThreadsPerBlock = static_cast<int>(info.max_threads);
    // The number of registers per thread limits the block size, too.
    while (info.registers && a.maxThreadsPerBlock > 32 &&
           resident_blocks_per_multiprocessor(r, entry, static_cast<uint64_t>(a.maxThreadsPerBlock),
                                              0) == 0)
      a.maxThreadsPerBlock -= 32;
    a.ptxVersion = version(binary.arch);
    a.binaryVersion = version(r.profile.arch);
    a.maxDynamicSharedSizeBytes =
        entry.here().max_dynamic_shared >= 0
            ? entry.here().max_dynamic_shared
            : std::max(0, (48 << 10) - static_cast<int>(info.static_shared));
    a.preferredShmemCarveout = entry.here().carveout;
    const bool fixed = info.cluster.count() != 0;
    a.clusterDimMustBeSet = fixed ? 1 : 0;
    a.requiredClusterWidth = fixed ? static_cast<int>(info.cluster.x) : entry.here().cluster[0];
    a.requiredClusterHeight = fixed ? static_cast<int>(info.cluster.y) : entry.here().cluster[1];
    a.requiredClusterDepth = fixed ? static_cast<int>(info.cluster.z) : entry.here().cluster[2];
    a.nonPortableClusterSizeAllowed = entry.here().non_portable_cluster ? 1 : 0;
    a.clusterSchedulingPolicyPreference = entry.here().cluster_policy;
    *out = a;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute which, int value) {
  return with_kernel("cudaFuncSetAttribute", function, [&](Runtime& r, KernelEntry& entry) {
    return set_function_attribute(r, entry, which, value);
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute which, int value,
                                            int device) {
  return with_kernel("cudaKernelSetAttributeForDevice", reinterpret_cast<const void*>(kernel),
                     [&](Runtime& r, KernelEntry& entry) {
                       if (!r.has_device(device)) return cudaErrorInvalidDevice;
                       const DeviceScope on(r, device);
                       return set_function_attribute(r, entry, which, value);
                     });
}

// Without effect: the size of L1 follows from the shared memory that blocks use.
cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return with_kernel("cudaFuncSetCacheConfig", function,
                     [](Runtime&, KernelEntry&) { return cudaSuccess; });
}

// This call has had no effect since Maxwell, whose banks are always 4 bytes wide.
cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return with_kernel("cudaFuncSetSharedMemConfig", function,
                     [](Runtime&, KernelEntry&) { return cudaSuccess; });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return with_kernel("cudaFuncGetName", function, [&](Runtime&, KernelEntry& entry) {
    if (!name) return cudaErrorInvalidValue;
    *name = entry.symbol.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return with_kernel("cudaGetKernel", function, [&](Runtime&, KernelEntry& entry) {
    if (!kernel) return cudaErrorInvalidValue;
    *kernel = reinterpret_cast<cudaKernel_t>(&entry);
    return cudaSuccess;
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* out, const void* symbol) {
  return cudaGetKernel(reinterpret_cast<cudaKernel_t*>(out), symbol);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* function,
                                                                   int threads, size_t shared,
                                                                   unsigned) {
  return with_kernel("cudaOccupancyMaxActiveBlocksPerMultiprocessor", function,
                     [&](Runtime& r, KernelEntry& entry) {
                       if (!blocks || threads <= 0) return cudaErrorInvalidValue;
                       *blocks = static_cast<int>(resident_blocks_per_multiprocessor(
                           r, entry, static_cast<uint64_t>(threads), shared));
                       return cudaSuccess;
                     });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared,
                                                                cudaOccupancyDefault);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                      int blocks, int threads) {
  return with_kernel(
      "cudaOccupancyAvailableDynamicSMemPerBlock", function, [&](Runtime& r, KernelEntry& entry) {
        if (!bytes || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
        const lab32::device::KernelInfo& info = r.registry.load(entry).info();
        const auto available = lab32::model::available_dynamic_shared(
            r.profile, static_cast<uint32_t>(threads), registers_per_thread(r, info),
            info.static_shared, dynamic_shared_limit(entry, info), static_cast<uint32_t>(blocks));
        if (!available) return cudaErrorInvalidValue;
        *bytes = *available;
        return cudaSuccess;
      });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
  return with_kernel(
      "cudaOccupancyMaxActiveClusters", function, [&](Runtime& r, KernelEntry& entry) {
        if (!clusters || !config) return cudaErrorInvalidValue;
        dim3 c;
        bool explicitly = false;
        if (const cudaError_t error =
                find_cluster_shape(r, entry, r.registry.load(entry).info(),
                                   requested_cluster_shape(*config), &c, &explicitly))
          return error;
        const auto active = lab32::model::active_clusters(
            r.profile, config_blocks_per_multiprocessor(r, entry, *config),
            uint64_t{c.x} * c.y * c.z);
        if (!active) throw lab32::Error("how many clusters this device holds at once is not known");
        *clusters = explicitly ? static_cast<int>(*active) : 0;
        return cudaSuccess;
      });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  return with_kernel("cudaOccupancyMaxPotentialClusterSize", function,
                     [&](Runtime& r, KernelEntry& entry) {
                       if (!size || !config) return cudaErrorInvalidValue;
                       *size = config_blocks_per_multiprocessor(r, entry, *config) == 0
                                   ? 0
                                   : static_cast<int>(max_blocks_per_cluster(entry));
                       return cudaSuccess;
                     });
}

// Functions that nvcc's host code calls before main() and around <<<>>>.

namespace {

DeviceBinary* binary_of(void** handle) { return reinterpret_cast<DeviceBinary*>(handle); }

// Registration before main() is not an API call, so it makes no context current.
void run_code_registration(const char* name, const std::function<cudaError_t(Runtime&)>& body) {
  const DriverCallScope not_the_program(name);
  call(name, Waits::no, body);
}

// The configurations that <<<>>> has pushed and the host stub will pop. They form a stack, because
// evaluating a launch's arguments may launch another kernel.
std::vector<RequestedLaunchConfig>& pushed_launch_configurations() {
  struct OfLaunches;
  return lab32::thread_variable<std::vector<RequestedLaunchConfig>, OfLaunches>();
}

}  // namespace

void** __cudaRegisterFatBinary(void* wrapper) {
  void** handle = nullptr;
  run_code_registration("__cudaRegisterFatBinary", [&](Runtime& r) {
    handle = reinterpret_cast<void**>(r.registry.add_binary(wrapper));
    return cudaSuccess;
  });
  return handle;
}

void __cudaRegisterFatBinaryEnd(void**) {}

// Called at the end of the program, and when it unloads a library.
void __cudaUnregisterFatBinary(void** handle) {
  if (!handle) return;
  const std::lock_guard<std::recursive_mutex> lock(runtime_lock());
  runtime().registry.remove_binary(binary_of(handle));
}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  if (!handle) return;
  run_code_registration("__cudaRegisterFunction", [&](Runtime& r) {
    r.registry.add_kernel(binary_of(handle), host, name);
    return cudaSuccess;
  });
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t bytes, int,
                       int) {
  if (!handle) return;
  run_code_registration("__cudaRegisterVar", [&](Runtime& r) {
    r.registry.add_variable(binary_of(handle), host, name, bytes);
    return cudaSuccess;
  });
}

void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int,
                              size_t bytes, int, int) {
  if (!handle) return;
  run_code_registration("__cudaRegisterManagedVar", [&](Runtime& r) {
    r.registry.add_variable(binary_of(handle), host, name, bytes);
    binary_of(handle)->managed.emplace_back(host, name);
    return cudaSuccess;
  });
}

// Called before the host accesses a managed variable, because that access is not a call.
char __cudaInitModule(void** handle) {
  if (!handle) return 0;
  const cudaError_t error = call("__cudaInitModule", Waits::no, [&](Runtime& r) {
    r.registry.load(*binary_of(handle));
    return cudaSuccess;
  });
  if (error == cudaErrorNotSupported) std::exit(lab32::kNotSupported);
  return error == cudaSuccess;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  RequestedLaunchConfig request;
  request.grid = grid;
  request.block = block;
  request.shared = shared;
  request.stream = stream;
  pushed_launch_configurations().push_back(request);
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (pushed_launch_configurations().empty())
    return store_last_error(cudaErrorMissingConfiguration);
  const RequestedLaunchConfig request = pushed_launch_configurations().back();
  pushed_launch_configurations().pop_back();
  *grid = request.grid;
  *block = request.block;
  *shared = request.shared;
  *static_cast<cudaStream_t*>(stream) = request.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return cudaGetKernel(kernel, function);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                               size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, args, shared, stream);
}
LAB32_PER_THREAD(__cudaLaunchKernel, _ptsz);
