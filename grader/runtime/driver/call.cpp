#include "runtime/driver/call.h"

namespace lab32::driver {

CUresult result_of(cudaError_t error) {
  const int number = error;
  // What only the runtime has: configurations, pitches, symbols, directions of copies.
  constexpr int kRuntimes[][2] = {{9, 33}, {35, 45}, {47, 99}, {103, 199}};
  for (const auto& range : kRuntimes)
    if (number >= range[0] && number <= range[1]) return CUDA_ERROR_INVALID_VALUE;
  return static_cast<CUresult>(number);
}

CUresult missing(Needs needs) {
  if (needs == Needs::nothing) return CUDA_SUCCESS;
  const std::lock_guard<std::recursive_mutex> lock(cudart::runtime_lock());
  if (!cudart::Contexts::initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  if (needs == Needs::init) return CUDA_SUCCESS;
  cudart::Contexts::Context context = cudart::Contexts::current();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  return cudart::runtime().contexts.knows(context) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult call(const char* name, Needs needs, Waits waits,
              const std::function<CUresult(Runtime&)>& body) {
  // What needs no context does not find it faulty.
  if (needs != Needs::context && waits == Waits::no) waits = Waits::regardless;
  return forward(name, needs, [&] {
    return cudart::call(name, waits, [&](Runtime& r) { return error(body(r)); });
  });
}

}  // namespace lab32::driver
