// Launches in all their forms, what is wrong with some, and what is known of kernels.
#include <cooperative_groups.h>

#include <cstring>

#include "expect.h"

__global__ void sum(const int* in, int n, int* out) {
  extern __shared__ int s[];
  const int t = threadIdx.x;
  s[t] = t < n ? in[t] : 0;
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    __syncthreads();
    if (t < step) s[t] += s[t + step];
  }
  if (t == 0) *out = s[0];
}

struct Mixed {
  char c;
  double d;
  short s[3];
};
__global__ void take(char a, Mixed m, short b, double* out) { *out = a + m.c + m.d + m.s[2] + b; }

__global__ void __launch_bounds__(128) narrow(int* out) { out[threadIdx.x] = 1; }

__global__ void shape(int* out) {
  if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z == 0) {
    const int values[] = {int(gridDim.x),  int(gridDim.y),  int(gridDim.z),
                          int(blockDim.x), int(blockDim.y), int(blockDim.z)};
    for (int i = 0; i < 6; ++i) out[i] = values[i];
  }
}

__global__ void big_static(int* out) {
  __shared__ int s[4096];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

__global__ void everyone(int* arrived, int* seen) {
  atomicAdd(arrived, 1);
  cooperative_groups::this_grid().sync();
  seen[blockIdx.x * blockDim.x + threadIdx.x] = *arrived;
}

static int* out;

static void forms() {
  int* in;
  WORKS(cudaMallocManaged(&in, 400));
  int n = 100;
  for (int i = 0; i < n; ++i) in[i] = i;
  sum<<<1, 128, 512>>>(in, n, out);
  WORKS(cudaDeviceSynchronize());
  EXPECT(out[0] == 4950);
  out[0] = 0;
  void* args[] = {&in, &n, &out};
  WORKS(cudaLaunchKernel(reinterpret_cast<void*>(sum), dim3(1), dim3(128), args, 512, nullptr));
  WORKS(cudaDeviceSynchronize());
  EXPECT(out[0] == 4950);
  out[0] = 0;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(64);
  config.dynamicSmemBytes = 256;
  WORKS(cudaLaunchKernelEx(&config, sum, static_cast<const int*>(in), 50, out));
  WORKS(cudaDeviceSynchronize());
  EXPECT(out[0] == 1225);
  double* real;
  WORKS(cudaMallocManaged(&real, 8));
  take<<<1, 1>>>(3, Mixed{4, 0.5, {1, 2, 30}}, -100, real);
  WORKS(cudaDeviceSynchronize());
  EXPECT(*real == -62.5);
  shape<<<dim3(3, 4, 5), dim3(8, 2, 3)>>>(out);
  WORKS(cudaDeviceSynchronize());
  const int want[] = {3, 4, 5, 8, 2, 3};
  EXPECT(std::memcmp(out, want, sizeof want) == 0);
  WORKS(cudaFree(real));
  WORKS(cudaFree(in));
}

static void wrong_shapes() {
  narrow<<<0, 32>>>(out);
  EXPECT_ERROR(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGetLastError(), cudaSuccess);
  narrow<<<1, 0>>>(out);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  shape<<<1, 1025>>>(out);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  shape<<<1, dim3(1, 1, 65)>>>(out);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  shape<<<dim3(1, 65536), 1>>>(out);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  sum<<<1, 32, 49153>>>(out, 0, out);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaLaunchKernel(out, dim3(1), dim3(1), nullptr, 0, nullptr),
               cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  WORKS(cudaDeviceSynchronize());  // none of these spoils anything
}

static void attributes() {
  cudaFuncAttributes a;
  WORKS(cudaFuncGetAttributes(&a, big_static));
  EXPECT(a.sharedSizeBytes == 16384 && a.maxThreadsPerBlock == 1024 && a.numRegs > 0);
  EXPECT(a.ptxVersion == 90 && a.binaryVersion == 90);
  EXPECT(a.maxDynamicSharedSizeBytes == 49152 - 16384);
  WORKS(cudaFuncGetAttributes(&a, narrow));
  EXPECT(a.maxThreadsPerBlock == 128);
  const char* name;
  WORKS(cudaFuncGetName(&name, reinterpret_cast<const void*>(narrow)));
  EXPECT(std::strcmp(name, "_Z6narrowPi") == 0);

  constexpr int kMost = 232448;
  EXPECT_ERROR(cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize, kMost + 1),
               cudaErrorInvalidValue);
  cudaGetLastError();
  WORKS(cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize, kMost));
  WORKS(cudaFuncGetAttributes(&a, sum));
  EXPECT(a.maxDynamicSharedSizeBytes == kMost);
  sum<<<1, 32, kMost>>>(out, 0, out);
  WORKS(cudaGetLastError());
  WORKS(cudaFuncSetCacheConfig(sum, cudaFuncCachePreferShared));
  WORKS(cudaDeviceSynchronize());
  EXPECT(out[0] == 0);
}

static void occupancy() {
  // 2048 threads, 32 blocks, 227 KiB and 1 KiB a block reserved: by hand.
  int blocks = 0;
  WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, narrow, 128, 0));
  EXPECT(blocks == 16);
  WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, narrow, 32, 0));
  EXPECT(blocks == 32);
  WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, big_static, 64, 0));
  EXPECT(blocks == 13);  // 233472 / (16384 + 1024)
  WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, 64, 100000));
  EXPECT(blocks == 2);
  int grid = 0, block = 0;
  WORKS(cudaOccupancyMaxPotentialBlockSize(&grid, &block, shape));
  EXPECT(block == 1024 && grid == 2 * 132);
  size_t dynamic = 0;
  WORKS(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, sum, 2, 64));
  EXPECT(dynamic == 233472 / 2);  // cuda_occupancy.h: without what is reserved for each block
  WORKS(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, big_static, 2, 64));
  EXPECT(dynamic == 49152 - 16384);  // no more than a launch would get
  EXPECT_ERROR(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, narrow, 64, 1024),
               cudaErrorInvalidValue);
  cudaGetLastError();
}

static void cooperative() {
  int *arrived, *seen;
  WORKS(cudaMallocManaged(&arrived, 4));
  WORKS(cudaMallocManaged(&seen, 16 * 64 * 4));
  void* args[] = {&arrived, &seen};
  const void* kernel = reinterpret_cast<void*>(everyone);
  WORKS(cudaLaunchCooperativeKernel(kernel, 16, 64, args, 0, 0));
  WORKS(cudaDeviceSynchronize());
  bool all = true;
  for (int i = 0; i < 16 * 64; ++i) all &= seen[i] == 16 * 64;
  EXPECT(all);
  EXPECT_ERROR(cudaLaunchCooperativeKernel(kernel, 32 * 132 + 1, 64, args, 0, 0),
               cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError();
  WORKS(cudaFree(arrived));
  WORKS(cudaFree(seen));
}

int main() {
  WORKS(cudaMallocManaged(&out, 4096 * 4));
  forms();
  wrong_shapes();
  attributes();
  occupancy();
  cooperative();
  return result();
}
