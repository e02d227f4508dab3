// The functions of devices, limits and settings, versions and errors.

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "runtime/cudart/call.h"
#include "runtime/cudart/runtime.h"

using namespace lab32::cudart;

namespace {

// Each simulated device has a PCI bus of its own.
std::string bus_id(int device) { return "0000:0" + std::to_string(device + 1) + ":00.0"; }

cudaError_t call_with_valid_device(const char* name, int device,
                                   const std::function<cudaError_t(Runtime&)>& body,
                                   Waits waits = Waits::no) {
  return call(name, waits,
              [&](Runtime& r) { return r.has_device(device) ? body(r) : cudaErrorInvalidDevice; });
}

template <class T>
cudaError_t store_result(const char* name, T* out, T value, Waits waits = Waits::no) {
  return call(name, waits, [&](Runtime&) {
    if (!out) return cudaErrorInvalidValue;
    *out = value;
    return cudaSuccess;
  });
}

cudaError_t accept_without_effect(const char* name) {
  return call(name, Waits::no, [](Runtime&) { return cudaSuccess; });
}

// The error for a limit that this device does not have, or that does not exist.
cudaError_t error_of_unknown_limit(cudaLimit limit) {
  return limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue;
}

}  // namespace

// The number and the properties of devices can be queried after a fault. The functions with
// Waits::regardless are those that an H200 answers then (driver 580.159.04).
cudaError_t cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", Waits::regardless, [&](Runtime& r) {
    if (!count) return cudaErrorInvalidValue;
    *count = r.devices();
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", Waits::regardless, [&](Runtime& r) {
    if (!device) return cudaErrorInvalidValue;
    *device = r.gpu().number;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", Waits::regardless, [&](Runtime& r) {
    if (!r.has_device(device)) return cudaErrorInvalidDevice;
    r.contexts.use_device(device);
    return cudaSuccess;
  });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return call_with_valid_device("cudaInitDevice", device, [](Runtime&) { return cudaSuccess; });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return call("cudaSetValidDevices", Waits::no, [&](Runtime& r) {
    for (int i = 0; i < count; ++i)
      if (!devices || !r.has_device(devices[i])) return cudaErrorInvalidDevice;
    for (int i = 0; i < count; ++i)
      if (devices[i] != i) throw lab32::Error("an order of devices is not simulated");
    return cudaSuccess;
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wish) {
  return wish ? store_result("cudaChooseDevice", device, 0, Waits::regardless)
              : store_last_error(cudaErrorInvalidValue);
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call("cudaSetDeviceFlags", Waits::no, [&](Runtime& r) {
    if (flags & ~static_cast<unsigned>(cudaDeviceMask)) return cudaErrorInvalidValue;
    r.gpu().flags = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call("cudaGetDeviceFlags", Waits::regardless, [&](Runtime& r) {
    if (!flags) return cudaErrorInvalidValue;
    *flags = r.gpu().flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  return call_with_valid_device(
      "cudaGetDeviceProperties", device,
      [&](Runtime& r) {
        if (!out) return cudaErrorInvalidValue;
        *out = device_properties(r, device);
        return cudaSuccess;
      },
      Waits::regardless);
}

cudaError_t cudaDeviceGetAttribute(int* out, cudaDeviceAttr which, int device) {
  return call_with_valid_device(
      "cudaDeviceGetAttribute", device,
      [&](Runtime& r) {
        if (!out || which < cudaDevAttrMaxThreadsPerBlock || which >= cudaDevAttrMax)
          return cudaErrorInvalidValue;
        const auto value = device_attribute(r, which, device);
        if (!value) throw lab32::Error("attribute " + std::to_string(which) + " is not known");
        *out = *value;
        return cudaSuccess;
      },
      Waits::regardless);
}

cudaError_t cudaDeviceGetPCIBusId(char* out, int bytes, int device) {
  return call_with_valid_device(
      "cudaDeviceGetPCIBusId", device,
      [&](Runtime&) {
        const std::string id = bus_id(device);
        if (!out || bytes <= static_cast<int>(id.size())) return cudaErrorInvalidValue;
        std::memcpy(out, id.c_str(), id.size() + 1);
        return cudaSuccess;
      },
      Waits::regardless);
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return call("cudaDeviceGetByPCIBusId", Waits::regardless, [&](Runtime& r) {
    if (!device || !id) return cudaErrorInvalidValue;
    for (int i = 0; i < r.devices(); ++i) {
      const std::string known = bus_id(i);
      if (id != known && id != known.substr(5)) continue;  // the PCI domain may be omitted
      *device = i;
      return cudaSuccess;
    }
    return cudaErrorInvalidDevice;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call("cudaDeviceCanAccessPeer", Waits::regardless, [&](Runtime& r) {
    if (!can) return cudaErrorInvalidValue;
    if (!r.has_device(device) || !r.has_device(peer)) return cudaErrorInvalidDevice;
    *can = device != peer;
    return cudaSuccess;
  });
}

// Only the current device gets access to the peer's memory, not the peer to its own.
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call_with_valid_device("cudaDeviceEnablePeerAccess", peer, [&](Runtime& r) {
    if (flags != 0) return cudaErrorInvalidValue;
    if (peer == r.gpu().number) return cudaErrorPeerAccessUnsupported;
    if (r.gpu(peer).reached_by & r.gpu().own) return cudaErrorPeerAccessAlreadyEnabled;
    r.gpu(peer).reached_by |= r.gpu().own;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call_with_valid_device("cudaDeviceDisablePeerAccess", peer, [&](Runtime& r) {
    if (peer == r.gpu().number || !(r.gpu(peer).reached_by & r.gpu().own))
      return cudaErrorPeerAccessNotEnabled;
    r.gpu(peer).reached_by &= ~r.gpu().own;
    return cudaSuccess;
  });
}

// The values are those of two H100s joined by NVLink.
cudaError_t cudaDeviceGetP2PAttribute(int* out, cudaDeviceP2PAttr which, int from, int to) {
  return call("cudaDeviceGetP2PAttribute", Waits::regardless, [&](Runtime& r) {
    if (!out || which < cudaDevP2PAttrPerformanceRank ||
        which > cudaDevP2PAttrOnlyPartialNativeAtomicSupported)
      return cudaErrorInvalidValue;
    if (!r.has_device(from) || !r.has_device(to) || from == to) return cudaErrorInvalidDevice;
    *out = which != cudaDevP2PAttrPerformanceRank &&
           which != cudaDevP2PAttrOnlyPartialNativeAtomicSupported;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", Waits::yes, [](Runtime& r) {
    if (!r.captures.any()) return cudaSuccess;
    r.captures.invalidate_all();
    return cudaErrorStreamCaptureUnsupported;
  });
}

cudaError_t cudaDeviceReset() {
  return call("cudaDeviceReset", Waits::regardless, [](Runtime& r) {
    r.wait_for(r.gpu());
    note_leaks(r, r.gpu().number);
    r.reset_current_device();
    // A GPU is lost to the process after a kernel's fault.
    if (r.sticky) r.sticky = cudaErrorDevicesUnavailable;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call("cudaDeviceSetLimit", Waits::no, [&](Runtime& r) {
    const auto at = r.gpu().limits.find(limit);
    if (at == r.gpu().limits.end()) return error_of_unknown_limit(limit);
    if (limit == cudaLimitMallocHeapSize && r.gpu().heap_in_use) return cudaErrorInvalidValue;
    // The stack size is rounded up to 16 bytes.
    at->second = limit == cudaLimitStackSize ? lab32::align_up(value, 16) : value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call("cudaDeviceGetLimit", Waits::no, [&](Runtime& r) {
    if (!value) return cudaErrorInvalidValue;
    const auto at = r.gpu().limits.find(limit);
    if (at == r.gpu().limits.end()) return error_of_unknown_limit(limit);
    *value = at->second;
    return cudaSuccess;
  });
}

// These settings have no effect: the shared memory that blocks use determines the size of L1.
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return store_result("cudaDeviceGetCacheConfig", config, cudaFuncCachePreferNone);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return accept_without_effect("cudaDeviceSetCacheConfig");
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return store_result("cudaDeviceGetSharedMemConfig", config, cudaSharedMemBankSizeFourByte);
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return accept_without_effect("cudaDeviceSetSharedMemConfig");
}
cudaError_t cudaCtxResetPersistingL2Cache() {
  return accept_without_effect("cudaCtxResetPersistingL2Cache");
}

cudaError_t cudaProfilerStart() { return accept_without_effect("cudaProfilerStart"); }
cudaError_t cudaProfilerStop() { return accept_without_effect("cudaProfilerStop"); }

cudaError_t cudaRuntimeGetVersion(int* version) {
  return store_result("cudaRuntimeGetVersion", version, CUDART_VERSION, Waits::regardless);
}
cudaError_t cudaDriverGetVersion(int* version) {
  return store_result("cudaDriverGetVersion", version, CUDART_VERSION, Waits::regardless);
}

cudaError_t cudaGetLastError() {
  note_error_query(last_error());
  return std::exchange(last_error(), cudaSuccess);
}
cudaError_t cudaPeekAtLastError() {
  note_error_query(last_error());
  return last_error();
}
const char* cudaGetErrorName(cudaError_t error) {
  note_error_query(error);
  return error_name(error);
}
const char* cudaGetErrorString(cudaError_t error) {
  note_error_query(error);
  return error_text(error);
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}
