// The last warp of a tree without __syncwarp(): since Volta the lanes of a warp are not in step.
//! case faulty
//! gpu: undefined
//! check: race 1
//! case mended
//! stdout| sum 2016
#include <cstdio>
#include <cstring>

template <bool kMended>
__global__ void sum(int* out) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = t;
  s[t + 32] = t + 32;
  __syncwarp();
  for (int step = 32; step > 0; step /= 2) {
    const int v = s[t] + s[t + step];
    if (kMended) __syncwarp();
    if (t < step) s[t] = v;
    if (kMended) __syncwarp();
  }
  if (t == 0) *out = s[0];
}

int main(int, char** argv) {
  int *out, v = 0;
  cudaMalloc(&out, sizeof v);
  const bool faulty = std::strcmp(argv[1], "faulty") == 0;
  if (faulty) {
    sum<false><<<1, 32>>>(out);
  } else {
    sum<true><<<1, 32>>>(out);
  }
  cudaMemcpy(&v, out, sizeof v, cudaMemcpyDeviceToHost);
  if (!faulty) std::printf("sum %d\n", v);
  return 0;
}
