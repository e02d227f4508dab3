// What looks like a hazard and is none: early exits, everyone storing one value, atomics beside
// barriers, a buffer used alternately, warps that only vote.
//! stdout| early 1000, found 1, tickets 64, rounds 4032, sum 2016
#include <cstdio>

__global__ void early_exit(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (in[i] < 0) return;
  atomicAdd(out, 1);
}

__global__ void same_value(const int* in, int n, int* out) {
  __shared__ bool found;
  if (threadIdx.x == 0) found = false;
  __syncthreads();
  if (threadIdx.x < n && in[threadIdx.x] == 7) found = true;  // several may store, all the same
  __syncthreads();
  if (threadIdx.x == 0) *out = found;
}

__global__ void tickets(int* out) {
  __shared__ int next;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  atomicAdd(&next, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = next;
}

// A round reads what the one before has stored and stores into the other half: one barrier each.
__global__ void alternate(int* out) {
  __shared__ int s[2][64];
  const int t = threadIdx.x;
  s[0][t] = t;
  int now = 0;
  for (int round = 0; round < 6; ++round, now ^= 1) {
    __syncthreads();
    s[now ^ 1][t] = s[now][(t + 1) % 64];
  }
  __syncthreads();
  atomicAdd(out, s[now][63 - t] + s[now][t]);
}

__global__ void exit_before_shuffles(const int* in, int* out) {
  if (threadIdx.x >= 64) return;
  int v = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}

int main() {
  int host[1100], *in, *out, v[5];
  for (int i = 0; i < 1100; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof v);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, sizeof v);
  early_exit<<<5, 256>>>(in, out, 1000);
  same_value<<<1, 256>>>(in, 100, out + 1);
  tickets<<<1, 64>>>(out + 2);
  alternate<<<1, 64>>>(out + 3);
  exit_before_shuffles<<<1, 128>>>(in, out + 4);
  cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost);
  std::printf("early %d, found %d, tickets %d, rounds %d, sum %d\n", v[0], v[1], v[2], v[3], v[4]);
  return 0;
}
