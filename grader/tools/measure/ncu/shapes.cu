// Launches of many shapes, to record Nsight Compute's metrics of launch shape and occupancy.
#include <cstdio>
#include <cstdlib>

__global__ void light(float* p) {
  if (p == nullptr) *p = 1;
}

// Many registers: 72 values are alive at once.
__global__ void heavy(float* p) {
  float v[72];
#pragma unroll
  for (int i = 0; i < 72; ++i) v[i] = p[threadIdx.x + 1024 * i];
#pragma unroll
  for (int round = 0; round < 4; ++round) {
#pragma unroll
    for (int i = 0; i < 72; ++i) v[i] = v[i] * v[(i + 7) % 72] + v[(i + 31) % 72];
  }
#pragma unroll
  for (int i = 0; i < 72; ++i) p[threadIdx.x + 1024 * i] = v[i];
}

__global__ void tiled(float* p) {
  __shared__ float tile[3000];
  for (int i = threadIdx.x; i < 3000; i += blockDim.x) tile[i] = p[i];
  __syncthreads();
  for (int i = threadIdx.x; i < 3000; i += blockDim.x) p[i] = tile[2999 - i];
}

void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "shapes: %s\n", cudaGetErrorString(e));
  std::exit(2);
}

int main() {
  float* p;
  check(cudaMalloc(&p, 1 << 20));
  check(cudaMemset(p, 0, 1 << 20));
  check(cudaFuncSetAttribute(light, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
#define SHAPE(kernel, grid, block, shared) \
  kernel<<<grid, block, shared>>>(p);      \
  check(cudaGetLastError());               \
  check(cudaDeviceSynchronize());
#include "shapes.inc"
  return 0;
}
