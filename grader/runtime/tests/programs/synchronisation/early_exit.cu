// Threads without work leave before a barrier, a shuffle and a vote. These wait for the threads of
// the mask that have not exited.
//! stdout| barrier: 1 0 3 2 ... 999
//! stdout| warp: 1 0 3 2, 5 lanes
#include <cstdio>

__global__ void reverse(int* out, int n) {
  __shared__ int s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  s[threadIdx.x] = i;
  __syncthreads();
  out[i] = s[threadIdx.x ^ 1];
}

// Lane 4 reads lane 5, which has left, but does not use the value.
__global__ void neighbours(int* out, int n) {
  int t = threadIdx.x;
  if (t >= n) return;
  int other = __shfl_xor_sync(0xffffffff, t, 1);
  int lanes = __popc(__ballot_sync(0xffffffff, true));
  out[t] = (t ^ 1) < n ? other : lanes;
}

int main() {
  int *out, v[1001];
  cudaMalloc(&out, sizeof v);
  reverse<<<4, 256>>>(out, 1000);
  cudaMemcpy(v, out, 1000 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("barrier: %d %d %d %d ... %d\n", v[0], v[1], v[2], v[3], v[998]);
  neighbours<<<1, 32>>>(out, 5);
  cudaMemcpy(v, out, 5 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("warp: %d %d %d %d, %d lanes\n", v[0], v[1], v[2], v[3], v[4]);
  return 0;
}
