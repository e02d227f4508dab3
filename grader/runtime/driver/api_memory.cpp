// The driver's functions that allocate and free memory, that query pointers, and those of memory
// pools.

#include <cstring>

#include "runtime/cudart/allocations.h"
#include "runtime/driver/call.h"

using namespace lab32::driver;
using lab32::cudart::AllocationInfo;
using lab32::cudart::Contexts;
using lab32::cudart::MemoryKind;

namespace {

// Records that the allocation belongs to the current context, if the call has succeeded.
CUresult record_owner(CUresult result, uint64_t address) {
  if (result == CUDA_SUCCESS) Contexts::current()->memory.insert(address);
  return result;
}

template <class Allocate>
CUresult allocate(const char* name, CUdeviceptr* out, size_t bytes, Allocate&& allocate) {
  if (const CUresult e = error_of_unmet_need(Needs::context)) return e;
  if (!out || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  void* made = nullptr;
  const CUresult result = forward_to_runtime(name, [&] { return allocate(&made); });
  if (result == CUDA_SUCCESS) *out = reinterpret_cast<CUdeviceptr>(made);
  return record_owner(result, reinterpret_cast<uint64_t>(made));
}

// A range of memory that the device can access.
struct DeviceAccessibleRange {
  uint64_t begin = 0, bytes = 0;
  int device = 0;
  bool managed = false, host = false;
  CUmemoryPool pool = nullptr;
  uint64_t offset = 0;  // device address minus host address
};

bool find_accessible_range(Runtime& r, CUdeviceptr address, DeviceAccessibleRange* range) {
  if (const AllocationInfo* held = r.allocations.find(pointer(address))) {
    range->begin = held->begin;
    range->bytes = held->bytes;
    range->device = held->device;
    range->managed = held->home == MemoryKind::managed;
    range->host = held->home == MemoryKind::pinned;
    range->pool = held->pool;
    return true;
  }
  if (const auto* at = r.allocations.find_registered(pointer(address))) {
    range->begin = at->first;
    range->bytes = at->second.bytes;
    range->device = at->second.device;
    range->host = true;
    range->offset = at->second.device_address - at->first;
    return true;
  }
  const lab32::sim::Allocation* a = r.memory.find(address);
  if (!a || a->freed) return false;
  range->begin = a->begin;
  range->bytes = a->end - a->begin;
  range->device = static_cast<int>(a->device);
  range->managed = a->shared_with_host;
  return true;
}

// Memory of modules and of the runtime counts as owned by the current context if that is on the
// same device; otherwise the owner is the primary context.
CUcontext context_owning(Runtime& r, const DeviceAccessibleRange& range) {
  if (CUcontext owner = r.contexts.owner_of_allocation(range.begin)) return owner;
  CUcontext current = Contexts::current();
  return current && current->device == range.device ? current : r.contexts.primary(range.device);
}

// Call when the memory was freed: the context that owned it forgets it.
void remove_allocation_from_context(uint64_t address) {
  const std::lock_guard<std::recursive_mutex> lock(lab32::cudart::runtime_lock());
  if (CUcontext owner = lab32::cudart::runtime().contexts.owner_of_allocation(address))
    owner->memory.erase(address);
}

template <class T>
CUresult store_value(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult store_pointer(void* out, const void* value) {
  return store_value(out, reinterpret_cast<uint64_t>(value));
}

CUresult store_pointer_attribute(Runtime& r, void* out, CUpointer_attribute which,
                                 CUdeviceptr address) {
  DeviceAccessibleRange range;
  if (!find_accessible_range(r, address, &range)) return CUDA_ERROR_INVALID_VALUE;
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return store_pointer(out, context_owning(r, range));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return store_value<unsigned>(out, range.host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return store_value<CUdeviceptr>(out, address + range.offset);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!range.host && !range.managed) return CUDA_ERROR_INVALID_VALUE;
      return store_pointer(out, pointer(address));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return store_value<unsigned>(out, 1);  // every call has finished its work when it returns
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      // An address is a unique id, because addresses are never reused.
      return store_value<unsigned long long>(out, range.begin);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return store_value<unsigned>(out, range.managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return store_value<int>(out, range.device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return store_value<CUdeviceptr>(out, range.begin);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return store_value<size_t>(out, range.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return store_value<unsigned>(out, 1);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return store_value<unsigned>(out, 0);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return store_value<unsigned long long>(out, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return store_value<unsigned>(out, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return store_pointer(out, range.pool);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult prefetch(CUdeviceptr address, size_t bytes, cudaMemLocation location, unsigned flags,
                  CUstream stream) {
  return forward_to_runtime("cuMemPrefetchAsync", [&] {
    return cudaMemPrefetchAsync(pointer(address), bytes, location, flags, stream);
  });
}

cudaMemLocation location_of(CUdevice device) {
  if (device == CU_DEVICE_CPU) return {cudaMemLocationTypeHost, 0};
  return {cudaMemLocationTypeDevice, device};
}

cudaMemLocation location_of(const CUmemLocation& location) {
  cudaMemLocation same;
  std::memcpy(&same, &location, sizeof same);
  return same;
}

CUresult advise(CUdeviceptr address, size_t bytes, CUmem_advise advice, cudaMemLocation location) {
  return forward_to_runtime("cuMemAdvise", [&] {
    return cudaMemAdvise(pointer(address), bytes, static_cast<cudaMemoryAdvise>(advice), location);
  });
}

// CUmemLocation, CUmemPoolProps and CUmemAccessDesc are the runtime's types under other names.
static_assert(sizeof(CUmemLocation) == sizeof(cudaMemLocation) &&
              sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps) &&
              sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));

}  // namespace

CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t bytes) {
  return allocate("cuMemAlloc", out, bytes, [&](void** made) { return cudaMalloc(made, bytes); });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* out, size_t* pitch, size_t width, size_t height,
                            unsigned element) {
  if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
  return allocate("cuMemAllocPitch", out, width * height,
                  [&](void** made) { return cudaMallocPitch(made, pitch, width, height); });
}

CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned flags) {
  return allocate("cuMemAllocManaged", out, bytes,
                  [&](void** made) { return cudaMallocManaged(made, bytes, flags); });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return forward_to_runtime("cuMemFree", [&] {
    const cudaError_t e = cudaFree(pointer(address));
    if (e == cudaSuccess) remove_allocation_from_context(address);
    return e;
  });
}

CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned flags) {
  if (const CUresult e = error_of_unmet_need(Needs::context)) return e;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return record_owner(
      forward_to_runtime("cuMemHostAlloc", [&] { return cudaHostAlloc(out, bytes, flags); }),
      reinterpret_cast<uint64_t>(*out));
}
CUresult cuMemAllocHost_v2(void** out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }

CUresult cuMemFreeHost(void* host) {
  return forward_to_runtime("cuMemFreeHost", [&] {
    const cudaError_t e = cudaFreeHost(host);
    if (e == cudaSuccess) remove_allocation_from_context(reinterpret_cast<uint64_t>(host));
    return e;
  });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* host, unsigned flags) {
  return forward_to_runtime("cuMemHostGetDevicePointer", [&] {
    return cudaHostGetDevicePointer(reinterpret_cast<void**>(out), host, flags);
  });
}
CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
  return forward_to_runtime("cuMemHostGetFlags", [&] { return cudaHostGetFlags(flags, host); });
}
CUresult cuMemHostRegister_v2(void* host, size_t bytes, unsigned flags) {
  return forward_to_runtime("cuMemHostRegister",
                            [&] { return cudaHostRegister(host, bytes, flags); });
}
CUresult cuMemHostUnregister(void* host) {
  return forward_to_runtime("cuMemHostUnregister", [&] { return cudaHostUnregister(host); });
}
CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return forward_to_runtime("cuMemGetInfo", [&] { return cudaMemGetInfo(free, total); });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* begin, size_t* bytes, CUdeviceptr address) {
  return call("cuMemGetAddressRange", [&](Runtime& r) {
    DeviceAccessibleRange range;
    if (!find_accessible_range(r, address, &range)) return CUDA_ERROR_NOT_FOUND;
    lab32::driver::find_mapped_device_range(address, &range.begin, &range.bytes);
    if (begin) *begin = range.begin;
    if (bytes) *bytes = range.bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerGetAttribute(void* out, CUpointer_attribute which, CUdeviceptr address) {
  return call("cuPointerGetAttribute", Needs::context, Waits::regardless, [&](Runtime& r) {
    return out ? store_pointer_attribute(r, out, which, address) : CUDA_ERROR_INVALID_VALUE;
  });
}

// Attributes that do not apply to a pointer are zero, without an error.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** out,
                                CUdeviceptr address) {
  return call("cuPointerGetAttributes", [&](Runtime& r) {
    if (!which || !out) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; ++i) {
      if (store_pointer_attribute(r, out[i], which[i], address) == CUDA_SUCCESS) continue;
      const bool word = which[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
                        which[i] == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
                        which[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED ||
                        which[i] == CU_POINTER_ATTRIBUTE_MAPPED;
      if (which[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        store_value<int>(out[i], -2);
      else if (word)
        store_value<unsigned>(out[i], 0);
      else
        store_value<uint64_t>(out[i], 0);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr address) {
  return call("cuPointerSetAttribute", [&](Runtime& r) {
    DeviceAccessibleRange range;
    return value && which == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS &&
                   find_accessible_range(r, address, &range)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemRangeGetAttribute(void* data, size_t size, CUmem_range_attribute attribute,
                                CUdeviceptr address, size_t bytes) {
  return forward_to_runtime("cuMemRangeGetAttribute", [&] {
    return cudaMemRangeGetAttribute(data, size, static_cast<cudaMemRangeAttribute>(attribute),
                                    pointer(address), bytes);
  });
}
CUresult cuMemRangeGetAttributes(void** data, size_t* sizes, CUmem_range_attribute* attributes,
                                 size_t count, CUdeviceptr address, size_t bytes) {
  static_assert(sizeof(CUmem_range_attribute) == sizeof(cudaMemRangeAttribute));
  return forward_to_runtime("cuMemRangeGetAttributes", [&] {
    return cudaMemRangeGetAttributes(data, sizes,
                                     reinterpret_cast<cudaMemRangeAttribute*>(attributes), count,
                                     pointer(address), bytes);
  });
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location,
                               unsigned flags, CUstream stream) {
  return prefetch(address, bytes, location_of(location), flags, stream);
}
LAB32_PER_THREAD(cuMemPrefetchAsync_v2, _ptsz);
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  return prefetch(address, bytes, location_of(device), 0, stream);
}
LAB32_PER_THREAD(cuMemPrefetchAsync, _ptsz);
CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                        CUmemLocation location) {
  return advise(address, bytes, advice, location_of(location));
}
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
  return advise(address, bytes, advice, location_of(device));
}

CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  return allocate("cuMemAllocAsync", out, bytes,
                  [&](void** made) { return cudaMallocAsync(made, bytes, stream); });
}
LAB32_PER_THREAD(cuMemAllocAsync, _ptsz);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return allocate("cuMemAllocFromPoolAsync", out, bytes,
                  [&](void** made) { return cudaMallocFromPoolAsync(made, bytes, pool, stream); });
}
LAB32_PER_THREAD(cuMemAllocFromPoolAsync, _ptsz);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return forward_to_runtime("cuMemFreeAsync", [&] {
    const cudaError_t e = cudaFreeAsync(pointer(address), stream);
    if (e == cudaSuccess) remove_allocation_from_context(address);
    return e;
  });
}
LAB32_PER_THREAD(cuMemFreeAsync, _ptsz);

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return forward_to_runtime("cuMemPoolCreate", Needs::init, [&] {
    return cudaMemPoolCreate(pool, reinterpret_cast<const cudaMemPoolProps*>(properties));
  });
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return forward_to_runtime("cuMemPoolDestroy", Needs::init,
                            [&] { return cudaMemPoolDestroy(pool); });
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes) {
  return forward_to_runtime("cuMemPoolTrimTo", Needs::init,
                            [&] { return cudaMemPoolTrimTo(pool, bytes); });
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void* value) {
  return forward_to_runtime("cuMemPoolSetAttribute", Needs::init, [&] {
    return cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(which), value);
  });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void* value) {
  return forward_to_runtime("cuMemPoolGetAttribute", Needs::init, [&] {
    return cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(which), value);
  });
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* list, size_t count) {
  return forward_to_runtime("cuMemPoolSetAccess", Needs::init, [&] {
    return cudaMemPoolSetAccess(pool, reinterpret_cast<const cudaMemAccessDesc*>(list), count);
  });
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return forward_to_runtime("cuMemPoolGetAccess", Needs::init, [&] {
    return cudaMemPoolGetAccess(reinterpret_cast<cudaMemAccessFlags*>(flags), pool,
                                reinterpret_cast<cudaMemLocation*>(location));
  });
}
