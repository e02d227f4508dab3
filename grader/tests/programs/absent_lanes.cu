// Shuffles that count on lanes which do not come, or read from lanes that have left.
//! case faulty
//! gpu: undefined
//! check: barrier 2
//! case mended
//! stdout| 120 276
#include <cstdio>
#include <cstring>

__global__ void half_a_warp(int* out) {
  const int t = threadIdx.x;
  if (t < 16) {
    int v = t;
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);  // 16 to 31 never come
    if (t == 0) out[0] = v;
  }
}

__global__ void after_exit(int* out) {
  const int t = threadIdx.x;
  if (t >= 24) return;
  int v = t;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);  // reads lanes 24 to 31
  if (t == 0) out[1] = v;
}

__global__ void mended(int* out) {
  const int t = threadIdx.x;
  int v = t < 16 ? t : 0, w = t < 24 ? t : 0;
  for (int d = 16; d > 0; d /= 2) {
    v += __shfl_down_sync(0xffffffffu, v, d);
    w += __shfl_down_sync(0xffffffffu, w, d);
  }
  if (t == 0) out[0] = v, out[1] = w;
}

int main(int, char** argv) {
  int *out, v[2];
  cudaMalloc(&out, sizeof v);
  const bool faulty = std::strcmp(argv[1], "faulty") == 0;
  if (faulty) {
    half_a_warp<<<1, 32>>>(out);
    after_exit<<<1, 32>>>(out);
  } else {
    mended<<<1, 32>>>(out);
  }
  cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost);
  if (!faulty) std::printf("%d %d\n", v[0], v[1]);
  return 0;
}
