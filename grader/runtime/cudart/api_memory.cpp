// Functions that allocate and free device, pinned and managed memory, and that query pointers.

#include <fmt/format.h>

#include "base/error.h"
#include "base/memory.h"
#include "runtime/cudart/call.h"

using namespace lab32::cudart;

namespace {

// Rows of cudaMallocPitch begin at multiples of this on every GPU since Fermi
// (cudaDeviceProp::textureAlignment).
constexpr size_t kPitch = 512;

cudaError_t allocate(const char* name, void** out, size_t bytes, MemoryKind home, unsigned flags) {
  return call(name, Waits::no, [&](Runtime& r) {
    if (!out) return cudaErrorInvalidValue;
    *out = nullptr;
    if (bytes == 0) return cudaSuccess;
    const AllocationInfo* held = r.allocations.allocate(bytes, home, name);
    if (!held) return cudaErrorMemoryAllocation;
    *out = reinterpret_cast<void*>(held->begin);
    r.allocations.find(*out)->flags = flags;
    return cudaSuccess;
  });
}

std::string reason_not_freed(const Runtime& r, const void* pointer, const AllocationInfo* held) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const lab32::sim::Allocation* in = r.memory.find(address);
  if (!in) return "the pointer is not to memory that this function frees";
  if (in->freed) return fmt::format("the program has freed `{}` before", in->name);
  if (address != in->begin)
    return fmt::format("the pointer is to byte {} of `{}`, not to its start", address - in->begin,
                       in->name);
  return held && held->home == MemoryKind::pinned
             ? fmt::format("`{}` is pinned host memory: cudaFreeHost frees it", in->name)
             : fmt::format("`{}` is freed in another way", in->name);
}

void free_allocation_if_still_held(const void* pointer) {
  const std::lock_guard<std::recursive_mutex> lock(runtime_lock());
  Allocations& all = runtime().allocations;
  const AllocationInfo* held = all.find(pointer);
  if (held && held->begin == reinterpret_cast<uint64_t>(pointer)) all.free(held->begin);
}

// Frees the allocation that begins at the pointer, if `passes` accepts its kind; otherwise returns
// the error.
template <class Passes>
cudaError_t free_memory_of_kind(const char* name, void* pointer, Passes&& passes) {
  // cudaFree waits for the device.
  const cudaError_t error = call(name, Waits::yes, [&](Runtime& r) {
    if (!pointer) return cudaSuccess;
    const AllocationInfo* held = r.allocations.find(pointer);
    if (!held || held->begin != reinterpret_cast<uint64_t>(pointer) || !passes(held->home))
      return fail(cudaErrorInvalidValue, reason_not_freed(r, pointer, held));
    r.allocations.free(held->begin);
    return cudaSuccess;
  });
  // The destructor of a static variable frees the memory, too late for the runtime, but it is no
  // leak.
  if (error == cudaErrorCudartUnloading) free_allocation_if_still_held(pointer);
  return error;
}

}  // namespace

cudaError_t cudaMalloc(void** out, size_t bytes) {
  return allocate("cudaMalloc", out, bytes, MemoryKind::device, 0);
}

cudaError_t cudaFree(void* pointer) {
  return free_memory_of_kind("cudaFree", pointer,
                             [](MemoryKind home) { return home != MemoryKind::pinned; });
}

cudaError_t cudaMallocHost(void** out, size_t bytes) {
  return allocate("cudaMallocHost", out, bytes, MemoryKind::pinned, cudaHostAllocDefault);
}

cudaError_t cudaHostAlloc(void** out, size_t bytes, unsigned flags) {
  if (flags & ~static_cast<unsigned>(cudaHostAllocPortable | cudaHostAllocMapped |
                                     cudaHostAllocWriteCombined))
    return store_last_error(cudaErrorInvalidValue);
  return allocate("cudaHostAlloc", out, bytes, MemoryKind::pinned, flags);
}

cudaError_t cudaFreeHost(void* pointer) {
  return free_memory_of_kind("cudaFreeHost", pointer,
                             [](MemoryKind home) { return home == MemoryKind::pinned; });
}

cudaError_t cudaMallocManaged(void** out, size_t bytes, unsigned flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
    return store_last_error(cudaErrorInvalidValue);
  return allocate("cudaMallocManaged", out, bytes, MemoryKind::managed, flags);
}

cudaError_t cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height) {
  if (!pitch) return store_last_error(cudaErrorInvalidValue);
  *pitch = lab32::align_up(width, kPitch);
  return allocate("cudaMallocPitch", out, *pitch * height, MemoryKind::device, 0);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
  if (!out) return store_last_error(cudaErrorInvalidValue);
  void* pointer = nullptr;
  size_t pitch = 0;
  const cudaError_t error =
      cudaMallocPitch(&pointer, &pitch, extent.width, extent.height * extent.depth);
  *out = {pointer, pitch, extent.width, extent.height};
  return error;
}

cudaError_t cudaHostGetDevicePointer(void** out, void* host, unsigned flags) {
  return call("cudaHostGetDevicePointer", Waits::no, [&](Runtime& r) {
    if (!out || flags != 0) return cudaErrorInvalidValue;
    const AllocationInfo* held = r.allocations.find(host);
    if (held && held->home == MemoryKind::pinned) {
      *out = host;  // host and device share one address space
      return cudaSuccess;
    }
    if (const auto* at = r.allocations.find_registered(host)) {
      const uint64_t offset = reinterpret_cast<uint64_t>(host) - at->first;
      *out = reinterpret_cast<void*>(at->second.device_address + offset);
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call("cudaHostGetFlags", Waits::no, [&](Runtime& r) {
    if (!flags) return cudaErrorInvalidValue;
    const AllocationInfo* held = r.allocations.find(host);
    const auto* registered = r.allocations.find_registered(host);
    if (held && held->home == MemoryKind::pinned)
      *flags = held->flags | cudaHostAllocMapped;
    else if (registered)
      *flags = registered->second.flags | cudaHostRegisterMapped;
    else
      return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void* host, size_t bytes, unsigned flags) {
  return call("cudaHostRegister", Waits::no, [&](Runtime& r) {
    if (!host || bytes == 0) return cudaErrorInvalidValue;
    if (r.allocations.find(host) || r.allocations.find_registered(host) ||
        r.allocations.find_registered(static_cast<char*>(host) + bytes - 1))
      return cudaErrorHostMemoryAlreadyRegistered;
    if (flags & cudaHostRegisterIoMemory)
      throw lab32::Error("memory of other devices is not simulated");
    RegisteredHostMemory registered;
    registered.bytes = bytes;
    registered.device = r.gpu().number;
    registered.flags = flags;
    registered.device_address = r.memory.share_host_memory(host, bytes, "registered host memory");
    r.allocations.registered()[reinterpret_cast<uint64_t>(host)] = registered;
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* host) {
  return call("cudaHostUnregister", Waits::yes, [&](Runtime& r) {
    auto& all = r.allocations.registered();
    const auto at = all.find(reinterpret_cast<uint64_t>(host));
    if (at == all.end()) return cudaErrorHostMemoryNotRegistered;
    r.memory.release(at->second.device_address);
    all.erase(at);
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call("cudaMemGetInfo", Waits::no, [&](Runtime& r) {
    const size_t capacity = r.allocations.capacity();
    if (total) *total = capacity;
    if (free) *free = capacity - r.allocations.used(r.gpu().number);
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  return call("cudaPointerGetAttributes", Waits::regardless, [&](Runtime& r) {
    if (!out) return cudaErrorInvalidValue;
    cudaPointerAttributes a{};
    a.type = cudaMemoryTypeUnregistered;
    a.device = cudaInvalidDeviceId;
    a.hostPointer = const_cast<void*>(pointer);
    const auto address = reinterpret_cast<uint64_t>(pointer);
    const lab32::sim::Allocation* allocation = r.memory.find(address);
    if (const AllocationInfo* held = r.allocations.find(pointer)) {
      a.type = held->home == MemoryKind::device    ? cudaMemoryTypeDevice
               : held->home == MemoryKind::managed ? cudaMemoryTypeManaged
                                                   : cudaMemoryTypeHost;
      a.device = held->device;
      a.devicePointer = const_cast<void*>(pointer);
      if (held->home == MemoryKind::device) a.hostPointer = nullptr;
    } else if (const auto* at = r.allocations.find_registered(pointer)) {
      a.type = cudaMemoryTypeHost;
      a.device = at->second.device;
      a.devicePointer = reinterpret_cast<void*>(at->second.device_address + address - at->first);
    } else if (allocation && !allocation->freed) {  // a __device__ variable
      a.type = allocation->shared_with_host ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
      a.device = static_cast<int>(allocation->device);
      a.devicePointer = const_cast<void*>(pointer);
      if (!allocation->shared_with_host) a.hostPointer = nullptr;
    }
    *out = a;
    return cudaSuccess;
  });
}

// Hints for managed memory, and queries of earlier hints. Host and device share the pages, so
// nothing migrates and hints have no other effect.

namespace {

bool location_exists(const Runtime& r, const cudaMemLocation& location) {
  return location.type != cudaMemLocationTypeDevice || r.has_device(location.id);
}

// The managed pages that contain these bytes. nullopt: the range is empty or not managed. `whole`
// requires that all its pages are managed.
std::optional<ManagedMemoryAdviceMap::PageAlignedRange> managed_pages(Runtime& r,
                                                                      const void* pointer,
                                                                      size_t bytes, bool whole) {
  const AllocationInfo* held = r.allocations.find(pointer);
  const auto begin = reinterpret_cast<uint64_t>(pointer);
  const lab32::sim::Allocation* memory = r.memory.find(begin);
  const bool managed =
      held ? held->home == MemoryKind::managed : memory && memory->shared_with_host;
  if (bytes == 0 || !managed || !memory) return std::nullopt;
  if (whole && bytes > memory->end - begin) return std::nullopt;
  return ManagedMemoryAdviceMap::page_range(memory->begin, memory->end, begin, begin + bytes);
}

cudaError_t read_range_attributes(const char* name, void** data, const size_t* sizes,
                                  const cudaMemRangeAttribute* attributes, size_t count,
                                  const void* pointer, size_t bytes) {
  return call(name, Waits::no, [&](Runtime& r) {
    if (!data || !sizes || !attributes || count == 0) return cudaErrorInvalidValue;
    const auto range = managed_pages(r, pointer, bytes, true);
    if (!range) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (!data[i] || !r.managed.read_range_attribute(*range, attributes[i], data[i], sizes[i]))
        return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

}  // namespace

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return call("cudaMemPrefetchAsync", Waits::no, [&](Runtime& r) {
    if (!r.streams.knows(stream)) return cudaErrorInvalidResourceHandle;
    if (!location_exists(r, location)) return cudaErrorInvalidDevice;
    const auto range = managed_pages(r, pointer, bytes, false);
    if (flags != 0 || !range) return cudaErrorInvalidValue;
    r.managed.record_prefetch_location(*range, location);
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaMemPrefetchAsync, _ptsz);

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return call("cudaMemAdvise", Waits::no, [&](Runtime& r) {
    if (!location_exists(r, location)) return cudaErrorInvalidValue;
    const auto range = managed_pages(r, pointer, bytes, false);
    return range && r.managed.advise(*range, advice, location) ? cudaSuccess
                                                               : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t size, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t bytes) {
  return read_range_attributes("cudaMemRangeGetAttribute", &data, &size, &attribute, 1, pointer,
                               bytes);
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* sizes, cudaMemRangeAttribute* attributes,
                                      size_t count, const void* pointer, size_t bytes) {
  return read_range_attributes("cudaMemRangeGetAttributes", data, sizes, attributes, count, pointer,
                               bytes);
}
