#include "runtime/cudart/streams.h"

#include <algorithm>

#include "base/work.h"

namespace lab32::cudart {

Contexts::Contexts(int devices) : primaries_(index(devices)) {
  for (int device = 0; device < devices; ++device) {
    primary(device)->device = device;
    primary(device)->id = ++serial_;
  }
}

Contexts::Context Contexts::make(unsigned flags, int device) {
  auto* context = new CUctx_st{device, flags, ++serial_, {}};
  made_.insert(context);
  return context;
}

void Contexts::drop(Context context) {
  made_.erase(context);
  if (current() == context) context_stack().pop_back();
  // Other threads may have the context on their stacks, so the object is kept and its address is
  // never reused.
  context->memory.clear();
}

bool Contexts::knows(Context context) const {
  return is_primary(context) || made_.count(context) != 0;
}

bool Contexts::is_primary(Context context) const {
  return std::any_of(primaries_.begin(), primaries_.end(),
                     [&](const PrimaryContext& p) { return &p.context == context; });
}

bool Contexts::release_primary_and_test_last(int device) {
  int& retained = primaries_[index(device)].retained;
  return retained > 0 && --retained == 0;
}

bool Contexts::is_primary_active(int device) const {
  const PrimaryContext& p = primaries_[index(device)];
  return p.retained > 0 || p.in_use_by_runtime;
}

std::atomic<bool>& Contexts::is_driver_initialised() {
  static std::atomic<bool> called{false};
  return called;
}

void Contexts::ensure_current_context() {
  is_driver_initialised() = true;
  if (!current()) use_device(chosen_device());
}

void Contexts::use_device(int device) {
  chosen_device() = device;
  primaries_[index(device)].in_use_by_runtime = true;
  set_current(primary(device));
}

Contexts::Context Contexts::owner_of_allocation(uint64_t begin) {
  for (PrimaryContext& p : primaries_)
    if (p.context.memory.count(begin) != 0) return &p.context;
  for (Context context : made_)
    if (context->memory.count(begin) != 0) return context;
  return nullptr;
}

int& Contexts::chosen_device() {
  thread_local int device = 0;
  return device;
}

int Contexts::current_device() { return current() ? current()->device : chosen_device(); }

std::vector<Contexts::Context>& Contexts::context_stack() {
  struct OfContexts;
  return thread_variable<std::vector<Context>, OfContexts>();
}

void Contexts::set_current(Context context) {
  if (!context_stack().empty()) context_stack().pop_back();
  if (context) context_stack().push_back(context);
}

cudaStream_t Streams::make(unsigned flags, int priority) {
  // The numbers 1 and 2 are taken by cudaStreamLegacy and cudaStreamPerThread.
  auto* stream = new CUstream_st{static_cast<int>(device_of_current_call()), Contexts::current(),
                                 flags, priority, ++serial_ + 2};
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
  return is_default(stream) ? static_cast<int>(device_of_current_call()) : stream->device;
}

bool Streams::is_on_current_device(cudaStream_t stream) const {
  return device(stream) == static_cast<int>(device_of_current_call());
}

bool Streams::is_on_current_device(cudaEvent_t event) const {
  return event->device == static_cast<int>(device_of_current_call());
}

cudaEvent_t Streams::make_event(unsigned flags) {
  auto* event = new CUevent_st;
  event->device = static_cast<int>(device_of_current_call());
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
