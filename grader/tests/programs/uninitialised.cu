// Memory read before anyone wrote it: a copy of too few bytes, a tail of shared memory.
//! case faulty
//! gpu: undefined
//! check: initialisation 2
//! case mended
//! stdout| sum 6105
#include <cstdio>
#include <cstring>

template <bool kMended>
__global__ void sum(const int* in, int n, int* out) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  if (t < n) {
    s[t] = in[t];
  } else if (kMended) {
    s[t] = 0;
  }
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) *out = s[0];
}

int main(int, char** argv) {
  int host[111], *in, *out, v = 0;
  for (int i = 0; i < 111; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof v);
  const bool faulty = std::strcmp(argv[1], "faulty") == 0;
  cudaMemcpy(in, host, faulty ? 111 : sizeof host, cudaMemcpyHostToDevice);  // bytes, not elements
  if (faulty) {
    sum<false><<<1, 128>>>(in, 111, out);
  } else {
    sum<true><<<1, 128>>>(in, 111, out);
  }
  cudaMemcpy(&v, out, sizeof v, cudaMemcpyDeviceToHost);
  if (!faulty) std::printf("sum %d\n", v);
  return 0;
}
