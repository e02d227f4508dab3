// A tree in shared memory with the barrier of its loop forgotten: a race between warps.
//! case faulty
//! gpu: undefined
//! check: race 1
//! case mended
//! stdout| sum 32640
#include <cstdio>
#include <cstring>

template <bool kMended>
__global__ void sum(int* out) {
  __shared__ int s[256];
  const int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    int other = t < step ? s[t + step] : 0;
    if (kMended) __syncthreads();
    if (t < step) s[t] += other;
    if (kMended) __syncthreads();
  }
  if (t == 0) *out = s[0];
}

int main(int, char** argv) {
  int *out, v = 0;
  cudaMalloc(&out, sizeof v);
  const bool faulty = std::strcmp(argv[1], "faulty") == 0;
  if (faulty) {
    sum<false><<<1, 256>>>(out);
  } else {
    sum<true><<<1, 256>>>(out);
  }
  cudaMemcpy(&v, out, sizeof v, cudaMemcpyDeviceToHost);
  if (!faulty) std::printf("sum %d\n", v);
  return 0;
}
