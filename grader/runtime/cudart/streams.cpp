#include "runtime/cudart/streams.h"

#include "runtime/cudart/acting.h"

namespace lab32::cudart {

cudaStream_t Streams::make(unsigned flags, int priority) {
  // 1 and 2 are cudaStreamLegacy's and cudaStreamPerThread's.
  auto* stream = new CUstream_st{static_cast<int>(acting_device()), Contexts::current(), flags,
                                 priority, ++serial_ + 2};
  streams_.insert(stream);
  return stream;
}

void Streams::drop(cudaStream_t stream) {
  streams_.erase(stream);
  attributes_.erase(stream);
  delete stream;
}

std::map<int, cudaStreamAttrValue>& Streams::attributes(cudaStream_t stream) {
  return attributes_[stream];
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

int Streams::device(cudaStream_t stream) const {
  return is_default(stream) ? static_cast<int>(acting_device()) : stream->device;
}

bool Streams::is_here(cudaStream_t stream) const {
  return device(stream) == static_cast<int>(acting_device());
}

bool Streams::is_here(cudaEvent_t event) const {
  return event->device == static_cast<int>(acting_device());
}

cudaEvent_t Streams::make_event(unsigned flags) {
  auto* event = new CUevent_st;
  event->device = static_cast<int>(acting_device());
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
