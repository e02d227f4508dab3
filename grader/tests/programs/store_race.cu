// Different values stored in one word of shared memory; an atomic beside a plain load.
//! case faulty
//! gpu: undefined
//! check: race 2
//! case mended
//! stdout| largest 63, count 64
#include <cstdio>
#include <cstring>

template <bool kMended>
__global__ void find(int* out) {
  __shared__ int largest, count;
  const int t = threadIdx.x;
  if (t == 0) largest = count = 0;
  __syncthreads();
  if (kMended) {
    atomicMax(&largest, t);
  } else {
    largest = t;
  }
  atomicAdd(&count, 1);
  if (kMended) __syncthreads();
  if (t == 5) out[1] = count;
  __syncthreads();
  if (t == 0) out[0] = largest;
}

int main(int, char** argv) {
  int *out, v[2];
  cudaMalloc(&out, sizeof v);
  const bool faulty = std::strcmp(argv[1], "faulty") == 0;
  if (faulty) {
    find<false><<<1, 64>>>(out);
  } else {
    find<true><<<1, 64>>>(out);
  }
  cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost);
  if (!faulty) std::printf("largest %d, count %d\n", v[0], v[1]);
  return 0;
}
