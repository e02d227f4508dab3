// The runtime's functions for libraries that a program loads itself: the driver's.

#include "runtime/driver/call.h"

using namespace lab32::driver;

namespace {

// Under the runtime's name, whose error it is. Options and handles are the same under both.
template <class Same>
cudaError_t as_runtime(const char* name, Same&& same) {
  return lab32::cudart::call(name, Waits::no,
                             [&](Runtime&) { return static_cast<cudaError_t>(same()); });
}

}  // namespace

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* options,
                                void** values, unsigned count, cudaLibraryOption*, void**,
                                unsigned) {
  return as_runtime("cudaLibraryLoadData", [&] {
    return cuLibraryLoadData(library, code, reinterpret_cast<CUjit_option*>(options), values, count,
                             nullptr, nullptr, 0);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path,
                                    cudaJitOption* options, void** values, unsigned count,
                                    cudaLibraryOption*, void**, unsigned) {
  return as_runtime("cudaLibraryLoadFromFile", [&] {
    return cuLibraryLoadFromFile(library, path, reinterpret_cast<CUjit_option*>(options), values,
                                 count, nullptr, nullptr, 0);
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return as_runtime("cudaLibraryUnload", [&] { return cuLibraryUnload(library); });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return as_runtime("cudaLibraryGetKernel",
                    [&] { return cuLibraryGetKernel(kernel, library, name); });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return as_runtime("cudaLibraryGetKernelCount",
                    [&] { return cuLibraryGetKernelCount(count, library); });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned room,
                                        cudaLibrary_t library) {
  return as_runtime("cudaLibraryEnumerateKernels",
                    [&] { return cuLibraryEnumerateKernels(kernels, room, library); });
}

cudaError_t cudaLibraryGetGlobal(void** address, size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return as_runtime("cudaLibraryGetGlobal", [&] {
    return cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(address), bytes, library, name);
  });
}

cudaError_t cudaLibraryGetManaged(void** address, size_t* bytes, cudaLibrary_t library,
                                  const char* name) {
  return as_runtime("cudaLibraryGetManaged", [&] {
    return cuLibraryGetManaged(reinterpret_cast<CUdeviceptr*>(address), bytes, library, name);
  });
}
