// What nvcc's host code calls before main() and around <<<>>>.

#include <cstdlib>
#include <vector>

#include "base/work.h"
#include "runtime/cudart/call.h"
#include "runtime/cudart/launch.h"

using namespace lab32::cudart;

namespace {

Binary* binary_of(void** handle) { return reinterpret_cast<Binary*>(handle); }

// What a program does before main() is no call of the API: it makes no context current.
void note(const char* name, const std::function<cudaError_t(Runtime&)>& body) {
  const CalledAs not_the_program(name);
  call(name, Waits::no, body);
}

// <<<>>> pushes, the host stub pops: kernels may be launched while another's arguments are
// evaluated.
std::vector<LaunchRequest>& configurations() {
  struct OfLaunches;
  return lab32::kept_of_thread<std::vector<LaunchRequest>, OfLaunches>();
}

}  // namespace

void** __cudaRegisterFatBinary(void* wrapper) {
  void** handle = nullptr;
  note("__cudaRegisterFatBinary", [&](Runtime& r) {
    handle = reinterpret_cast<void**>(r.registry.add_binary(wrapper));
    return cudaSuccess;
  });
  return handle;
}

void __cudaRegisterFatBinaryEnd(void**) {}

// At the program's end, and when a library of its is unloaded.
void __cudaUnregisterFatBinary(void** handle) {
  if (!handle) return;
  const std::lock_guard<std::recursive_mutex> lock(runtime_lock());
  runtime().registry.remove_binary(binary_of(handle));
}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  if (!handle) return;
  note("__cudaRegisterFunction", [&](Runtime& r) {
    r.registry.add_kernel(binary_of(handle), host, name);
    return cudaSuccess;
  });
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t bytes, int,
                       int) {
  if (!handle) return;
  note("__cudaRegisterVar", [&](Runtime& r) {
    r.registry.add_variable(binary_of(handle), host, name, bytes);
    return cudaSuccess;
  });
}

void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int,
                              size_t bytes, int, int) {
  if (!handle) return;
  note("__cudaRegisterManagedVar", [&](Runtime& r) {
    r.registry.add_variable(binary_of(handle), host, name, bytes);
    binary_of(handle)->managed.emplace_back(host, name);
    return cudaSuccess;
  });
}

// Before the host touches a managed variable, which it then does without asking.
char __cudaInitModule(void** handle) {
  if (!handle) return 0;
  const cudaError_t error = call("__cudaInitModule", Waits::no, [&](Runtime& r) {
    r.registry.load(*binary_of(handle));
    return cudaSuccess;
  });
  if (error == cudaErrorNotSupported) std::exit(2);
  return error == cudaSuccess;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  LaunchRequest request;
  request.grid = grid;
  request.block = block;
  request.shared = shared;
  request.stream = stream;
  configurations().push_back(request);
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configurations().empty()) return remember(cudaErrorMissingConfiguration);
  const LaunchRequest request = configurations().back();
  configurations().pop_back();
  *grid = request.grid;
  *block = request.block;
  *shared = request.shared;
  *static_cast<cudaStream_t*>(stream) = request.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return cudaGetKernel(kernel, function);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                               size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, args, shared, stream);
}
LAB32_PER_THREAD(__cudaLaunchKernel, _ptsz);
