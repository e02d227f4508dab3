// Lanes of one warp at two barriers: in both sides of a branch, and in a function that both sides
// call.
//! case branch
//! stdout| 1 1 2 2
//! check: barrier 1
//! case function
//! stdout| 1 1 2 2
//! check: barrier 1
//! case warps
//! stdout| 1 1 2 2
#include <cstdio>
#include <cstring>

__global__ void branch(int* out, int n) {
  if (threadIdx.x < n) {
    __syncthreads();
    out[threadIdx.x] = 1;
  } else {
    __syncthreads();
    out[threadIdx.x] = 2;
  }
}

__device__ __noinline__ void meet(int* out, int value) {
  __syncthreads();
  out[threadIdx.x] = value;
}

__global__ void function(int* out, int n) {
  if (threadIdx.x < n)
    meet(out, 1);
  else
    meet(out + 0, 2);
}

int main(int, char** argv) {
  const bool warps = std::strcmp(argv[1], "warps") == 0;
  int *out, v[64], n = warps ? 32 : 16;
  cudaMalloc(&out, sizeof v);
  if (std::strcmp(argv[1], "function") == 0)
    function<<<1, 2 * n>>>(out, n);
  else
    branch<<<1, 2 * n>>>(out, n);
  cudaMemcpy(v, out, 2 * n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d\n", v[0], v[n - 1], v[n], v[2 * n - 1]);
  return 0;
}
