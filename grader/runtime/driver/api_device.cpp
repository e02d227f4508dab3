// The driver's functions of devices, their properties, versions and errors.

#include <algorithm>
#include <cstring>

#include "runtime/cudart/runtime.h"
#include "runtime/driver/call.h"

using namespace lab32::driver;

namespace {

CUresult call_with_valid_device(const char* name, CUdevice device,
                                const std::function<CUresult(Runtime&)>& body) {
  return call(name, Needs::init, Waits::no, [&](Runtime& r) {
    return r.has_device(device) ? body(r) : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult store_uuid(const char* name, CUuuid* out, CUdevice device) {
  return call_with_valid_device(name, device, [&](Runtime& r) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(out->bytes, lab32::cudart::device_properties(r, device).uuid.bytes,
                sizeof out->bytes);
    return CUDA_SUCCESS;
  });
}

struct ErrorName {
  int value;
  const char* name;
};
constexpr ErrorName kErrorNames[] = {
#define ERROR(value, name) {value, #name},
#include "runtime/driver/errors.def"
#undef ERROR
};

const char* name_of(CUresult error) {
  for (const ErrorName& e : kErrorNames)
    if (e.value == error) return e.name;
  return nullptr;
}

}  // namespace

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return call("cuInit", Needs::nothing, Waits::no, [](Runtime&) {
    lab32::cudart::Contexts::is_driver_initialised() = true;
    return CUDA_SUCCESS;
  });
}

CUresult cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return call("cuDeviceGet", Needs::init, Waits::no, [&](Runtime& r) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    if (!r.has_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return call("cuDeviceGetCount", Needs::init, Waits::no, [&](Runtime& r) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = r.devices();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  return call_with_valid_device("cuDeviceGetName", device, [&](Runtime& r) {
    if (!name || bytes <= 0) return CUDA_ERROR_INVALID_VALUE;
    const cudaDeviceProp p = lab32::cudart::device_properties(r, device);
    const size_t count = std::min(std::strlen(p.name), static_cast<size_t>(bytes) - 1);
    std::memcpy(name, p.name, count);
    name[count] = '\0';
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid(CUuuid* out, CUdevice device) {
  return store_uuid("cuDeviceGetUuid", out, device);
}
CUresult cuDeviceGetUuid_v2(CUuuid* out, CUdevice device) {
  return store_uuid("cuDeviceGetUuid", out, device);
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return call_with_valid_device("cuDeviceTotalMem", device, [&](Runtime& r) {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    *bytes = r.allocations.capacity();
    return CUDA_SUCCESS;
  });
}

// The attributes have the same numbers in both APIs.
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  return call_with_valid_device("cuDeviceGetAttribute", device, [&](Runtime& r) {
    if (!value || which < CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK ||
        which >= CU_DEVICE_ATTRIBUTE_MAX)
      return CUDA_ERROR_INVALID_VALUE;
    if (which == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) {
      *value = r.devices() == 1;
      return CUDA_SUCCESS;
    }
    // An attribute that the runtime does not know is a feature that the simulator lacks.
    *value =
        lab32::cudart::device_attribute(r, static_cast<cudaDeviceAttr>(which), device).value_or(0);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetProperties(CUdevprop* out, CUdevice device) {
  return call_with_valid_device("cuDeviceGetProperties", device, [&](Runtime& r) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    const cudaDeviceProp p = lab32::cudart::device_properties(r, device);
    CUdevprop own{};
    own.maxThreadsPerBlock = p.maxThreadsPerBlock;
    std::copy(p.maxThreadsDim, p.maxThreadsDim + 3, own.maxThreadsDim);
    std::copy(p.maxGridSize, p.maxGridSize + 3, own.maxGridSize);
    own.sharedMemPerBlock = static_cast<int>(p.sharedMemPerBlock);
    own.totalConstantMemory = static_cast<int>(p.totalConstMem);
    own.SIMDWidth = p.warpSize;
    own.memPitch = static_cast<int>(p.memPitch);
    own.regsPerBlock = p.regsPerBlock;
    own.clockRate = lab32::cudart::device_attribute(r, cudaDevAttrClockRate, device).value_or(0);
    own.textureAlign = static_cast<int>(p.textureAlignment);
    *out = own;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return call_with_valid_device("cuDeviceComputeCapability", device, [&](Runtime& r) {
    if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
    const cudaDeviceProp p = lab32::cudart::device_properties(r, device);
    *major = p.major;
    *minor = p.minor;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetPCIBusId(char* out, int bytes, CUdevice device) {
  return forward_to_runtime("cuDeviceGetPCIBusId", Needs::init,
                            [&] { return cudaDeviceGetPCIBusId(out, bytes, device); });
}
CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return forward_to_runtime("cuDeviceGetByPCIBusId", Needs::init,
                            [&] { return cudaDeviceGetByPCIBusId(device, id); });
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return forward_to_runtime("cuDeviceCanAccessPeer", Needs::init,
                            [&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute which, CUdevice from,
                                 CUdevice to) {
  return forward_to_runtime("cuDeviceGetP2PAttribute", Needs::init, [&] {
    return cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(which), from, to);
  });
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return forward_to_runtime("cuDeviceGetDefaultMemPool", Needs::init,
                            [&] { return cudaDeviceGetDefaultMemPool(pool, device); });
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return forward_to_runtime("cuDeviceGetMemPool", Needs::init,
                            [&] { return cudaDeviceGetMemPool(pool, device); });
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return forward_to_runtime("cuDeviceSetMemPool", Needs::init,
                            [&] { return cudaDeviceSetMemPool(device, pool); });
}
CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType, CUdevice device) {
  return call_with_valid_device("cuDeviceGetExecAffinitySupport", device, [&](Runtime&) {
    if (!supported) return CUDA_ERROR_INVALID_VALUE;
    *supported = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuGetErrorName(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = name_of(error);
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// The runtime has the same texts under the same numbers, except for two.
CUresult cuGetErrorString(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = name_of(error) ? lab32::cudart::error_text(static_cast<cudaError_t>(error)) : nullptr;
  if (error == CUDA_ERROR_CONTEXT_ALREADY_CURRENT) *text = "context already current";
  if (error == CUDA_ERROR_KEY_ROTATION)
    *text = "an error happened during the key rotation sequence";
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuProfilerStart() { return forward_to_runtime("cuProfilerStart", cudaProfilerStart); }
CUresult cuProfilerStop() { return forward_to_runtime("cuProfilerStop", cudaProfilerStop); }
