// The device, its limits and settings; versions; errors.

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "base/align.h"
#include "base/error.h"
#include "cudart/attributes.h"
#include "cudart/call.h"

using namespace lab32::cudart;

namespace {

constexpr const char kBusId[] = "0000:01:00.0";

cudaError_t on_device(const char* name, int device,
                      const std::function<cudaError_t(Runtime&)>& body) {
  return call(name, Waits::no,
              [&](Runtime& r) { return device == 0 ? body(r) : cudaErrorInvalidDevice; });
}

template <class T>
cudaError_t give(const char* name, T* out, T value) {
  return call(name, Waits::no, [&](Runtime&) {
    if (!out) return cudaErrorInvalidValue;
    *out = value;
    return cudaSuccess;
  });
}

cudaError_t accept(const char* name) {
  return call(name, Waits::no, [](Runtime&) { return cudaSuccess; });
}

// One that this card does not have, or none at all.
cudaError_t no_limit(cudaLimit limit) {
  return limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue;
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) { return give("cudaGetDeviceCount", count, 1); }
cudaError_t cudaGetDevice(int* device) { return give("cudaGetDevice", device, 0); }

cudaError_t cudaSetDevice(int device) {
  return on_device("cudaSetDevice", device, [](Runtime&) { return cudaSuccess; });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return on_device("cudaInitDevice", device, [](Runtime&) { return cudaSuccess; });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return call("cudaSetValidDevices", Waits::no, [&](Runtime&) {
    for (int i = 0; i < count; ++i)
      if (!devices || devices[i] != 0) return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wish) {
  return wish ? give("cudaChooseDevice", device, 0) : remember(cudaErrorInvalidValue);
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call("cudaSetDeviceFlags", Waits::no, [&](Runtime& r) {
    if (flags & ~static_cast<unsigned>(cudaDeviceMask)) return cudaErrorInvalidValue;
    r.device_flags = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call("cudaGetDeviceFlags", Waits::no, [&](Runtime& r) {
    if (!flags) return cudaErrorInvalidValue;
    *flags = r.device_flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  return on_device("cudaGetDeviceProperties", device, [&](Runtime& r) {
    if (!out) return cudaErrorInvalidValue;
    *out = properties(r);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* out, cudaDeviceAttr which, int device) {
  return on_device("cudaDeviceGetAttribute", device, [&](Runtime& r) {
    if (!out || which < cudaDevAttrMaxThreadsPerBlock || which >= cudaDevAttrMax)
      return cudaErrorInvalidValue;
    const auto value = attribute(r, which);
    if (!value) throw lab32::Error("attribute " + std::to_string(which) + " is not known");
    *out = *value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* out, int bytes, int device) {
  return on_device("cudaDeviceGetPCIBusId", device, [&](Runtime&) {
    if (!out || bytes < static_cast<int>(sizeof kBusId)) return cudaErrorInvalidValue;
    std::memcpy(out, kBusId, sizeof kBusId);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return call("cudaDeviceGetByPCIBusId", Waits::no, [&](Runtime&) {
    if (!device || !id) return cudaErrorInvalidValue;
    // The domain may be left out.
    if (std::strcmp(id, kBusId) != 0 && std::strcmp(id, kBusId + 5) != 0)
      return cudaErrorInvalidDevice;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (device != 0 || peer != 0) return remember(cudaErrorInvalidDevice);
  return give("cudaDeviceCanAccessPeer", can, 0);
}

// There is no second device, and none is its own peer.
// There is no peer but the device itself.
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return remember(peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return remember(peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetP2PAttribute(int* out, cudaDeviceP2PAttr, int, int) {
  return remember(out ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", Waits::yes, [](Runtime& r) {
    if (!r.captures.any()) return cudaSuccess;
    r.captures.invalidate_all();
    return cudaErrorStreamCaptureUnsupported;
  });
}

// Frees what the program holds; its modules are loaded again when they are used again.
cudaError_t cudaDeviceReset() {
  return call("cudaDeviceReset", Waits::yes, [](Runtime& r) {
    r.allocations.release_all();
    r.arrays.clear();
    r.registry.unload();
    r.device->release_heap();
    r.heap_in_use = false;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call("cudaDeviceSetLimit", Waits::no, [&](Runtime& r) {
    const auto at = r.limits.find(limit);
    if (at == r.limits.end()) return no_limit(limit);
    if (limit == cudaLimitMallocHeapSize && r.heap_in_use) return cudaErrorInvalidValue;
    // Stacks are laid out in units of 16 bytes.
    at->second = limit == cudaLimitStackSize ? lab32::align_up(value, 16) : value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call("cudaDeviceGetLimit", Waits::no, [&](Runtime& r) {
    if (!value) return cudaErrorInvalidValue;
    const auto at = r.limits.find(limit);
    if (at == r.limits.end()) return no_limit(limit);
    *value = at->second;
    return cudaSuccess;
  });
}

// Hints: how L1 and shared memory are split follows from what blocks use.
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return give("cudaDeviceGetCacheConfig", config, cudaFuncCachePreferNone);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return accept("cudaDeviceSetCacheConfig"); }
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return give("cudaDeviceGetSharedMemConfig", config, cudaSharedMemBankSizeFourByte);
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return accept("cudaDeviceSetSharedMemConfig");
}
cudaError_t cudaCtxResetPersistingL2Cache() { return accept("cudaCtxResetPersistingL2Cache"); }

cudaError_t cudaProfilerStart() { return accept("cudaProfilerStart"); }
cudaError_t cudaProfilerStop() { return accept("cudaProfilerStop"); }

cudaError_t cudaRuntimeGetVersion(int* version) {
  return give("cudaRuntimeGetVersion", version, CUDART_VERSION);
}
cudaError_t cudaDriverGetVersion(int* version) {
  return give("cudaDriverGetVersion", version, CUDART_VERSION);
}

cudaError_t cudaGetLastError() { return std::exchange(last_error(), cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error(); }
const char* cudaGetErrorName(cudaError_t error) { return error_name(error); }
const char* cudaGetErrorString(cudaError_t error) { return error_text(error); }

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}
