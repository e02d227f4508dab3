#include "cudart/contexts.h"

namespace lab32::cudart {

Contexts::Context Contexts::make(unsigned flags) {
  auto* context = new CUctx_st{flags, ++serial_, {}};
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
  return context == &primary_ || made_.count(context) != 0;
}

std::atomic<bool>& Contexts::initialised() {
  static std::atomic<bool> called{false};
  return called;
}

void Contexts::use_primary() {
  initialised() = true;
  if (current()) return;
  in_use_by_runtime_ = true;
  set_current(&primary_);
}

std::vector<Contexts::Context>& Contexts::stack() {
  thread_local std::vector<Context> contexts;
  return contexts;
}

void Contexts::set_current(Context context) {
  if (!stack().empty()) stack().pop_back();
  if (context) stack().push_back(context);
}

}  // namespace lab32::cudart
