// User objects: the program's own, kept for as long as graphs need them.
#include <algorithm>
#include <climits>

#include "runtime/cudart/call.h"
#include "runtime/cudart/graph_calls.h"

using namespace lab32::cudart;

namespace {

bool is_count(unsigned count) { return count != 0 && count <= INT_MAX; }

cudaError_t with_object(const char* name, cudaUserObject_t object, unsigned count,
                        const GraphBody& body) {
  return call(name, Waits::no, [&](Runtime& r) {
    if (!r.graphs.objects().knows(object) || !is_count(count)) return cudaErrorInvalidValue;
    return body(r);
  });
}

}  // namespace

cudaError_t cudaUserObjectCreate(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy,
                                 unsigned references, unsigned flags) {
  return call("cudaUserObjectCreate", Waits::no, [&](Runtime& r) {
    if (!out || !destroy || !is_count(references) || flags != cudaUserObjectNoDestructorSync)
      return cudaErrorInvalidValue;
    *out = r.graphs.objects().make(pointer, destroy, references);
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return with_object("cudaUserObjectRetain", object, count, [&](Runtime& r) {
    r.graphs.objects().retain(object, count);
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return with_object("cudaUserObjectRelease", object, count, [&](Runtime& r) {
    return r.graphs.objects().release(object, count) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return with_object("cudaGraphRetainUserObject", object, count, [&](Runtime& r) {
    if (!r.graphs.knows(graph) || (flags & ~unsigned{cudaGraphUserObjectMove}) != 0)
      return cudaErrorInvalidValue;
    if (flags == 0) r.graphs.objects().retain(object, count);
    graph->objects[object] += count;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return with_object("cudaGraphReleaseUserObject", object, count, [&](Runtime& r) {
    if (!r.graphs.knows(graph)) return cudaErrorInvalidValue;
    // Also references that the graph has not are given up (H100).
    const auto owned = graph->objects.find(object);
    if (owned != graph->objects.end()) {
      owned->second -= std::min<uint64_t>(owned->second, count);
      if (owned->second == 0) graph->objects.erase(owned);
    }
    return r.graphs.objects().release(object, count) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
