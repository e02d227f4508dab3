// The occupancy API and function attributes; dynamic shared memory beyond 48 KiB must be asked for.
//! stdout| static shared 1024, at most 1024 threads, wants no local memory: 1
//! stdout| blocks of 256: 8, with 64 KiB each: 3
//! stdout| suggested block is a multiple of 32 and fills: 1 1
//! stdout| 64 KiB without asking: invalid argument
//! stdout| with asking: no error
//! stdout| sum 2016
#include <cstdio>

__global__ void work(int* out) {
  __shared__ int fixed[256];
  extern __shared__ int dynamic[];
  fixed[threadIdx.x] = threadIdx.x;
  dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const int other = (threadIdx.x + 1) % blockDim.x;
  atomicAdd(out, (fixed[other] + dynamic[other]) / 2);
}

int main() {
  cudaFuncAttributes a;
  cudaFuncGetAttributes(&a, work);
  std::printf("static shared %zu, at most %d threads, wants no local memory: %d\n",
              a.sharedSizeBytes, a.maxThreadsPerBlock, a.localSizeBytes == 0);
  const int large = 64 << 10;
  int *out, zero = 0, blocks = 0, large_blocks = 0;
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(out, &zero, sizeof zero, cudaMemcpyHostToDevice);
  work<<<1, 64, large>>>(out);
  const cudaError_t refused = cudaGetLastError();
  cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize, large);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, work, 256, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&large_blocks, work, 256, large);
  std::printf("blocks of 256: %d, with 64 KiB each: %d\n", blocks, large_blocks);
  int grid = 0, block = 0;
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, work, 0, 256);
  std::printf("suggested block is a multiple of 32 and fills: %d %d\n", block % 32 == 0,
              grid >= 132);
  std::printf("64 KiB without asking: %s\n", cudaGetErrorString(refused));
  work<<<1, 64, large>>>(out);
  std::printf("with asking: %s\n", cudaGetErrorString(cudaGetLastError()));
  cudaMemcpy(&zero, out, sizeof zero, cudaMemcpyDeviceToHost);
  std::printf("sum %d\n", zero);
  cudaFree(out);
  return 0;
}
