// A cooperative launch whose blocks meet at grid.sync(); one that is too large does not start.
//! stdout| supported: 1
//! stdout| 66 blocks of 128, 10 rounds: sum 8448, wrong 0
//! stdout| too large: too many blocks in cooperative launch
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

// Game of numbers on a ring: each round everyone takes the larger of its own and its left
// neighbour's, which needs all of the round before.
__global__ void spread(int* a, int* b, int n, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  for (int r = 0; r < rounds; ++r) {
    if (i < n) b[i] = max(a[i], a[(i + n - 1) % n]);
    grid.sync();
    int* t = a;
    a = b;
    b = t;
  }
}

int main() {
  int supported = 0, n = 66 * 128, rounds = 10, wrong = 0, sum = 0;
  cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0);
  std::printf("supported: %d\n", supported);
  std::vector<int> v(n, 0);
  for (int i = 0; i < n; i += 11) v[i] = 1;
  int *a, *b;
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaMemcpy(a, v.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  void* arguments[] = {&a, &b, &n, &rounds};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(spread), dim3(66), dim3(128), arguments,
                              0, nullptr);
  cudaMemcpy(v.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) sum += v[i], wrong += v[i] != 1;
  std::printf("66 blocks of 128, 10 rounds: sum %d, wrong %d\n", sum, wrong);
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(spread), dim3(100000), dim3(128),
                              arguments, 0, nullptr);
  std::printf("too large: %s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(a);
  cudaFree(b);
  return wrong;
}
