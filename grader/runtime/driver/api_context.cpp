// The driver's functions of contexts, including primary contexts.

#include "runtime/driver/call.h"
#include "runtime/driver/modules.h"

// Functions of the shared memory configuration are deprecated, but programs call them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace lab32::driver;
using lab32::cudart::Contexts;

namespace {

constexpr unsigned kKnownFlags = CU_CTX_FLAGS_MASK;

CUresult call_with_valid_device(const char* name, CUdevice device, Waits waits,
                                const std::function<CUresult(Runtime&)>& body) {
  return call(name, Needs::init, waits, [&](Runtime& r) {
    return r.has_device(device) ? body(r) : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult make_context(CUcontext* out, unsigned flags, CUdevice device) {
  return call_with_valid_device("cuCtxCreate", device, Waits::no, [&](Runtime& r) {
    if (!out || (flags & ~kKnownFlags)) return CUDA_ERROR_INVALID_VALUE;
    if (r.sticky) return driver_result_of(r.sticky);
    *out = r.contexts.make(flags, device);
    Contexts::context_stack().push_back(*out);
    return CUDA_SUCCESS;
  });
}

// Releases the modules and allocations that belong to the context.
void clear_context(Runtime& r, CUcontext context) {
  modules().unload_all(r, context);
  for (const uint64_t begin : context->memory)
    if (r.allocations.find(reinterpret_cast<void*>(begin))) r.allocations.release(begin);
  context->memory.clear();
}

// Releases everything that the primary context and the runtime hold.
void reset_device(Runtime& r, int device) {
  const lab32::cudart::DeviceScope on(r, device);
  modules().unload_all(r, r.contexts.primary(device));
  r.contexts.primary(device)->memory.clear();
  r.wait_for(r.gpu());
  if (!r.sticky) r.reset_current_device();
}

CUresult destroy_context(const char* name, CUcontext context) {
  return call(name, Needs::init, Waits::regardless, [&](Runtime& r) {
    r.wait_for(r.gpu());
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    if (!r.contexts.knows(context) || r.contexts.is_primary(context))
      return CUDA_ERROR_INVALID_CONTEXT;
    clear_context(r, context);
    r.contexts.drop(context);
    return CUDA_SUCCESS;
  });
}

CUresult push_context(CUcontext context) {
  return call("cuCtxPushCurrent", Needs::init, Waits::no, [&](Runtime& r) {
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    if (!r.contexts.knows(context)) return CUDA_ERROR_INVALID_CONTEXT;
    Contexts::context_stack().push_back(context);
    return CUDA_SUCCESS;
  });
}

CUresult pop_context(CUcontext* out) {
  return call("cuCtxPopCurrent", Needs::init, Waits::no, [&](Runtime&) {
    if (Contexts::context_stack().empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (out) *out = Contexts::current();
    Contexts::context_stack().pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult release_primary_context(CUdevice device) {
  return call_with_valid_device("cuDevicePrimaryCtxRelease", device, Waits::no, [&](Runtime& r) {
    if (!r.contexts.is_primary_active(device)) return CUDA_ERROR_INVALID_CONTEXT;
    if (r.contexts.release_primary_and_test_last(device) && !r.contexts.is_primary_active(device))
      reset_device(r, device);
    return CUDA_SUCCESS;
  });
}

CUresult reset_primary_context(CUdevice device) {
  return call_with_valid_device("cuDevicePrimaryCtxReset", device, Waits::no, [&](Runtime& r) {
    reset_device(r, device);
    return CUDA_SUCCESS;
  });
}

CUresult set_primary_context_flags(CUdevice device, unsigned flags) {
  return call_with_valid_device("cuDevicePrimaryCtxSetFlags", device, Waits::no, [&](Runtime& r) {
    if (flags & ~kKnownFlags) return CUDA_ERROR_INVALID_VALUE;
    r.contexts.primary(device)->flags = flags;
    r.gpu(device).flags = flags;
    return CUDA_SUCCESS;
  });
}

// Calls `body` with the given context, or the current one for a null.
CUresult call_with_context_or_current(const char* name, CUcontext context,
                                      const std::function<CUresult(Runtime&, CUctx_st&)>& body) {
  return call(name, context ? Needs::init : Needs::context, Waits::no, [&](Runtime& r) {
    CUcontext which = context ? context : Contexts::current();
    return r.contexts.knows(which) ? body(r, *which) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

CUresult with_peer(const char* name, CUcontext peer,
                   const std::function<cudaError_t(int device)>& body) {
  int device = 0;
  const CUresult e = call(name, [&](Runtime& r) {
    if (!r.contexts.knows(peer)) return CUDA_ERROR_INVALID_CONTEXT;
    device = peer->device;
    return CUDA_SUCCESS;
  });
  return e ? e : forward_to_runtime(name, [&] { return body(device); });
}

}  // namespace

CUresult cuCtxCreate_v2(CUcontext* out, unsigned flags, CUdevice device) {
  return make_context(out, flags, device);
}
CUresult cuCtxCreate(CUcontext* out, unsigned flags, CUdevice device) {
  return make_context(out, flags, device);
}
CUresult cuCtxCreate_v3(CUcontext* out, CUexecAffinityParam*, int count, unsigned flags,
                        CUdevice device) {
  return count ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : make_context(out, flags, device);
}
CUresult cuCtxCreate_v4(CUcontext* out, CUctxCreateParams* parameters, unsigned flags,
                        CUdevice device) {
  if (parameters && (parameters->numExecAffinityParams || parameters->cigParams))
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return make_context(out, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext context) { return destroy_context("cuCtxDestroy", context); }
CUresult cuCtxDestroy(CUcontext context) { return destroy_context("cuCtxDestroy", context); }
CUresult cuCtxDetach(CUcontext context) { return destroy_context("cuCtxDetach", context); }
CUresult cuCtxPushCurrent_v2(CUcontext context) { return push_context(context); }
CUresult cuCtxPushCurrent(CUcontext context) { return push_context(context); }
CUresult cuCtxPopCurrent_v2(CUcontext* out) { return pop_context(out); }
CUresult cuCtxPopCurrent(CUcontext* out) { return pop_context(out); }

CUresult cuCtxSetCurrent(CUcontext context) {
  return call("cuCtxSetCurrent", Needs::init, Waits::no, [&](Runtime& r) {
    if (context && !r.contexts.knows(context)) return CUDA_ERROR_INVALID_CONTEXT;
    Contexts::set_current(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* out) {
  return call("cuCtxGetCurrent", Needs::init, Waits::no, [&](Runtime&) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = Contexts::current();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return call("cuCtxGetDevice", Needs::context, Waits::regardless, [&](Runtime&) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = Contexts::current()->device;
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return call_with_context_or_current("cuCtxGetDevice", context, [&](Runtime&, CUctx_st& own) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = own.device;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return call_with_context_or_current("cuCtxGetFlags", nullptr, [&](Runtime&, CUctx_st& own) {
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = own.flags;
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxSetFlags(unsigned flags) {
  return call_with_context_or_current("cuCtxSetFlags", nullptr, [&](Runtime&, CUctx_st& own) {
    if (flags & ~kKnownFlags) return CUDA_ERROR_INVALID_VALUE;
    own.flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return call_with_context_or_current("cuCtxGetId", context, [&](Runtime&, CUctx_st& own) {
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    *id = own.id;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  return call_with_context_or_current("cuCtxGetApiVersion", context, [&](Runtime&, CUctx_st&) {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;  // the version of every context since CUDA 3.2
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return forward_to_runtime("cuCtxSynchronize", cudaDeviceSynchronize);
}
CUresult cuCtxSynchronize_v2(CUcontext context) {
  if (!context) return cuCtxSynchronize();
  if (const CUresult e = call_with_context_or_current(
          "cuCtxSynchronize", context, [](Runtime&, CUctx_st&) { return CUDA_SUCCESS; }))
    return e;
  const Contexts::ContextScope current(context);
  return cuCtxSynchronize();
}

// The limits have the same numbers in both APIs.
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return forward_to_runtime(
      "cuCtxSetLimit", [&] { return cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}
CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return forward_to_runtime(
      "cuCtxGetLimit", [&] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}
CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return forward_to_runtime("cuCtxGetCacheConfig", [&] {
    return cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(config));
  });
}
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return forward_to_runtime("cuCtxSetCacheConfig", [&] {
    return cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config));
  });
}
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return forward_to_runtime("cuCtxGetSharedMemConfig", [&] {
    return cudaDeviceGetSharedMemConfig(reinterpret_cast<cudaSharedMemConfig*>(config));
  });
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return forward_to_runtime("cuCtxSetSharedMemConfig", [&] {
    return cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(config));
  });
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return forward_to_runtime("cuCtxGetStreamPriorityRange",
                            [&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}
CUresult cuCtxResetPersistingL2Cache() {
  return forward_to_runtime("cuCtxResetPersistingL2Cache", cudaCtxResetPersistingL2Cache);
}
// Peer access applies to all contexts of a device.
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return with_peer("cuCtxEnablePeerAccess", peer,
                   [&](int device) { return cudaDeviceEnablePeerAccess(device, flags); });
}
CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return with_peer("cuCtxDisablePeerAccess", peer,
                   [](int device) { return cudaDeviceDisablePeerAccess(device); });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  return call_with_valid_device("cuDevicePrimaryCtxRetain", device, Waits::no, [&](Runtime& r) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (r.sticky) return driver_result_of(r.sticky);
    r.contexts.retain(device);
    *out = r.contexts.primary(device);
    return CUDA_SUCCESS;
  });
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return release_primary_context(device); }
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return release_primary_context(device); }
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) { return reset_primary_context(device); }
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return reset_primary_context(device); }
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return set_primary_context_flags(device, flags);
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return set_primary_context_flags(device, flags);
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return call_with_valid_device("cuDevicePrimaryCtxGetState", device, Waits::no, [&](Runtime& r) {
    if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
    *flags = r.contexts.primary(device)->flags;
    *active = r.contexts.is_primary_active(device);
    return CUDA_SUCCESS;
  });
}
