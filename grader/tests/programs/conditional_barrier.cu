// __syncthreads() in one side of a condition: within a warp, and for whole warps.
//! case within
//! gpu: undefined
//! check: barrier 1
//! case warps
//! gpu: undefined
//! check: barrier 1
//! case mended
//! stdout| 0 1 2 ... 95
#include <cstdio>
#include <cstring>

__global__ void conditional(int* out, int threads) {
  if (threadIdx.x < threads) __syncthreads();
  out[threadIdx.x] = threadIdx.x;
}

__global__ void mended(int* out) {
  __syncthreads();
  out[threadIdx.x] = threadIdx.x;
}

int main(int, char** argv) {
  int *out, v[96];
  cudaMalloc(&out, sizeof v);
  const bool within = std::strcmp(argv[1], "within") == 0;
  const bool is_mended = std::strcmp(argv[1], "mended") == 0;
  if (is_mended) {
    mended<<<1, 96>>>(out);
  } else {
    conditional<<<1, 96>>>(out, within ? 16 : 32);
  }
  cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost);
  if (is_mended) std::printf("%d %d %d ... %d\n", v[0], v[1], v[2], v[95]);
  return 0;
}
