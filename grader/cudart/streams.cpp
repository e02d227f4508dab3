#include "cudart/streams.h"

namespace lab32::cudart {

cudaStream_t Streams::make(unsigned flags, int priority) {
  // 1 and 2 are cudaStreamLegacy's and cudaStreamPerThread's.
  auto* stream = new CUstream_st{flags, priority, ++serial_ + 2};
  streams_.insert(stream);
  return stream;
}

void Streams::drop(cudaStream_t stream) {
  streams_.erase(stream);
  delete stream;
}

bool Streams::is_default(cudaStream_t stream) const {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

bool Streams::knows(cudaStream_t stream) const {
  return is_default(stream) || streams_.count(stream) != 0;
}

unsigned long long Streams::id(cudaStream_t stream) const {
  if (stream == cudaStreamPerThread) return 2;
  return is_default(stream) ? 1 : stream->id;
}

cudaEvent_t Streams::make_event(unsigned flags) {
  auto* event = new CUevent_st;
  event->flags = flags;
  events_.insert(event);
  return event;
}

void Streams::record(cudaEvent_t event, double at) {
  event->recorded = true;
  event->at = at;
  if (!(event->flags & cudaEventDisableTiming)) timed_ = true;
}

void Streams::drop(cudaEvent_t event) {
  events_.erase(event);
  delete event;
}

}  // namespace lab32::cudart
