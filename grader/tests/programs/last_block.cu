// One pass: the block that takes the last ticket adds up what the others left (threadFenceReduction).
//! stdout| sum 33550336 of 8192 ints, tickets back at 0
#include <cstdio>
#include <vector>

__device__ unsigned tickets = 0;

__global__ void sum(const int* in, int n, int* partial, int* out) {
  __shared__ int s[256];
  __shared__ bool last;
  const int t = threadIdx.x;
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) mine += in[i];
  s[t] = mine;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) {
    partial[blockIdx.x] = s[0];
    __threadfence();
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  if (t == 0) {
    int total = 0;
    for (int b = 0; b < gridDim.x; ++b) total += reinterpret_cast<volatile int*>(partial)[b];
    *out = total;
  }
}

int main() {
  const int n = 8192;
  std::vector<int> v(n);
  for (int i = 0; i < n; ++i) v[i] = i;
  int *in, *partial, *out, result = 0;
  unsigned left = 7;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&partial, 16 * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(in, v.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  sum<<<16, 256>>>(in, n, partial, out);
  sum<<<16, 256>>>(in, n, partial, out);
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&left, tickets, sizeof left);
  std::printf("sum %d of %d ints, tickets back at %u\n", result, n, left);
  return 0;
}
