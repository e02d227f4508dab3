// Stream-ordered allocation. Each call finishes its work before it returns, so memory is available
// and freed at once. A pool is a name, a counter, and the set of devices that reach its memory.

#include <array>
#include <set>

#include "base/error.h"
#include "runtime/cudart/call.h"
#include "runtime/cudart/graph_work.h"

struct CUmemPoolHandle_st {
  int device = 0;
  uint64_t reached_by = 1;  // a bit for each device
  uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};  // the three cudaMemPoolReuse* switches
  uint64_t used = 0, used_high = 0;
};

using namespace lab32::cudart;

namespace {

struct DevicePools {
  CUmemPoolHandle_st standard;
  cudaMemPool_t current = &standard;
};

struct MemoryPools {
  MemoryPools() {
    for (int i = 0; i < kMostDevices; ++i) {
      on(i).standard.device = i;
      on(i).standard.reached_by = uint64_t{1} << i;
    }
  }
  DevicePools& on(int device) { return devices[static_cast<size_t>(device)]; }
  bool knows(cudaMemPool_t pool) const {
    for (const DevicePools& own : devices)
      if (pool == &own.standard) return true;
    return made.count(pool) != 0;
  }

  std::array<DevicePools, kMostDevices> devices;
  std::set<cudaMemPool_t> made;
};

MemoryPools& pools() {
  static auto* all = new MemoryPools;
  return *all;
}

cudaError_t allocate(const char* name, void** out, size_t bytes, cudaMemPool_t pool,
                     cudaStream_t stream) {
  return call(name, Waits::no, [&](Runtime& r) {
    if (!r.streams.knows(stream)) return cudaErrorInvalidResourceHandle;
    if (!pool) pool = pools().on(r.streams.device(stream)).current;
    if (!out || !pools().knows(pool)) return cudaErrorInvalidValue;
    const DeviceScope on(r, pool->device);
    *out = nullptr;
    if (r.captures.captures(stream)) {
      cudaMemAllocNodeParams p{};
      p.poolProps.allocType = cudaMemAllocationTypePinned;
      p.poolProps.location = {cudaMemLocationTypeDevice, pool->device};
      p.bytesize = bytes;
      NodeWork work;
      if (const cudaError_t error = make_alloc_node_work(r, &p, &work)) return error;
      *out = p.dptr;
      return r.captures.add(stream, cudaGraphNodeTypeMemAlloc, std::move(work));
    }
    if (bytes == 0) return cudaSuccess;
    const AllocationInfo* held =
        r.allocations.allocate(bytes, MemoryKind::device, name, &pool->reached_by);
    if (!held) return cudaErrorMemoryAllocation;
    *out = reinterpret_cast<void*>(held->begin);
    r.allocations.find(*out)->pool = pool;
    pool->used += bytes;
    pool->used_high = std::max(pool->used_high, pool->used);
    return cudaSuccess;
  });
}

cudaError_t call_if_device_exists(const char* name, int device,
                                  const std::function<cudaError_t()>& body) {
  return call(name, Waits::no,
              [&](Runtime& r) { return r.has_device(device) ? body() : cudaErrorInvalidDevice; });
}

}  // namespace

cudaError_t cudaMallocAsync(void** out, size_t bytes, cudaStream_t stream) {
  return allocate("cudaMallocAsync", out, bytes, nullptr, stream);
}
LAB32_PER_THREAD(cudaMallocAsync, _ptsz);

cudaError_t cudaMallocFromPoolAsync(void** out, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  if (!pool) return store_last_error(cudaErrorInvalidValue);
  return allocate("cudaMallocFromPoolAsync", out, bytes, pool, stream);
}
LAB32_PER_THREAD(cudaMallocFromPoolAsync, _ptsz);

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call("cudaFreeAsync", Waits::no, [&](Runtime& r) {
    if (!r.streams.knows(stream)) return cudaErrorInvalidResourceHandle;
    if (r.captures.captures(stream)) {
      NodeWork work;
      if (const cudaError_t error =
              make_free_node_work(r, *r.captures.graph(stream), pointer, &work))
        return error;
      return r.captures.add(stream, cudaGraphNodeTypeMemFree, std::move(work));
    }
    if (!pointer) return cudaSuccess;
    const AllocationInfo* held = r.allocations.find(pointer);
    if (!held || held->begin != reinterpret_cast<uint64_t>(pointer) ||
        held->home != MemoryKind::device)
      return cudaErrorInvalidValue;
    if (held->pool && pools().knows(held->pool)) held->pool->used -= held->bytes;
    r.allocations.free(held->begin);
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaFreeAsync, _ptsz);

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call_if_device_exists("cudaDeviceGetDefaultMemPool", device, [&] {
    if (!pool) return cudaErrorInvalidValue;
    *pool = &pools().on(device).standard;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return call_if_device_exists("cudaDeviceGetMemPool", device, [&] {
    if (!pool) return cudaErrorInvalidValue;
    *pool = pools().on(device).current;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return call_if_device_exists("cudaDeviceSetMemPool", device, [&] {
    if (!pools().knows(pool) || pool->device != device) return cudaErrorInvalidValue;
    pools().on(device).current = pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call("cudaMemPoolCreate", Waits::no, [&](Runtime& r) {
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned)
      return cudaErrorInvalidValue;
    if (properties->location.type != cudaMemLocationTypeDevice)
      throw lab32::Error("pools of host memory are not simulated");
    if (!r.has_device(properties->location.id)) return cudaErrorInvalidValue;
    *pool = new CUmemPoolHandle_st;
    (*pool)->device = properties->location.id;
    (*pool)->reached_by = uint64_t{1} << properties->location.id;
    pools().made.insert(*pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call("cudaMemPoolDestroy", Waits::no, [&](Runtime& r) {
    if (pools().made.erase(pool) == 0) return cudaErrorInvalidValue;
    DevicePools& own = pools().on(pool->device);
    if (own.current == pool) own.current = &own.standard;
    r.allocations.detach_allocations_from_pool(pool);
    // Allocations from the pool remain accessible after it is destroyed, so the pool object
    // remains, too.
    return cudaSuccess;
  });
}

// This function does nothing: the simulated pool keeps no freed memory that it could release.
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return call("cudaMemPoolTrimTo", Waits::yes,
              [&](Runtime&) { return pools().knows(pool) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value) {
  return call("cudaMemPoolSetAttribute", Waits::no, [&](Runtime&) {
    if (!pools().knows(pool) || !value) return cudaErrorInvalidValue;
    switch (which) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        pool->reuse[which - cudaMemPoolReuseFollowEventDependencies] = *static_cast<int*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        pool->release_threshold = *static_cast<uint64_t*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        if (*static_cast<uint64_t*>(value) != 0) return cudaErrorInvalidValue;
        pool->used_high = pool->used;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value) {
  return call("cudaMemPoolGetAttribute", Waits::no, [&](Runtime&) {
    if (!pools().knows(pool) || !value) return cudaErrorInvalidValue;
    switch (which) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        *static_cast<int*>(value) = pool->reuse[which - cudaMemPoolReuseFollowEventDependencies];
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        *static_cast<uint64_t*>(value) = pool->release_threshold;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemCurrent:
      case cudaMemPoolAttrUsedMemCurrent:
        *static_cast<uint64_t*>(value) = pool->used;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        *static_cast<uint64_t*>(value) = pool->used_high;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

// A pool's own device always reaches its memory. Other devices need this function;
// cudaDeviceEnablePeerAccess() has no effect on pools.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) {
  return call("cudaMemPoolSetAccess", Waits::no, [&](Runtime& r) {
    if (!pools().knows(pool) || (count && !list)) return cudaErrorInvalidValue;
    uint64_t reached_by = pool->reached_by;
    for (size_t i = 0; i < count; ++i) {
      const int device = list[i].location.id;
      const bool may = list[i].flags == cudaMemAccessFlagsProtReadWrite;
      if (list[i].location.type != cudaMemLocationTypeDevice || !r.has_device(device) ||
          (device == pool->device && !may))
        return cudaErrorInvalidDevice;
      if (!may && list[i].flags != cudaMemAccessFlagsProtNone) return cudaErrorInvalidValue;
      const uint64_t bit = uint64_t{1} << device;
      reached_by = may ? reached_by | bit : reached_by & ~bit;
    }
    pool->reached_by = reached_by;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  return call("cudaMemPoolGetAccess", Waits::no, [&](Runtime& r) {
    if (!flags || !location || !pools().knows(pool)) return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice || !r.has_device(location->id))
      return cudaErrorInvalidDevice;
    *flags = (pool->reached_by >> location->id & 1) != 0 ? cudaMemAccessFlagsProtReadWrite
                                                         : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}
