// Grids and blocks of three dimensions: every index once, and how threads become warps.
//! stdout| 2 x 3 x 2 blocks of 4 x 2 x 5: 480 threads, each place once: 1
//! stdout| thread (3,1,4) of its block is lane 7 of warp 1
#include <cstdio>
#include <vector>

__global__ void mark(int* count, int* place) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z * blockDim.z + threadIdx.z;
  const int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
  atomicAdd(&count[(z * height + y) * width + x], 1);
  if (threadIdx.x == 3 && threadIdx.y == 1 && threadIdx.z == 4 && x == 3 && y == 1 && z == 4) {
    unsigned lane, warp;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%warpid;" : "=r"(warp));
    place[0] = lane;
    place[1] = ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / 32;
    place[2] = warp < 64;
  }
}

int main() {
  int *count, *place, where[3];
  std::vector<int> v(480);
  cudaMalloc(&count, 480 * sizeof(int));
  cudaMalloc(&place, sizeof where);
  cudaMemset(count, 0, 480 * sizeof(int));
  mark<<<dim3(2, 3, 2), dim3(4, 2, 5)>>>(count, place);
  cudaMemcpy(v.data(), count, 480 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(where, place, sizeof where, cudaMemcpyDeviceToHost);
  bool once = true;
  for (int c : v) once &= c == 1;
  std::printf("2 x 3 x 2 blocks of 4 x 2 x 5: %zu threads, each place once: %d\n", v.size(), once);
  std::printf("thread (3,1,4) of its block is lane %d of warp %d\n", where[0], where[1]);
  return 0;
}
