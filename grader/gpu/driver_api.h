// The functions of NVIDIA's libraries that lab32 calls, opened at run time, so that one binary
// works with and without a GPU. They are declared here, so that no toolkit is needed to build.
// Names and values are those of NVIDIA's cuda.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "gpu/timer.h"

namespace lab32::device::cuda {

using Result = int;  // CUresult; 0 is success
using Device = int;
using Pointer = unsigned long long;  // CUdeviceptr
struct ContextHandle;
struct ModuleHandle;
struct FunctionHandle;
struct StreamHandle;
using Context = ContextHandle*;
using ModulePtr = ModuleHandle*;
using Function = FunctionHandle*;
struct EventHandle;
using Stream = StreamHandle*;
using Event = EventHandle*;
struct Uuid {
  unsigned char bytes[16];
};

constexpr Result kSuccess = 0, kOutOfMemory = 2, kNotFound = 500;
// CUdevice_attribute
constexpr int kMultiprocessorCount = 16, kComputeMajor = 75, kComputeMinor = 76;
constexpr int kMemoryClockKHz = 36, kMemoryBusBits = 37, kL2Bytes = 38;
// CUfunction_attribute
constexpr int kMaxThreadsPerBlock = 0, kStaticShared = 1, kRegisters = 4, kMaxDynamicShared = 8;

// X(member, symbol exported by libcuda, parameters). The _v2 symbols are those that cuda.h's plain
// names have meant since CUDA 3.2 (4.0 for contexts): 64-bit sizes and addresses.
#define LAB32_CUDA_ENTRY_POINTS(X)                                                             \
  X(init, cuInit, (unsigned flags))                                                            \
  X(driver_version, cuDriverGetVersion, (int* version))                                        \
  X(device_get, cuDeviceGet, (Device * device, int ordinal))                                   \
  X(device_name, cuDeviceGetName, (char* name, int length, Device device))                     \
  X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, Device device))        \
  X(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, Device device))                       \
  X(device_uuid, cuDeviceGetUuid_v2, (Uuid * uuid, Device device))                             \
  X(context_retain, cuDevicePrimaryCtxRetain, (Context * context, Device device))              \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (Device device))                            \
  X(context_set_current, cuCtxSetCurrent, (Context context))                                   \
  X(synchronize, cuCtxSynchronize, ())                                                         \
  X(allocate, cuMemAlloc_v2, (Pointer * address, size_t bytes))                                \
  X(release, cuMemFree_v2, (Pointer address))                                                  \
  X(fill, cuMemsetD8_v2, (Pointer address, unsigned char value, size_t bytes))                 \
  X(fill_async, cuMemsetD8Async,                                                               \
    (Pointer address, unsigned char value, size_t bytes, Stream stream))                       \
  X(copy_async, cuMemcpyDtoDAsync_v2, (Pointer to, Pointer from, size_t bytes, Stream stream)) \
  X(event_create, cuEventCreate, (Event * event, unsigned flags))                              \
  X(event_record, cuEventRecord, (Event event, Stream stream))                                 \
  X(event_synchronize, cuEventSynchronize, (Event event))                                      \
  X(event_elapsed, cuEventElapsedTime, (float* ms, Event start, Event end))                    \
  X(upload, cuMemcpyHtoD_v2, (Pointer to, const void* from, size_t bytes))                     \
  X(download, cuMemcpyDtoH_v2, (void* to, Pointer from, size_t bytes))                         \
  X(module_load, cuModuleLoadData, (ModulePtr * module, const void* image))                    \
  X(module_unload, cuModuleUnload, (ModulePtr module))                                         \
  X(module_function, cuModuleGetFunction,                                                      \
    (Function * function, ModulePtr module, const char* name))                                 \
  X(module_global, cuModuleGetGlobal_v2,                                                       \
    (Pointer * address, size_t * bytes, ModulePtr module, const char* name))                   \
  X(function_attribute, cuFuncGetAttribute, (int* value, int attribute, Function function))    \
  X(set_function_attribute, cuFuncSetAttribute, (Function function, int attribute, int value)) \
  X(launch, cuLaunchKernel,                                                                    \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
     unsigned block_y, unsigned block_z, unsigned shared, Stream stream, void** parameters,    \
     void** extra))                                                                            \
  X(error_name, cuGetErrorName, (Result result, const char** name))                            \
  X(error_string, cuGetErrorString, (Result result, const char** text))

struct DriverApi {
#define LAB32_DECLARE(member, symbol, parameters) Result(*member) parameters = nullptr;
  LAB32_CUDA_ENTRY_POINTS(LAB32_DECLARE)
#undef LAB32_DECLARE

  std::string name_of(Result result) const;         // "CUDA_ERROR_ILLEGAL_ADDRESS"
  std::string description_of(Result result) const;  // "an illegal memory access was encountered"
};

// The driver, opened once and never closed; nullptr, with the reason in `missing`, if there is
// none.
const DriverApi* driver_api(std::string& missing);

}  // namespace lab32::device::cuda

namespace lab32::device {

// GpuClocks and throttling of the GPU with this UUID, read through NVML: a time is of little value
// if the card changed its speed during the measurement. nullopt: this machine has no NVML, or NVML
// does not know the GPU.
std::optional<GpuClocks> read_clocks(const cuda::Uuid& uuid);

}  // namespace lab32::device
