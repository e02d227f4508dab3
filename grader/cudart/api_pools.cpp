// Stream-ordered allocation. Work is done when it is called for, so an allocation is there at once,
// and a free needs no stream to come along. A pool is a name and a count.

#include <set>

#include "base/error.h"
#include "cudart/call.h"

struct CUmemPoolHandle_st {
  uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};  // the three cudaMemPoolReuse* switches
  uint64_t used = 0, used_high = 0;
};

using namespace lab32::cudart;

namespace {

struct Pools {
  CUmemPoolHandle_st standard;
  cudaMemPool_t current = &standard;
  std::set<cudaMemPool_t> made;
  bool knows(cudaMemPool_t pool) const { return pool == &standard || made.count(pool) != 0; }
};

Pools& pools() {
  static auto* all = new Pools;
  return *all;
}

constexpr char kNotCaptured[] = "allocations in a stream that is captured are not simulated";

cudaError_t allocate(const char* name, void** out, size_t bytes, cudaMemPool_t pool,
                     cudaStream_t stream) {
  return call(name, Waits::no, [&](Runtime& r) {
    if (!pool) pool = pools().current;
    if (!out || !pools().knows(pool)) return cudaErrorInvalidValue;
    if (!r.streams.knows(stream)) return cudaErrorInvalidResourceHandle;
    if (r.captures.captures(stream)) throw lab32::Error(kNotCaptured);
    *out = nullptr;
    if (bytes == 0) return cudaSuccess;
    const Held* held = r.allocations.allocate(bytes, Home::device, name);
    if (!held) return cudaErrorMemoryAllocation;
    *out = reinterpret_cast<void*>(held->begin);
    r.allocations.find(*out)->pool = pool;
    pool->used += bytes;
    pool->used_high = std::max(pool->used_high, pool->used);
    return cudaSuccess;
  });
}

// By a device's ordinal or a location: there is one device.
cudaError_t give(const char* name, cudaMemPool_t* out, cudaMemPool_t pool, int device) {
  return call(name, Waits::no, [&](Runtime&) {
    if (!out) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *out = pool;
    return cudaSuccess;
  });
}

}  // namespace

cudaError_t cudaMallocAsync(void** out, size_t bytes, cudaStream_t stream) {
  return allocate("cudaMallocAsync", out, bytes, nullptr, stream);
}
LAB32_PER_THREAD(cudaMallocAsync, _ptsz);

cudaError_t cudaMallocFromPoolAsync(void** out, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  if (!pool) return remember(cudaErrorInvalidValue);
  return allocate("cudaMallocFromPoolAsync", out, bytes, pool, stream);
}
LAB32_PER_THREAD(cudaMallocFromPoolAsync, _ptsz);

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call("cudaFreeAsync", Waits::no, [&](Runtime& r) {
    if (!r.streams.knows(stream)) return cudaErrorInvalidResourceHandle;
    if (r.captures.captures(stream)) throw lab32::Error(kNotCaptured);
    if (!pointer) return cudaSuccess;
    const Held* held = r.allocations.find(pointer);
    if (!held || held->begin != reinterpret_cast<uint64_t>(pointer) || held->home != Home::device)
      return cudaErrorInvalidValue;
    if (held->pool && pools().knows(held->pool)) held->pool->used -= held->bytes;
    r.allocations.release(held->begin);
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaFreeAsync, _ptsz);

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return give("cudaDeviceGetDefaultMemPool", pool, &pools().standard, device);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return give("cudaDeviceGetMemPool", pool, pools().current, device);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return call("cudaDeviceSetMemPool", Waits::no, [&](Runtime&) {
    if (device != 0) return cudaErrorInvalidDevice;
    if (!pools().knows(pool)) return cudaErrorInvalidValue;
    pools().current = pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call("cudaMemPoolCreate", Waits::no, [&](Runtime&) {
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned)
      return cudaErrorInvalidValue;
    if (properties->location.type != cudaMemLocationTypeDevice)
      throw lab32::Error("pools of host memory are not simulated");
    if (properties->location.id != 0) return cudaErrorInvalidDevice;
    *pool = new CUmemPoolHandle_st;
    pools().made.insert(*pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call("cudaMemPoolDestroy", Waits::no, [&](Runtime& r) {
    if (pools().made.erase(pool) == 0) return cudaErrorInvalidValue;
    if (pools().current == pool) pools().current = &pools().standard;
    r.allocations.forget_pool(pool);
    delete pool;
    return cudaSuccess;
  });
}

// Nothing is kept that could be given back.
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

// The one device there is may always use a pool, and no other can be given leave to.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) {
  return call("cudaMemPoolSetAccess", Waits::no, [&](Runtime&) {
    if (!pools().knows(pool) || (count && !list)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (list[i].location.type != cudaMemLocationTypeDevice || list[i].location.id != 0 ||
          list[i].flags != cudaMemAccessFlagsProtReadWrite)
        return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  return call("cudaMemPoolGetAccess", Waits::no, [&](Runtime&) {
    if (!flags || !location || !pools().knows(pool)) return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice || location->id != 0)
      return cudaErrorInvalidDevice;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
  });
}
