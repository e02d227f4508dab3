// Functions of streams, host functions, events and stream capture.

#include "runtime/cudart/call.h"
#include "runtime/cudart/graph_work.h"

using namespace lab32::cudart;

namespace {

// The priorities of compute capability 9.0: 0 is the lowest, -5 the highest.
constexpr int kLeastPriority = 0, kGreatestPriority = -5;

cudaError_t with_stream(const char* name, Waits waits, cudaStream_t stream,
                        const std::function<cudaError_t(Runtime&)>& body) {
  return call(name, waits, [&](Runtime& r) {
    return r.streams.knows(stream) ? body(r) : cudaErrorInvalidResourceHandle;
  });
}

// A captured stream only records its work, so waiting for it would never end.
cudaError_t wait_for_stream(const char* name, cudaStream_t stream) {
  return with_stream(name, Waits::yes, stream, [&](Runtime& r) {
    r.wait_for(r.gpu(r.streams.device(stream)));
    if (r.sticky) return r.sticky;
    if (!r.captures.captures(stream)) return cudaSuccess;
    r.captures.invalidate(stream);
    return cudaErrorStreamCaptureUnsupported;
  });
}

bool is_stream_attribute(cudaStreamAttrID id) {
  return id == cudaStreamAttributeAccessPolicyWindow ||
         id == cudaStreamAttributeSynchronizationPolicy || id == cudaStreamAttributePriority ||
         id == cudaStreamAttributeMemSyncDomainMap || id == cudaStreamAttributeMemSyncDomain;
}

cudaError_t with_event(const char* name, Waits waits, cudaEvent_t event,
                       const std::function<cudaError_t(Runtime&)>& body) {
  return call(name, waits, [&](Runtime& r) {
    if (!r.streams.knows(event)) return cudaErrorInvalidResourceHandle;
    if (waits == Waits::yes && !r.streams.is_on_current_device(event)) {
      r.wait_for(r.gpu(event->device));
      if (r.sticky) return r.sticky;
    }
    return body(r);
  });
}

}  // namespace

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int priority) {
  return call("cudaStreamCreate", Waits::no, [&](Runtime& r) {
    if (!out || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking))
      return cudaErrorInvalidValue;
    *out = r.streams.make(flags, std::min(kLeastPriority, std::max(kGreatestPriority, priority)));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* out) {
  return cudaStreamCreateWithPriority(out, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) {
  return cudaStreamCreateWithPriority(out, flags, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return with_stream("cudaStreamDestroy", Waits::no, stream, [&](Runtime& r) {
    if (r.streams.is_default(stream)) return cudaErrorInvalidResourceHandle;
    r.streams.drop(stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return wait_for_stream("cudaStreamSynchronize", stream);
}
LAB32_PER_THREAD(cudaStreamSynchronize, _ptsz);

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return wait_for_stream("cudaStreamQuery", stream);
}
LAB32_PER_THREAD(cudaStreamQuery, _ptsz);

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return with_stream("cudaStreamWaitEvent", Waits::no, stream, [&](Runtime& r) {
    if (!r.streams.knows(event)) return cudaErrorInvalidResourceHandle;
    if (flags > cudaEventWaitExternal) return cudaErrorInvalidValue;
    if (flags == cudaEventWaitExternal && r.captures.captures(stream))
      return r.captures.add(stream, cudaGraphNodeTypeWaitEvent, {});
    if (r.captures.is_captured(event)) return r.captures.wait(stream, event);
    if (!r.captures.captures(stream)) {
      if (event->recorded) r.gpu(r.streams.device(stream)).timeline.wait_for(event->at);
      return cudaSuccess;
    }
    // Inside a capture, an event recorded before it can be waited for only as an external event.
    r.captures.invalidate(stream);
    return cudaErrorStreamCaptureIsolation;
  });
}
LAB32_PER_THREAD(cudaStreamWaitEvent, _ptsz);

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return with_stream("cudaStreamGetFlags", Waits::no, stream, [&](Runtime& r) {
    if (!flags) return cudaErrorInvalidValue;
    *flags = r.streams.is_default(stream) ? cudaStreamDefault : stream->flags;
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaStreamGetFlags, _ptsz);

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return with_stream("cudaStreamGetPriority", Waits::no, stream, [&](Runtime& r) {
    if (!priority) return cudaErrorInvalidValue;
    *priority = r.streams.is_default(stream) ? 0 : stream->priority;
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaStreamGetPriority, _ptsz);

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return with_stream("cudaStreamGetId", Waits::no, stream, [&](Runtime& r) {
    if (!id) return cudaErrorInvalidValue;
    *id = r.streams.id(stream);
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaStreamGetId, _ptsz);

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return with_stream("cudaStreamGetDevice", Waits::no, stream, [&](Runtime& r) {
    if (!device) return cudaErrorInvalidValue;
    *device = r.streams.device(stream);
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaStreamGetDevice, _ptsz);

// All attributes are hints without effect, except the priority, which is fixed when the stream is
// created.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   const cudaStreamAttrValue* value) {
  return with_stream("cudaStreamSetAttribute", Waits::no, stream, [&](Runtime& r) {
    if (!value || !is_stream_attribute(id)) return cudaErrorInvalidValue;
    r.streams.attributes(stream)[id] = *value;
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaStreamSetAttribute, _ptsz);

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   cudaStreamAttrValue* value) {
  return with_stream("cudaStreamGetAttribute", Waits::no, stream, [&](Runtime& r) {
    if (!value || !is_stream_attribute(id)) return cudaErrorInvalidValue;
    const auto& set = r.streams.attributes(stream);
    const auto at = set.find(id);
    *value = at == set.end() ? cudaStreamAttrValue{} : at->second;
    if (at != set.end()) return cudaSuccess;
    if (id == cudaStreamAttributeSynchronizationPolicy) value->syncPolicy = cudaSyncPolicyAuto;
    if (id == cudaStreamAttributePriority && !r.streams.is_default(stream))
      value->priority = stream->priority;
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaStreamGetAttribute, _ptsz);

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return with_stream("cudaStreamCopyAttributes", Waits::no, to, [&](Runtime& r) {
    if (!r.streams.knows(from)) return cudaErrorInvalidResourceHandle;
    r.streams.attributes(to) = r.streams.attributes(from);
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaStreamCopyAttributes, _ptsz);

// Managed memory is visible to every stream and to the host at any time.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t, unsigned) {
  return with_stream("cudaStreamAttachMemAsync", Waits::no, stream, [&](Runtime& r) {
    const lab32::sim::Allocation* a = r.memory.find(reinterpret_cast<uint64_t>(pointer));
    return a && a->shared_with_host ? cudaSuccess : cudaErrorInvalidValue;
  });
}
LAB32_PER_THREAD(cudaStreamAttachMemAsync, _ptsz);

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call("cudaDeviceGetStreamPriorityRange", Waits::no, [&](Runtime&) {
    if (least) *least = kLeastPriority;
    if (greatest) *greatest = kGreatestPriority;
    return cudaSuccess;
  });
}

// All earlier work is done. The function runs without the runtime's lock, because it may wait for
// another thread.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  bool wanted = false;
  const cudaError_t error = with_stream("cudaLaunchHostFunc", Waits::no, stream, [&](Runtime& r) {
    if (!function) return cudaErrorInvalidValue;
    if (r.captures.captures(stream))
      return r.captures.add(stream, cudaGraphNodeTypeHost, {{}, [=] { function(data); }, {}});
    wanted = !r.gpu(r.streams.device(stream)).fault;
    r.unfinished.clear();
    return cudaSuccess;
  });
  if (wanted) function(data);
  return error;
}
LAB32_PER_THREAD(cudaLaunchHostFunc, _ptsz);

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data,
                                  unsigned flags) {
  cudaError_t status = cudaSuccess;
  bool wanted = false;
  const cudaError_t error =
      with_stream("cudaStreamAddCallback", Waits::no, stream, [&](Runtime& r) {
        if (!function || flags != 0) return cudaErrorInvalidValue;
        if (r.captures.captures(stream)) {
          r.captures.invalidate(stream);
          return cudaErrorStreamCaptureUnsupported;
        }
        wanted = true;
        r.unfinished.clear();
        const auto& fault = r.gpu(r.streams.device(stream)).fault;
        if (fault) status = *fault;
        return cudaSuccess;
      });
  if (wanted) function(stream, status, data);
  return error;
}
LAB32_PER_THREAD(cudaStreamAddCallback, _ptsz);

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  return call("cudaEventCreate", Waits::no, [&](Runtime& r) {
    constexpr unsigned kKnown =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    // Only an event that records no times can be shared with other processes.
    const bool untimed = flags & cudaEventDisableTiming;
    if (!out || (flags & ~kKnown) || ((flags & cudaEventInterprocess) && !untimed))
      return cudaErrorInvalidValue;
    *out = r.streams.make_event(flags);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* out) {
  return cudaEventCreateWithFlags(out, cudaEventDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return with_event("cudaEventRecord", Waits::no, event, [&](Runtime& r) {
    if (!r.streams.knows(stream) || r.streams.device(stream) != event->device)
      return cudaErrorInvalidResourceHandle;
    if (flags > cudaEventRecordExternal) return cudaErrorInvalidValue;
    if (flags == cudaEventRecordExternal && r.captures.captures(stream))
      return r.captures.add(stream, cudaGraphNodeTypeEventRecord, event_record_work(event));
    r.captures.record(event, stream);
    if (!r.captures.captures(stream)) r.streams.record(event, r.gpu(event->device).timeline.now());
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaEventRecordWithFlags, _ptsz);

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
LAB32_PER_THREAD(cudaEventRecord, _ptsz);

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_event("cudaEventSynchronize", Waits::yes, event, [&](Runtime& r) {
    return r.captures.is_captured(event) ? cudaErrorCapturedEvent : cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with_event("cudaEventQuery", Waits::yes, event, [&](Runtime& r) {
    return r.captures.is_captured(event) ? cudaErrorCapturedEvent : cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return with_event("cudaEventElapsedTime", Waits::yes, start, [&](Runtime& r) {
    if (!r.streams.knows(end) || start->device != end->device)
      return cudaErrorInvalidResourceHandle;
    if (!milliseconds) return cudaErrorInvalidValue;
    for (cudaEvent_t event : {start, end})
      if (!event->recorded || (event->flags & cudaEventDisableTiming))
        return cudaErrorInvalidResourceHandle;
    *milliseconds = static_cast<float>((end->at - start->at) * 1e3);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return with_event("cudaEventDestroy", Waits::no, event, [&](Runtime& r) {
    r.captures.forget(event);
    r.streams.drop(event);
    return cudaSuccess;
  });
}

// Stream capture: the stream's work becomes a graph.

namespace {

cudaError_t with_stream(const char* name, cudaStream_t stream,
                        const std::function<cudaError_t(Runtime&)>& body) {
  return call(name, Waits::no, [&](Runtime& r) {
    return r.streams.knows(stream) ? body(r) : cudaErrorInvalidResourceHandle;
  });
}

}  // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return with_stream("cudaStreamBeginCapture", stream, [&](Runtime& r) {
    if (stream == nullptr || stream == cudaStreamLegacy) return cudaErrorStreamCaptureUnsupported;
    return r.captures.begin(stream, mode);
  });
}
LAB32_PER_THREAD(cudaStreamBeginCapture, _ptsz);

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return with_stream("cudaStreamEndCapture", stream, [&](Runtime& r) {
    cudaGraph_t ended = nullptr;
    // `graph` may be null only if the capture extends a graph that the program already has.
    if (!graph && !r.captures.extends_program_graph(stream)) return cudaErrorInvalidValue;
    return r.captures.end(stream, graph ? graph : &ended);
  });
}
LAB32_PER_THREAD(cudaStreamEndCapture, _ptsz);

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return with_stream("cudaStreamIsCapturing", stream, [&](Runtime& r) {
    if (!status) return cudaErrorInvalidValue;
    *status = r.captures.status(stream);
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaStreamIsCapturing, _ptsz);

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  return with_stream("cudaStreamGetCaptureInfo", stream, [&](Runtime& r) {
    if (!status) return cudaErrorInvalidValue;
    *status = r.captures.status(stream);
    if (*status == cudaStreamCaptureStatusNone) return cudaSuccess;
    const auto& last = r.captures.last_nodes(stream);
    if (id) *id = r.captures.id(stream);
    if (graph) *graph = r.captures.graph(stream);
    if (dependencies) *dependencies = last.data();
    if (edges) *edges = nullptr;
    if (count) *count = last.size();
    return cudaSuccess;
  });
}
LAB32_PER_THREAD(cudaStreamGetCaptureInfo, _ptsz);

// Selects which calls are unsafe while another thread captures. All calls are safe here, because
// work is done at once.
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call("cudaThreadExchangeStreamCaptureMode", Waits::no, [&](Runtime&) {
    thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    if (!mode) return cudaErrorInvalidValue;
    std::swap(current, *mode);
    return cudaSuccess;
  });
}
