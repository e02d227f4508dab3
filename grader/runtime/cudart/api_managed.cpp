// Hints for managed memory, and what was said in them. It is one set of pages: nothing migrates,
// and hints change nothing else.

#include "runtime/cudart/call.h"

using namespace lab32::cudart;

namespace {

bool is_there(const Runtime& r, const cudaMemLocation& location) {
  return location.type != cudaMemLocationTypeDevice || r.has_device(location.id);
}

// The pages of managed memory that hold these bytes; none: it is another's, or there are no bytes.
// `whole`: all of them must be there.
std::optional<ManagedRanges::Range> managed_pages(Runtime& r, const void* pointer, size_t bytes,
                                                  bool whole) {
  const Held* held = r.allocations.find(pointer);
  const auto begin = reinterpret_cast<uint64_t>(pointer);
  const lab32::sim::Allocation* memory = r.memory.find(begin);
  const bool managed = held ? held->home == Home::managed : memory && memory->shared_with_host;
  if (bytes == 0 || !managed || !memory) return std::nullopt;
  if (whole && bytes > memory->end - begin) return std::nullopt;
  return ManagedRanges::pages(memory->begin, memory->end, begin, begin + bytes);
}

cudaError_t read_attributes(const char* name, void** data, const size_t* sizes,
                            const cudaMemRangeAttribute* attributes, size_t count,
                            const void* pointer, size_t bytes) {
  return call(name, Waits::no, [&](Runtime& r) {
    if (!data || !sizes || !attributes || count == 0) return cudaErrorInvalidValue;
    const auto range = managed_pages(r, pointer, bytes, true);
    if (!range) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (!data[i] || !r.managed.read(*range, attributes[i], data[i], sizes[i]))
        return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

}  // namespace

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return call("cudaMemPrefetchAsync", Waits::no, [&](Runtime& r) {
    if (!r.streams.knows(stream)) return cudaErrorInvalidResourceHandle;
    if (!is_there(r, location)) return cudaErrorInvalidDevice;
    const auto range = managed_pages(r, pointer, bytes, false);
    if (flags != 0 || !range) return cudaErrorInvalidValue;
    r.managed.prefetch(*range, location);
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaMemPrefetchAsync, _ptsz);

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return call("cudaMemAdvise", Waits::no, [&](Runtime& r) {
    if (!is_there(r, location)) return cudaErrorInvalidValue;
    const auto range = managed_pages(r, pointer, bytes, false);
    return range && r.managed.advise(*range, advice, location) ? cudaSuccess
                                                               : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t size, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t bytes) {
  return read_attributes("cudaMemRangeGetAttribute", &data, &size, &attribute, 1, pointer, bytes);
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* sizes, cudaMemRangeAttribute* attributes,
                                      size_t count, const void* pointer, size_t bytes) {
  return read_attributes("cudaMemRangeGetAttributes", data, sizes, attributes, count, pointer,
                         bytes);
}
