#include "runtime/cudart/contexts.h"

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
  if (current() == context) stack().pop_back();
  // Other threads may have it on their stacks: its address stays its own.
  context->memory.clear();
}

bool Contexts::knows(Context context) const {
  return is_primary(context) || made_.count(context) != 0;
}

bool Contexts::is_primary(Context context) const {
  return std::any_of(primaries_.begin(), primaries_.end(),
                     [&](const Primary& p) { return &p.context == context; });
}

bool Contexts::release(int device) {
  int& retained = primaries_[index(device)].retained;
  return retained > 0 && --retained == 0;
}

bool Contexts::is_active(int device) const {
  const Primary& p = primaries_[index(device)];
  return p.retained > 0 || p.in_use_by_runtime;
}

std::atomic<bool>& Contexts::initialised() {
  static std::atomic<bool> called{false};
  return called;
}

void Contexts::use_primary() {
  initialised() = true;
  if (!current()) use(chosen_device());
}

void Contexts::use(int device) {
  chosen_device() = device;
  primaries_[index(device)].in_use_by_runtime = true;
  set_current(primary(device));
}

Contexts::Context Contexts::owner(uint64_t begin) {
  for (Primary& p : primaries_)
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

std::vector<Contexts::Context>& Contexts::stack() {
  struct OfContexts;
  return kept_of_thread<std::vector<Context>, OfContexts>();
}

void Contexts::set_current(Context context) {
  if (!stack().empty()) stack().pop_back();
  if (context) stack().push_back(context);
}

}  // namespace lab32::cudart
