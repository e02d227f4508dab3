#include "runtime/cudart/refusals.h"

#include <fmt/core.h>

#include <algorithm>

#include "runtime/cudart/errors.h"

namespace lab32::cudart {

std::vector<std::string> refused_names() {
  std::vector<std::string> names = {
#define WORKS(name)
#define REFUSES(name) #name,
#include "runtime/cudart/api.def"
#undef WORKS
#undef REFUSES
  };
  std::sort(names.begin(), names.end());
  return names;
}

std::string refusal_of(const std::string& name) {
  return fmt::format("{} is not supported by the simulated runtime", name);
}

}  // namespace lab32::cudart

namespace {

// Arguments are not looked at: any may be passed to a function that takes none, in the calling
// convention of this platform (the caller cleans up).
cudaError_t not_there(const char* name) {
  lab32::cudart::refuse(lab32::cudart::refusal_of(name));
  return lab32::cudart::remember(cudaErrorNotSupported);
}

}  // namespace

// Under other names, since the toolkit's header declares them with their arguments.
#define WORKS(name)
#define REFUSES(name)                                                                       \
  extern "C" __attribute__((visibility("default"))) cudaError_t refuse_##name() asm(#name); \
  cudaError_t refuse_##name() { return not_there(#name); }
#include "runtime/cudart/api.def"
#undef WORKS
#undef REFUSES
