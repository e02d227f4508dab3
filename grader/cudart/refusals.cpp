// The functions that are only there to say that they are not.

#include <fmt/core.h>

#include "cudart/errors.h"

namespace {

// Arguments are not looked at: any may be passed to a function that takes none, in the calling
// convention of this platform (the caller cleans up).
cudaError_t not_there(const char* name) {
  lab32::cudart::refuse(fmt::format("{} is not supported by the simulated runtime", name));
  return lab32::cudart::remember(cudaErrorNotSupported);
}

}  // namespace

// Under other names, since the toolkit's header declares them with their arguments.
#define WORKS(name)
#define REFUSES(name)                                                                       \
  extern "C" __attribute__((visibility("default"))) cudaError_t refuse_##name() asm(#name); \
  cudaError_t refuse_##name() { return not_there(#name); }
#include "cudart/api.def"
