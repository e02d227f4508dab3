// The toolkit's declarations of the functions that this library exports, so that a wrong signature
// does not compile, and declarations of the functions that nvcc's host stubs declare for themselves
// (as the toolkit's host_runtime header does).
#pragma once

// All other symbols of this library are hidden.
#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>

extern "C" {
// Declared here because not every toolkit has the header of the profiler's API.
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name,
                            int thread_limit, uint3* tid, uint3* bid, dim3* block, dim3* grid,
                            int* warp_size);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int ext,
                       size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void** handle, void** host, char* device, const char* name, int ext,
                              size_t bytes, int constant, int global);
char __cudaInitModule(void** handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                               size_t shared, cudaStream_t stream);
}
#pragma GCC visibility pop

// A program compiled with --default-stream per-thread calls cudaMemcpy_ptds, cudaMemcpyAsync_ptsz,
// and so on. Every call finishes its work before it returns, so the stream makes no difference.
#define LAB32_PER_THREAD(name, suffix) \
  extern "C" __attribute__((visibility("default"), alias(#name))) decltype(name) name##suffix
